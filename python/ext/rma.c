/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets, with and without a signal: True where it is done, False where Python is to do it. What is checked
 * here is what rma.py checks.
 */
#include "quick.h"

struct wsh_py_job wsh_py_job;

void wsh_py_hold_errors(void)
{
    static _Thread_local bool holds;

    if (!holds)
        wsh_py_job.hold_errors(1);
    holds = true;
}

bool wsh_py_whole(PyObject *given, long long *value)
{
    if (!PyLong_CheckExact(given))
        return false;
    *value = PyLong_AsLongLong(given);
    if (*value != -1 || !PyErr_Occurred())
        return true;
    PyErr_Clear();
    return false;
}

bool wsh_py_is_symmetric(const struct wsh_py_array *seen)
{
    const char *last = seen->address + (size_t)seen->size * wsh_py_kind_sizes[seen->kind] - 1;

    return !seen->size || (wsh_py_job.accessible(seen->address, wsh_py_job.me) &&
                           wsh_py_job.accessible(last, wsh_py_job.me));
}

/* What a transfer needs: the symmetric array, the other one, the PE. */
struct transfer {
    struct wsh_py_array remote, local;
    size_t bytes;
    int pe;
};

static bool is_plain(struct transfer *made, PyObject *remote, PyObject *local, PyObject *pe)
{
    long long number;

    if (!wsh_py_job.live || !wsh_py_whole(pe, &number) || number < 0 || number >= wsh_py_job.n ||
        !wsh_py_look(remote, &made->remote) || !wsh_py_look(local, &made->local) ||
        made->remote.kind != made->local.kind || made->local.size > made->remote.size ||
        !wsh_py_is_symmetric(&made->remote))
        return false;
    made->bytes = (size_t)made->local.size * wsh_py_kind_sizes[made->local.kind];
    made->pe = (int)number;
    return true;
}

static PyObject *put_by(int nbi, PyObject *const *args, Py_ssize_t n)
{
    struct transfer made;
    PyThreadState *lock;

    if (n != 3 || !is_plain(&made, args[0], args[1], args[2]))
        Py_RETURN_FALSE;
    lock = PyEval_SaveThread();
    wsh_py_job.put[nbi](made.remote.address, made.local.address, made.bytes, made.pe);
    PyEval_RestoreThread(lock);
    Py_RETURN_TRUE;
}

static PyObject *get_by(int nbi, PyObject *const *args, Py_ssize_t n)
{
    struct transfer made;
    PyThreadState *lock;

    if (n != 3 || !is_plain(&made, args[1], args[0], args[2]) || made.local.readonly)
        Py_RETURN_FALSE;
    lock = PyEval_SaveThread();
    wsh_py_job.get[nbi](made.local.address, made.remote.address, made.bytes, made.pe);
    PyEval_RestoreThread(lock);
    Py_RETURN_TRUE;
}

/* put(dest, source, pe), and the three like it */
static PyObject *put(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    return put_by(0, args, n);
}

static PyObject *put_nbi(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    return put_by(1, args, n);
}

static PyObject *get(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    return get_by(0, args, n);
}

static PyObject *get_nbi(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    return get_by(1, args, n);
}

bool wsh_py_signal(PyObject *array, PyObject *index, struct wsh_py_array *seen, uint64_t **word)
{
    long long at;

    if (!wsh_py_whole(index, &at) || !wsh_py_look(array, seen) ||
        (seen->kind != WSH_PY_UINT64 && seen->kind != WSH_PY_INT64) || at < 0 || at >= seen->size ||
        !wsh_py_is_symmetric(seen))
        return false;
    *word = (uint64_t *)(void *)seen->address + at;
    return true;
}

bool wsh_py_word(PyObject *given, uint64_t *value)
{
    if (!PyLong_CheckExact(given))
        return false;
    *value = PyLong_AsUnsignedLongLong(given);
    if (*value != UINT64_MAX || !PyErr_Occurred())
        return true;
    PyErr_Clear();
    return false;
}

/* "set" is 0, "add" is 1. */
static bool is_op(PyObject *name, int *op)
{
    if (!PyUnicode_CheckExact(name))
        return false;
    *op = PyUnicode_CompareWithASCIIString(name, "add") == 0;
    return *op || PyUnicode_CompareWithASCIIString(name, "set") == 0;
}

/* put_signal(dest, source, signal, value, pe, op, nbi, index) */
static PyObject *put_signal(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct transfer made;
    struct wsh_py_array seen;
    PyThreadState *lock;
    uint64_t *word, value;
    int op;

    (void)self;
    if (n != 8 || (args[6] != Py_False && args[6] != Py_True) ||
        !is_plain(&made, args[0], args[1], args[4]) || !wsh_py_signal(args[2], args[7], &seen, &word) ||
        !is_op(args[5], &op) || !wsh_py_word(args[3], &value))
        Py_RETURN_FALSE;
    lock = PyEval_SaveThread();
    wsh_py_job.put_signal[args[6] == Py_True](made.remote.address, made.local.address, made.bytes, word,
                                              value, op, made.pe);
    PyEval_RestoreThread(lock);
    Py_RETURN_TRUE;
}

PyMethodDef wsh_py_rma_methods[] = {{"put", WSH_PY_FAST(put), METH_FASTCALL, NULL},
                                    {"put_nbi", WSH_PY_FAST(put_nbi), METH_FASTCALL, NULL},
                                    {"get", WSH_PY_FAST(get), METH_FASTCALL, NULL},
                                    {"get_nbi", WSH_PY_FAST(get_nbi), METH_FASTCALL, NULL},
                                    {"put_signal", WSH_PY_FAST(put_signal), METH_FASTCALL, NULL},
                                    {NULL, NULL, 0, NULL}};

/* What torch's allocator of a pool calls, with sizes that are equal on all PEs: NULL is no memory. */
__attribute__((visibility("default"))) void *warpshmem_pool_malloc(Py_ssize_t size, int device, void *stream)
{
    (void)device;
    (void)stream;
    return wsh_py_job.live && size > 0 ? wsh_py_job.align_device(WSH_PY_POOL_ALIGN, (size_t)size) : NULL;
}

__attribute__((visibility("default"))) void warpshmem_pool_free(void *memory, Py_ssize_t size, int device,
                                                                void *stream)
{
    (void)size;
    (void)device;
    (void)stream;
    if (wsh_py_job.live)
        wsh_py_job.free_later(memory);
}
