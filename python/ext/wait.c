/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits and tests of one word of this PE, as waits.py has them; None where Python is to do it. */
#include "quick.h"

/* shmem.h's numbers of comparisons. */
static bool is_comparison(PyObject *name, int *code)
{
    static const struct {
        const char *name;
        int code;
    } rows[] = {{"eq", 0}, {"ge", 5}, {"ne", 1}, {"gt", 2}, {"le", 3}, {"lt", 4},
                {"==", 0}, {">=", 5}, {"!=", 1}, {">", 2},  {"<=", 3}, {"<", 4}};

    for (size_t i = 0; PyUnicode_CheckExact(name) && i < sizeof(rows) / sizeof(*rows); i++) {
        if (PyUnicode_CompareWithASCIIString(name, rows[i].name) == 0) {
            *code = rows[i].code;
            return true;
        }
    }
    return false;
}

/* signal_wait(signal, cmp, value, index): the word's value */
static PyObject *signal_wait(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct wsh_py_array seen;
    uint64_t *word, value, found;
    PyThreadState *lock;
    int code;

    (void)self;
    if (n != 4 || !wsh_py_job.live || !wsh_py_signal(args[0], args[3], &seen, &word) || seen.gpu ||
        !is_comparison(args[1], &code) || !wsh_py_word(args[2], &value))
        Py_RETURN_NONE;
    lock = PyEval_SaveThread();
    found = wsh_py_job.signal_wait(word, code, value);
    PyEval_RestoreThread(lock);
    return PyLong_FromUnsignedLongLong(found);
}

/* A word that is waited for, and what it is compared with. */
struct wait {
    struct wsh_py_array seen;
    char *word;
    int code;
    long long value;
    uint64_t large; /* of uint64 */
};

static bool is_value(struct wait *made, PyObject *value)
{
    switch (made->seen.kind) {
    case WSH_PY_UINT64: return wsh_py_word(value, &made->large);
    case WSH_PY_INT64: return wsh_py_whole(value, &made->value);
    case WSH_PY_INT32:
        return wsh_py_whole(value, &made->value) && made->value >= INT32_MIN && made->value <= INT32_MAX;
    case WSH_PY_UINT32:
        return wsh_py_whole(value, &made->value) && made->value >= 0 && made->value <= UINT32_MAX;
    default: return false;
    }
}

static bool is_wait(struct wait *made, PyObject *const *args, Py_ssize_t n)
{
    long long index;

    if (n != 4 || !wsh_py_job.live || !wsh_py_whole(args[3], &index) || !wsh_py_look(args[0], &made->seen) ||
        made->seen.gpu || index < 0 || index >= made->seen.size || !is_value(made, args[2]) ||
        !is_comparison(args[1], &made->code) || !wsh_py_is_symmetric(&made->seen))
        return false;
    made->word = made->seen.address + index * wsh_py_kind_sizes[made->seen.kind];
    return true;
}

/* wait(ivar, cmp, value, index): True when it has come */
static PyObject *wait_until(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct wait made;
    PyThreadState *lock;
    void *word;

    (void)self;
    if (!is_wait(&made, args, n))
        Py_RETURN_NONE;
    word = made.word;
    lock = PyEval_SaveThread();
    switch (made.seen.kind) {
    case WSH_PY_INT32: wsh_py_job.wait32(word, made.code, (int32_t)made.value); break;
    case WSH_PY_UINT32: wsh_py_job.wait_u32(word, made.code, (uint32_t)made.value); break;
    case WSH_PY_INT64: wsh_py_job.wait64(word, made.code, made.value); break;
    default: wsh_py_job.wait_u64(word, made.code, made.large); break;
    }
    PyEval_RestoreThread(lock);
    Py_RETURN_TRUE;
}

/* test(ivar, cmp, value, index): a bool */
static PyObject *test(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct wait made;
    PyThreadState *lock;
    void *word;
    int found;

    (void)self;
    if (!is_wait(&made, args, n))
        Py_RETURN_NONE;
    word = made.word;
    lock = PyEval_SaveThread();
    switch (made.seen.kind) {
    case WSH_PY_INT32: found = wsh_py_job.test32(word, made.code, (int32_t)made.value); break;
    case WSH_PY_UINT32: found = wsh_py_job.test_u32(word, made.code, (uint32_t)made.value); break;
    case WSH_PY_INT64: found = wsh_py_job.test64(word, made.code, made.value); break;
    default: found = wsh_py_job.test_u64(word, made.code, made.large); break;
    }
    PyEval_RestoreThread(lock);
    return PyBool_FromLong(found);
}

PyMethodDef wsh_py_wait_methods[] = {{"signal_wait", WSH_PY_FAST(signal_wait), METH_FASTCALL, NULL},
                                     {"wait", WSH_PY_FAST(wait_until), METH_FASTCALL, NULL},
                                     {"test", WSH_PY_FAST(test), METH_FASTCALL, NULL},
                                     {NULL, NULL, 0, NULL}};
