/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The quick path of the Python package: what its files share. Python's stable ABI of 3.9; no header of a framework, no
 * library of the project: Python gives the addresses of routines.
 *
 * A call that is not plain (another type of array, an argument that is wrong, no job) is left alone: the routine
 * returns None, and the package's own code does it, or raises what it always has.
 */
#ifndef WSH_PYTHON_EXT_QUICK_H
#define WSH_PYTHON_EXT_QUICK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* In the stable ABI since 3.10, and in every CPython since 3.7. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif
#define WSH_PY_FAST(routine) ((PyCFunction)(void (*)(void))(routine))

/* The interpreter counts references: these macros of 3.9 would count those to what is immortal since 3.12, too. */
#undef Py_INCREF
#undef Py_DECREF
#undef Py_XDECREF
#undef Py_RETURN_NONE
#undef Py_RETURN_TRUE
#undef Py_RETURN_FALSE
#define Py_INCREF(object) Py_IncRef((PyObject *)(object))
#define Py_DECREF(object) Py_DecRef((PyObject *)(object))
#define Py_XDECREF(object) Py_DecRef((PyObject *)(object))
#define Py_RETURN_NONE return Py_IncRef(Py_None), Py_None
#define Py_RETURN_TRUE return Py_IncRef(Py_True), Py_True
#define Py_RETURN_FALSE return Py_IncRef(Py_False), Py_False

#define WSH_PY_DIMS 8 /* of an array that is plain */

/* The types of elements, as dtypes.py has them; the number of one is a bit of a mask. */
enum wsh_py_kind {
    WSH_PY_FLOAT32,
    WSH_PY_FLOAT64,
    WSH_PY_INT8,
    WSH_PY_INT16,
    WSH_PY_INT32,
    WSH_PY_INT64,
    WSH_PY_UINT8,
    WSH_PY_UINT16,
    WSH_PY_UINT32,
    WSH_PY_UINT64,
    WSH_PY_COMPLEX64,
    WSH_PY_COMPLEX128,
    WSH_PY_BOOL,
    WSH_PY_FLOAT16,
    WSH_PY_BFLOAT16,
    WSH_PY_E4M3,
    WSH_PY_E5M2,
    WSH_PY_KINDS
};

/* An array as routines see it: contiguous in C order. */
struct wsh_py_array {
    char *address;
    Py_ssize_t size; /* elements */
    Py_ssize_t shape[WSH_PY_DIMS];
    int ndim;
    enum wsh_py_kind kind;
    bool gpu, readonly;
    int device; /* number of the GPU; 0 on the host, -1 where it cannot be told */
};

extern const char *const wsh_py_kind_names[WSH_PY_KINDS];
extern const unsigned char wsh_py_kind_sizes[WSH_PY_KINDS];

int wsh_py_look_begin(void); /* -1 with an exception */

/* Describe an array; false, without an exception, where it is not plain. */
bool wsh_py_look(PyObject *array, struct wsh_py_array *seen);

/* Find where a new array begins, which need not be contiguous, and its GPU; false where that cannot be told. */
bool wsh_py_begin(PyObject *array, char **address, int *device);

/* The job, as job.py knows it, and the library's routines. */
struct wsh_py_job {
    bool live;
    int me, n;
    int (*accessible)(const void *address, int pe);
    int (*hold_errors)(int hold);
    void *(*align_device)(size_t alignment, size_t size);
    void (*free_later)(void *memory);
    void (*put[2])(void *dest, const void *source, size_t bytes, int pe); /* by whether it is nbi */
    void (*get[2])(void *dest, const void *source, size_t bytes, int pe);
    void (*put_signal[2])(void *dest, const void *source, size_t bytes, uint64_t *signal, uint64_t value,
                          int op, int pe);
    uint64_t (*signal_wait)(uint64_t *signal, int comparison, uint64_t value);
    void (*wait32)(int32_t *word, int comparison, int32_t value);
    void (*wait64)(int64_t *word, int comparison, int64_t value);
    void (*wait_u32)(uint32_t *word, int comparison, uint32_t value);
    void (*wait_u64)(uint64_t *word, int comparison, uint64_t value);
    int (*test32)(int32_t *word, int comparison, int32_t value);
    int (*test64)(int64_t *word, int comparison, int64_t value);
    int (*test_u32)(uint32_t *word, int comparison, uint32_t value);
    int (*test_u64)(uint64_t *word, int comparison, uint64_t value);
};
extern struct wsh_py_job wsh_py_job;

/* Of memory that torch divides; as cudaMalloc's, which it takes for granted. */
#define WSH_PY_POOL_ALIGN 512

void *warpshmem_pool_malloc(Py_ssize_t size, int device, void *stream);
void warpshmem_pool_free(void *memory, Py_ssize_t size, int device, void *stream);

/* Let lines about errors in this thread be those of exceptions; once a thread. */
void wsh_py_hold_errors(void);

/* A whole number of Python's own type; false, without an exception, for all else. */
bool wsh_py_whole(PyObject *given, long long *value);

/* A whole number of 64 bits without a sign; so. */
bool wsh_py_word(PyObject *given, uint64_t *value);

/* Does an array lie in symmetric memory? */
bool wsh_py_is_symmetric(const struct wsh_py_array *seen);

/* Find the word of a signal; false where array or index are not plain. */
bool wsh_py_signal(PyObject *array, PyObject *index, struct wsh_py_array *seen, uint64_t **word);

extern PyMethodDef wsh_py_events_methods[], wsh_py_look_methods[], wsh_py_rma_methods[],
    wsh_py_rows_methods[], wsh_py_wait_methods[];
PyObject *wsh_py_plan_type(void); /* a new reference */

#endif
