/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events between two streams of a GPU, by routines of the driver whose addresses Python gives. Events and streams are
 * numbers, torch's own: of the driver they are the same objects. False where the driver refuses, and Python is to do
 * it: a stream 0 is one of the current GPU, which may be another.
 */
#include "quick.h"

#include <string.h>

static int (*event_record)(void *event, void *stream);
static int (*stream_wait)(void *stream, void *event, unsigned flags);

/* driver(record, wait): addresses of cuEventRecord and cuStreamWaitEvent */
static PyObject *driver(PyObject *self, PyObject *args)
{
    unsigned long long record, wait;

    (void)self;
    if (!PyArg_ParseTuple(args, "KK", &record, &wait))
        return NULL;
    memcpy(&event_record, &(uintptr_t){record}, sizeof(event_record));
    memcpy(&stream_wait, &(uintptr_t){wait}, sizeof(stream_wait));
    Py_RETURN_NONE;
}

/* Read n numbers; false where the driver is not known, or for what is none. */
static bool numbers(PyObject *const *args, Py_ssize_t given, void **found, Py_ssize_t n)
{
    long long number;

    if (given != n || !event_record || !stream_wait)
        return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!wsh_py_whole(args[i], &number))
            return false;
        found[i] = (void *)(intptr_t)number;
    }
    return true;
}

/* args: an event, the stream that records it if `record`, the stream that waits for it if `wait` */
static PyObject *order(PyObject *const *args, Py_ssize_t n, bool record, bool wait)
{
    PyThreadState *lock;
    void *at[3];
    int status;

    if (!numbers(args, n, at, 1 + record + wait))
        Py_RETURN_FALSE;
    lock = PyEval_SaveThread();
    status = (record && event_record(at[0], at[1])) || (wait && stream_wait(at[1 + record], at[0], 0));
    PyEval_RestoreThread(lock);
    return PyBool_FromLong(!status);
}

/* stream_follow(event, first, second): what comes on the second stream waits for what is on the first */
static PyObject *stream_follow(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    return order(args, n, true, true);
}

/* event_mark(event, stream): records it */
static PyObject *event_mark(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    return order(args, n, true, false);
}

/* event_wait(event, stream): what comes on the stream waits for it */
static PyObject *event_wait(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    return order(args, n, false, true);
}

PyMethodDef wsh_py_events_methods[] = {{"driver", driver, METH_VARARGS, NULL},
                                       {"stream_follow", WSH_PY_FAST(stream_follow), METH_FASTCALL, NULL},
                                       {"event_mark", WSH_PY_FAST(event_mark), METH_FASTCALL, NULL},
                                       {"event_wait", WSH_PY_FAST(event_wait), METH_FASTCALL, NULL},
                                       {NULL, NULL, 0, NULL}};
