/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays of numpy and torch: address, shape and type, by the array interface of C (`__array_struct__`) and by DLPack's
 * exchange of C; for a torch without it by a tensor's methods. Subclasses are not plain, as they may change any of it.
 */
#include "quick.h"

#include <string.h>

const char *const wsh_py_kind_names[WSH_PY_KINDS] = {
    "float32", "float64", "int8",     "int16",         "int32",      "int64",
    "uint8",   "uint16",  "uint32",   "uint64",        "complex64",  "complex128",
    "bool",    "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"};
const unsigned char wsh_py_kind_sizes[WSH_PY_KINDS] = {4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 1, 2, 2, 1, 1};

/* PyArrayInterface of numpy, which `__array_struct__` leads to. */
struct numpy_array {
    int two, ndim;
    char letter;
    int itemsize, flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *descr;
};
#define NUMPY_CONTIGUOUS 0x1
#define NUMPY_NATIVE 0x200
#define NUMPY_WRITEABLE 0x400

/* DLPack 1.2: a tensor, and what a type of tensors offers to C. */
struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t offset;
};
struct dl_exchange {
    uint32_t major, minor;
    const struct dl_exchange *before;
    void *allocator, *from_object, *to_object;
    int (*look)(void *object, struct dl_tensor *tensor);
    void *stream;
};
#define DL_NAME "dlpack_exchange_api"
enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3 };
enum { DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT = 4, DL_COMPLEX, DL_BOOL, DL_E4M3FN = 10, DL_E5M2 = 12 };

enum { FORMS = 8 }; /* arrays that are looked at together */

static PyObject *numpy_type, *numpy_name;
static struct {
    PyObject *types[2]; /* Tensor, Parameter */
    int n_kinds;
    struct {
        PyObject *dtype;
        enum wsh_py_kind kind;
    } kinds[WSH_PY_KINDS];
    const struct dl_exchange *exchange;         /* or NULL, and then: */
    PyObject *data_ptr, *is_contiguous;         /* unbound */
    PyObject *dtype, *is_cuda, *is_cpu, *shape; /* names */
} torch;

static bool is_kind(int code, int bits, enum wsh_py_kind *kind)
{
    static const struct {
        unsigned char code, bits, kind;
    } rows[] = {{DL_FLOAT, 32, WSH_PY_FLOAT32},     {DL_INT, 64, WSH_PY_INT64},
                {DL_UINT, 8, WSH_PY_UINT8},         {DL_BFLOAT, 16, WSH_PY_BFLOAT16},
                {DL_INT, 32, WSH_PY_INT32},         {DL_FLOAT, 64, WSH_PY_FLOAT64},
                {DL_E4M3FN, 8, WSH_PY_E4M3},        {DL_UINT, 64, WSH_PY_UINT64},
                {DL_FLOAT, 16, WSH_PY_FLOAT16},     {DL_INT, 8, WSH_PY_INT8},
                {DL_INT, 16, WSH_PY_INT16},         {DL_UINT, 16, WSH_PY_UINT16},
                {DL_UINT, 32, WSH_PY_UINT32},       {DL_BOOL, 8, WSH_PY_BOOL},
                {DL_COMPLEX, 64, WSH_PY_COMPLEX64}, {DL_COMPLEX, 128, WSH_PY_COMPLEX128},
                {DL_E5M2, 8, WSH_PY_E5M2}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].code == code && rows[i].bits == bits) {
            *kind = rows[i].kind;
            return true;
        }
    }
    return false;
}

static int code_of(char letter)
{
    switch (letter) {
    case 'f': return DL_FLOAT;
    case 'i': return DL_INT;
    case 'u': return DL_UINT;
    case 'c': return DL_COMPLEX;
    case 'b': return DL_BOOL;
    default: return -1;
    }
}

/* Take a shape over; false for more dimensions than arrays have here. */
static bool take_shape(struct wsh_py_array *seen, int ndim, const void *shape, bool is_wide)
{
    if (ndim < 0 || ndim > WSH_PY_DIMS)
        return false;
    seen->ndim = ndim;
    seen->size = 1;
    for (int i = 0; i < ndim; i++) {
        seen->shape[i] = is_wide ? (Py_ssize_t)((const int64_t *)shape)[i] : ((const Py_ssize_t *)shape)[i];
        if (seen->shape[i] < 0)
            return false;
        seen->size *= seen->shape[i];
    }
    return true;
}

static bool take_numpy(const struct numpy_array *of, struct wsh_py_array *seen)
{
    const int needed = NUMPY_CONTIGUOUS | NUMPY_NATIVE;

    if (!of || of->two != 2 || (of->flags & needed) != needed ||
        !is_kind(code_of(of->letter), of->itemsize * 8, &seen->kind))
        return false;
    seen->address = of->data;
    seen->gpu = false;
    seen->device = 0;
    seen->readonly = !(of->flags & NUMPY_WRITEABLE);
    return take_shape(seen, of->ndim, of->shape, false);
}

static bool look_numpy(PyObject *array, struct wsh_py_array *seen)
{
    PyObject *capsule = PyObject_GetAttr(array, numpy_name);
    bool good = capsule && take_numpy(PyCapsule_GetPointer(capsule, NULL), seen);

    Py_XDECREF(capsule);
    if (!good)
        PyErr_Clear();
    return good;
}

/* Are strides, in elements, those of an array in C order? An extent of 1 has any. */
static bool is_dense(const struct dl_tensor *of)
{
    int64_t step = 1;

    for (int i = of->ndim - 1; of->strides && i >= 0; i--) {
        if (of->shape[i] != 1 && of->strides[i] != step)
            return false;
        step *= of->shape[i];
    }
    return true;
}

static bool look_exchange(PyObject *tensor, struct wsh_py_array *seen)
{
    struct dl_tensor of;

    if (torch.exchange->look(tensor, &of)) {
        PyErr_Clear();
        return false;
    }
    if (of.lanes != 1 || !is_kind(of.code, of.bits, &seen->kind) ||
        (of.device_type != DL_CPU && of.device_type != DL_CUDA && of.device_type != DL_CUDA_HOST) ||
        !take_shape(seen, of.ndim, of.shape, true) || (seen->size && !is_dense(&of)))
        return false;
    seen->address = of.data ? (char *)of.data + of.offset : NULL;
    seen->gpu = of.device_type == DL_CUDA;
    seen->device = seen->gpu ? of.device_id : 0;
    seen->readonly = false;
    return true;
}

/* What a method without arguments, or an attribute, returns is `wanted`. */
static bool is_true(PyObject *found)
{
    bool good = found == Py_True;

    Py_XDECREF(found);
    return good;
}

static bool torch_kind(PyObject *tensor, enum wsh_py_kind *kind)
{
    PyObject *dtype = PyObject_GetAttr(tensor, torch.dtype);

    Py_XDECREF(dtype); /* types are for ever */
    for (int i = 0; dtype && i < torch.n_kinds; i++) {
        if (torch.kinds[i].dtype == dtype) {
            *kind = torch.kinds[i].kind;
            return true;
        }
    }
    return false;
}

static bool torch_shape(PyObject *tensor, struct wsh_py_array *seen)
{
    PyObject *found = PyObject_GetAttr(tensor, torch.shape);
    Py_ssize_t shape[WSH_PY_DIMS], n = found ? PyTuple_Size(found) : -1;
    bool good = n >= 0 && n <= WSH_PY_DIMS;

    for (Py_ssize_t i = 0; good && i < n; i++)
        shape[i] = PyLong_AsSsize_t(PyTuple_GetItem(found, i));
    Py_XDECREF(found);
    return good && take_shape(seen, (int)n, shape, false);
}

static bool torch_address(PyObject *tensor, char **address)
{
    PyObject *found = PyObject_CallFunctionObjArgs(torch.data_ptr, tensor, NULL);

    *address = found ? PyLong_AsVoidPtr(found) : NULL;
    Py_XDECREF(found);
    return found && !PyErr_Occurred();
}

static bool look_torch(PyObject *tensor, struct wsh_py_array *seen)
{
    bool good;

    if (torch.exchange)
        return look_exchange(tensor, seen);
    good = torch_kind(tensor, &seen->kind) && torch_shape(tensor, seen) &&
           is_true(PyObject_CallFunctionObjArgs(torch.is_contiguous, tensor, NULL)) &&
           torch_address(tensor, &seen->address);
    seen->gpu = good && is_true(PyObject_GetAttr(tensor, torch.is_cuda));
    good = good && (seen->gpu || is_true(PyObject_GetAttr(tensor, torch.is_cpu)));
    seen->device = -1;
    seen->readonly = false;
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return false;
    }
    return good;
}

bool wsh_py_look(PyObject *array, struct wsh_py_array *seen)
{
    PyObject *type = (PyObject *)Py_TYPE(array);

    if (type == numpy_type)
        return look_numpy(array, seen);
    if (type == torch.types[0] || type == torch.types[1])
        return look_torch(array, seen);
    return false;
}

bool wsh_py_begin(PyObject *array, char **address, int *device)
{
    struct wsh_py_array seen;
    struct dl_tensor of;

    if ((PyObject *)Py_TYPE(array) == torch.types[0] && torch.exchange) {
        if (torch.exchange->look(array, &of))
            return false;
        *address = of.data ? (char *)of.data + of.offset : NULL;
        *device = of.device_type == DL_CUDA ? of.device_id : 0;
        return true;
    }
    *device = -1;
    if ((PyObject *)Py_TYPE(array) == torch.types[0])
        return torch_address(array, address);
    if (!look_numpy(array, &seen))
        return false;
    *address = seen.address;
    *device = 0;
    return true;
}

/* numpy(ndarray) */
static PyObject *know_numpy(PyObject *self, PyObject *type)
{
    (void)self;
    Py_INCREF(type);
    numpy_type = type; /* one before is kept: others may look at it */
    Py_RETURN_NONE;
}

static bool know_kinds(PyObject *kinds)
{
    PyObject *dtype, *number;
    Py_ssize_t at = 0;

    torch.n_kinds = 0;
    while (PyDict_Next(kinds, &at, &dtype, &number) && torch.n_kinds < WSH_PY_KINDS) {
        long kind = PyLong_AsLong(number);

        if (kind < 0 || kind >= WSH_PY_KINDS) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "no kind");
            return false;
        }
        Py_INCREF(dtype);
        torch.kinds[torch.n_kinds].dtype = dtype;
        torch.kinds[torch.n_kinds++].kind = (enum wsh_py_kind)kind;
    }
    return true;
}

/* torch(Tensor, Parameter, {dtype: kind}, data_ptr, is_contiguous, exchange): a capsule of DLPack, or None */
static PyObject *know_torch(PyObject *self, PyObject *args)
{
    PyObject *one, *other, *kinds, *data_ptr, *is_contiguous, *exchange;
    const struct dl_exchange *found = NULL;

    (void)self;
    if (!PyArg_ParseTuple(args, "OOO!OOO", &one, &other, &PyDict_Type, &kinds, &data_ptr, &is_contiguous,
                          &exchange))
        return NULL;
    if (exchange != Py_None && !(found = PyCapsule_GetPointer(exchange, DL_NAME)))
        return NULL;
    while (found && found->major != 1) /* a newer one leads to those before it */
        found = found->before;
    if (found && !found->look)
        found = NULL;
    torch.types[0] = torch.types[1] = NULL;
    if (!know_kinds(kinds))
        return NULL;
    torch.exchange = found;
    Py_INCREF(data_ptr);
    Py_INCREF(is_contiguous);
    torch.data_ptr = data_ptr;
    torch.is_contiguous = is_contiguous;
    Py_INCREF(one);
    Py_INCREF(other);
    torch.types[0] = one;
    torch.types[1] = other;
    return PyBool_FromLong(torch.exchange != NULL);
}

/* look(array): what is seen of it, or None; for tests */
static PyObject *look(PyObject *self, PyObject *array)
{
    struct wsh_py_array seen;
    PyObject *shape;

    (void)self;
    if (!wsh_py_look(array, &seen))
        Py_RETURN_NONE;
    shape = PyTuple_New(seen.ndim);
    for (int i = 0; shape && i < seen.ndim; i++)
        PyTuple_SetItem(shape, i, PyLong_FromSsize_t(seen.shape[i]));
    return shape ? Py_BuildValue("(KsNii)", (unsigned long long)(uintptr_t)seen.address,
                                 wsh_py_kind_names[seen.kind], shape, seen.gpu, seen.readonly)
                 : NULL;
}

/* What is told apart of an array: 0 for None. */
struct form {
    int64_t kind, device, ndim; /* kinds from 1 on; -1: of the host */
    int64_t shape[WSH_PY_DIMS];
};

static bool form_of(PyObject *array, struct form *form)
{
    struct wsh_py_array seen;

    memset(form, 0, sizeof *form);
    if (array == Py_None)
        return true;
    if (!wsh_py_look(array, &seen) || (seen.gpu && seen.device < 0))
        return false;
    form->kind = 1 + (int64_t)seen.kind;
    form->device = seen.gpu ? seen.device : -1;
    form->ndim = seen.ndim;
    for (int i = 0; i < seen.ndim; i++)
        form->shape[i] = seen.shape[i];
    return true;
}

/* forms(array…): bytes that are equal where types, shapes and devices are; None where an array is not plain */
static PyObject *forms(PyObject *self, PyObject *arrays)
{
    struct form found[FORMS];
    Py_ssize_t n = PyTuple_Size(arrays);

    (void)self;
    if (n > FORMS)
        Py_RETURN_NONE;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!form_of(PyTuple_GetItem(arrays, i), &found[i]))
            Py_RETURN_NONE;
    return PyBytes_FromStringAndSize((const char *)found, n * (Py_ssize_t)sizeof *found);
}

int wsh_py_look_begin(void)
{
    numpy_name = PyUnicode_InternFromString("__array_struct__");
    torch.dtype = PyUnicode_InternFromString("dtype");
    torch.is_cuda = PyUnicode_InternFromString("is_cuda");
    torch.is_cpu = PyUnicode_InternFromString("is_cpu");
    torch.shape = PyUnicode_InternFromString("shape");
    return numpy_name && torch.dtype && torch.is_cuda && torch.is_cpu && torch.shape ? 0 : -1;
}

PyMethodDef wsh_py_look_methods[] = {{"numpy", know_numpy, METH_O, NULL},
                                     {"torch", know_torch, METH_VARARGS, NULL},
                                     {"look", look, METH_O, NULL},
                                     {"forms", forms, METH_VARARGS, NULL},
                                     {NULL, NULL, 0, NULL}};
