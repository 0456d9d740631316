/* SPDX-License-Identifier: BSD-3-Clause */
/* The module warpshmem._calls: what Python tells it of the job, and its routines. */
#include "quick.h"

#include <string.h>

#define INTERFACE 4 /* of what _quick.py calls; it takes no other */

/* The routines that start() is given, by name. */
#define ROUTINES(of)                                                                                        \
    of(accessible, "shmem_addr_accessible") of(hold_errors, "shmemx_error_hold")                            \
        of(align_device, "shmemx_align_device") of(free_later, "shmemx_free_later")                         \
            of(put[0], "shmem_putmem") of(put[1], "shmem_putmem_nbi") of(get[0], "shmem_getmem")            \
                of(get[1], "shmem_getmem_nbi") of(put_signal[0], "shmem_putmem_signal")                     \
                    of(put_signal[1], "shmem_putmem_signal_nbi") of(signal_wait, "shmem_signal_wait_until") \
                        of(wait32, "shmem_int32_wait_until") of(wait64, "shmem_int64_wait_until")           \
                            of(wait_u32, "shmem_uint32_wait_until") of(wait_u64, "shmem_uint64_wait_until") \
                                of(test32, "shmem_int32_test") of(test64, "shmem_int64_test")               \
                                    of(test_u32, "shmem_uint32_test") of(test_u64, "shmem_uint64_test")

/* Look up the address of a routine and store it where its pointer is; false with an exception. */
static bool find(PyObject *addresses, const char *name, void *pointer)
{
    PyObject *number = PyMapping_GetItemString(addresses, name);
    void *address = number ? PyLong_AsVoidPtr(number) : NULL;

    Py_XDECREF(number);
    if (!address) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, name);
        return false;
    }
    memcpy(pointer, &address, sizeof(address));
    return true;
}

/* start(me, n, {routine: address}): this process is a PE */
static PyObject *start(PyObject *self, PyObject *args)
{
    PyObject *addresses;
    struct wsh_py_job job = {0};

    (void)self;
    if (!PyArg_ParseTuple(args, "iiO", &job.me, &job.n, &addresses))
        return NULL;
#define FIND(pointer, name)                   \
    if (!find(addresses, name, &job.pointer)) \
        return NULL;
    ROUTINES(FIND)
#undef FIND
    job.live = true;
    wsh_py_job = job;
    Py_RETURN_NONE;
}

/* stop(): it is none any more */
static PyObject *stop(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    wsh_py_job.live = false;
    Py_RETURN_NONE;
}

static int add_names(PyObject *module)
{
    PyObject *kinds = PyTuple_New(WSH_PY_KINDS), *routines, *plan = wsh_py_plan_type();
    const char *names[] = {
#define NAME(pointer, name) name,
        ROUTINES(NAME)
#undef NAME
    };
    const int n = sizeof(names) / sizeof(*names);

    routines = PyTuple_New(n);
    if (!kinds || !routines || !plan)
        return -1;
    for (int i = 0; i < WSH_PY_KINDS; i++)
        PyTuple_SetItem(kinds, i, PyUnicode_FromString(wsh_py_kind_names[i]));
    for (int i = 0; i < n; i++)
        PyTuple_SetItem(routines, i, PyUnicode_FromString(names[i]));
    return PyModule_AddObject(module, "KINDS", kinds) || PyModule_AddObject(module, "ROUTINES", routines) ||
           PyModule_AddObject(module, "Plan", plan) || PyModule_AddIntConstant(module, "VERSION", INTERFACE);
}

PyMODINIT_FUNC PyInit__calls(void)
{
    static PyMethodDef methods[] = {
        {"start", start, METH_VARARGS, NULL}, {"stop", stop, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
    static struct PyModuleDef definition = {
        PyModuleDef_HEAD_INIT, "_calls", NULL, -1, methods, NULL, NULL, NULL, NULL};
    PyObject *module = PyModule_Create(&definition);

    if (!module)
        return NULL;
    if (wsh_py_look_begin() || PyModule_AddFunctions(module, wsh_py_events_methods) ||
        PyModule_AddFunctions(module, wsh_py_look_methods) ||
        PyModule_AddFunctions(module, wsh_py_rma_methods) ||
        PyModule_AddFunctions(module, wsh_py_rows_methods) ||
        PyModule_AddFunctions(module, wsh_py_wait_methods) || add_names(module)) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
