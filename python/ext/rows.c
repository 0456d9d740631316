/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of deep_ep in memory of the host: what operations of torch take many passes for. Arguments are addresses and
 * sizes, which Python has checked.
 */
#include "quick.h"

#include <string.h>

#define COLUMNS 128 /* a row has a multiple of them */
#define TOPK 16

typedef long long number;

/* All arguments are whole numbers; false with an exception. */
static bool numbers(PyObject *const *args, Py_ssize_t n, number *to, Py_ssize_t wanted)
{
    if (n != wanted)
        PyErr_SetString(PyExc_TypeError, "wrong number of arguments");
    for (Py_ssize_t i = 0; n == wanted && i < n; i++)
        to[i] = PyLong_AsLongLong(args[i]);
    return !PyErr_Occurred();
}

static number expert_of(const void *topk, number at, bool wide)
{
    return wide ? ((const int64_t *)topk)[at] : ((const int32_t *)topk)[at];
}

/* choices(topk, tokens, k, wide, experts): whether each token names experts, each once, and -1s */
static PyObject *choices(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    number given[5];
    bool good = true;

    (void)self;
    if (!numbers(args, n, given, 5))
        return NULL;
    for (number first = 0; first < given[1] * given[2] && good; first += given[2])
        for (number k = 0; k < given[2] && good; k++) {
            number expert = expert_of((const void *)(intptr_t)given[0], first + k, given[3]);

            good = expert >= -1 && expert < given[4];
            for (number before = 0; before < k && expert >= 0; before++)
                good &= expert != expert_of((const void *)(intptr_t)given[0], first + before, given[3]);
        }
    return PyBool_FromLong(good);
}

struct places {
    const int32_t *chosen, *counts; /* [rows][k], [local] */
    number rows, k, local, alignment, expanded;
    int32_t *ends, *at; /* [local], [rows][k] */
    int64_t *sources;   /* [expanded] */
};

static void places_fill(const struct places *places, int64_t *next)
{
    int64_t first = 0;

    for (number i = 0; i < places->local; i++) {
        next[i] = first;
        places->ends[i] = (int32_t)(first + places->counts[i]);
        first += (places->counts[i] + places->alignment - 1) / places->alignment * places->alignment;
    }
    for (number i = 0; i < places->expanded; i++)
        places->sources[i] = -1;
    for (number i = 0; i < places->rows * places->k; i++) {
        const int32_t expert = places->chosen[i];
        const int64_t at = expert < 0 || expert >= places->local ? places->expanded : next[expert]++;

        places->at[i] = at < places->expanded ? (int32_t)at : -1;
        if (at < places->expanded)
            places->sources[at] = i / places->k;
    }
}

/* places(chosen, counts, rows, k, local, alignment, expanded, ends, at, sources): as _expand.places */
static PyObject *places(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    number given[10];
    struct places made;
    int64_t *next;

    (void)self;
    if (!numbers(args, n, given, 10))
        return NULL;
    next = PyMem_Calloc((size_t)given[4] + 1, sizeof(*next));
    if (!next)
        return PyErr_NoMemory();
    made = (struct places){(const int32_t *)(intptr_t)given[0],
                           (const int32_t *)(intptr_t)given[1],
                           given[2],
                           given[3],
                           given[4],
                           given[5],
                           given[6],
                           (int32_t *)(intptr_t)given[7],
                           (int32_t *)(intptr_t)given[8],
                           (int64_t *)(intptr_t)given[9]};
    places_fill(&made, next);
    PyMem_Free(next);
    Py_RETURN_NONE;
}

/* To the nearest, ties to even; what is no number stays none. */
static uint16_t bf16_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* COLUMNS columns of the sum of n rows, in their order. */
static void columns_add(uint16_t *out, const uint16_t *const *rows, int n, number first)
{
    float sum[COLUMNS] = {0};

    for (int k = 0; k < n; k++) {
        const uint16_t *row = rows[k] + first;

        for (int i = 0; i < COLUMNS; i++) {
            const uint32_t bits = (uint32_t)row[i] << 16;
            float value;

            memcpy(&value, &bits, sizeof(value));
            sum[i] += value;
        }
    }
    for (int i = 0; i < COLUMNS; i++)
        out[first + i] = bf16_of(sum[i]);
}

/* fold(out, x, at, rows, k, hidden): as _expand.fold */
static PyObject *fold(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    number given[6];
    PyThreadState *lock;

    (void)self;
    if (!numbers(args, n, given, 6))
        return NULL;
    lock = PyEval_SaveThread();
    for (number row = 0; row < given[3]; row++) {
        const int32_t *at = (const int32_t *)(intptr_t)given[2] + row * given[4];
        const uint16_t *found[TOPK];
        int count = 0;

        for (number k = 0; k < given[4] && count < TOPK; k++)
            if (at[k] >= 0)
                found[count++] = (const uint16_t *)(intptr_t)given[1] + at[k] * given[5];
        for (number first = 0; first < given[5]; first += COLUMNS)
            columns_add((uint16_t *)(intptr_t)given[0] + row * given[5], found, count, first);
    }
    PyEval_RestoreThread(lock);
    Py_RETURN_NONE;
}

PyMethodDef wsh_py_rows_methods[] = {{"choices", WSH_PY_FAST(choices), METH_FASTCALL, NULL},
                                     {"places", WSH_PY_FAST(places), METH_FASTCALL, NULL},
                                     {"fold", WSH_PY_FAST(fold), METH_FASTCALL, NULL},
                                     {NULL, NULL, 0, NULL}};
