/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plan: what is alike in all calls of expert parallelism of one kind and shape. A call through it checks its arrays,
 * asks for memory of what it returns, fills the struct of the call and makes it. Offsets in the struct come from
 * _ep_structs.py; this file knows none of its fields.
 */
#include "quick.h"

#include <string.h>

#define SLOTS 16
#define STRUCT_BYTES 512
enum { ANY = -1, TOKENS = -2, COLUMNS = -3 }; /* extents that are no numbers */
enum { SEND = 1 };                            /* halves, of shmemx_ep.h */
enum {
    WRITTEN = 1,
    LEADING = 2,
    NEEDED = 4
}; /* of a slot: not read-only; more dimensions may come first; given */

/* One pointer of the struct, and what the array must be. */
struct slot {
    int offset, flags;
    unsigned kinds; /* a bit for each */
    int ndim;
    Py_ssize_t extents[WSH_PY_DIMS];
    PyObject *maker, *args, *keywords; /* makes the array where none is given; or NULL */
};

struct plan {
    PyObject_HEAD int (*routine)(void *ep, const void *call);
    void *ep;          /* NULL: closed */
    char *nothing;     /* address of arrays without elements: NULL means something else */
    PyObject *refused; /* called where the routine returns not 0: raises */
    int halves, handle, stream, tokens, columns; /* offsets; -1: no such field */
    Py_ssize_t most_tokens, most_columns;
    bool gpu;
    int n;
    struct slot slots[SLOTS];
    size_t bytes;
    char begin[STRUCT_BYTES];
};

/* A call that is being made. */
struct call {
    Py_ssize_t tokens, columns; /* -1: not known yet */
    int device;                 /* where the arrays that are given lie */
    char made[STRUCT_BYTES] __attribute__((aligned(16)));
};

static void set(struct call *call, int offset, const void *value, size_t bytes)
{
    if (offset >= 0)
        memcpy(call->made + offset, value, bytes);
}

static bool is_extent(struct call *call, Py_ssize_t wanted, Py_ssize_t found)
{
    Py_ssize_t *name = wanted == TOKENS ? &call->tokens : &call->columns;

    if (wanted >= 0)
        return wanted == found;
    if (wanted == ANY)
        return true;
    if (*name < 0)
        *name = found;
    return *name == found;
}

static bool is_form(const struct plan *plan, const struct slot *slot, struct call *call,
                    const struct wsh_py_array *seen)
{
    int more = seen->ndim - slot->ndim;

    if (!(slot->kinds >> seen->kind & 1) || seen->gpu != plan->gpu || more < 0 ||
        (more && !(slot->flags & LEADING)) || (seen->readonly && (slot->flags & WRITTEN)))
        return false;
    for (int i = 0; i < slot->ndim; i++) {
        if (!is_extent(call, slot->extents[i], seen->shape[more + i]))
            return false;
    }
    return true;
}

static void point(const struct plan *plan, struct call *call, int offset, const char *address)
{
    if (!address)
        address = plan->nothing;
    set(call, offset, &address, sizeof(address));
}

/* Check what is given. */
static bool take(const struct plan *plan, struct call *call, PyObject *const *arrays)
{
    struct wsh_py_array seen;

    for (int i = 0; i < plan->n; i++) {
        if (arrays[i] == Py_None && !(plan->slots[i].flags & NEEDED))
            continue;
        if (!wsh_py_look(arrays[i], &seen) || !is_form(plan, &plan->slots[i], call, &seen))
            return false;
        call->device = seen.device;
        point(plan, call, plan->slots[i].offset, seen.size ? seen.address : NULL);
    }
    return call->tokens <= plan->most_tokens &&
           (call->columns < 0 || (call->columns >= 1 && call->columns <= plan->most_columns));
}

/* How many arrays a call makes itself. */
static Py_ssize_t missing(const struct plan *plan, PyObject *const *arrays)
{
    Py_ssize_t n = 0;

    for (int i = 0; i < plan->n; i++)
        n += arrays[i] == Py_None && plan->slots[i].maker;
    return n;
}

/*
 * Make them, in the order of slots, as result[1] and on. False: with an exception, or without one where what was made
 * is not plain.
 */
static bool make(const struct plan *plan, struct call *call, PyObject *const *arrays, PyObject *result)
{
    char *address;
    int device;
    Py_ssize_t at = 1;

    for (int i = 0; i < plan->n; i++) {
        const struct slot *slot = &plan->slots[i];
        PyObject *made;

        if (arrays[i] != Py_None || !slot->maker)
            continue;
        made = PyObject_Call(slot->maker, slot->args, slot->keywords);
        if (!made || PyTuple_SetItem(result, at++, made) || !wsh_py_begin(made, &address, &device) ||
            device != call->device)
            return false;
        point(plan, call, slot->offset, address);
    }
    return true;
}

/* Make the call of the library; false with an exception where it is refused. */
static bool start(const struct plan *plan, const struct call *call)
{
    PyThreadState *lock;
    PyObject *raised;
    int status;

    wsh_py_hold_errors();
    lock = PyEval_SaveThread();
    status = plan->routine(plan->ep, call->made);
    PyEval_RestoreThread(lock);
    if (!status)
        return true;
    raised = PyObject_CallObject(plan->refused, NULL);
    Py_XDECREF(raised);
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "the library refused a call");
    return false;
}

/* Fill in the numbers that calls of a plan differ in. */
static void number(const struct plan *plan, struct call *call, int halves, int handle, const void *stream)
{
    int tokens = (int)call->tokens, columns = tokens > 0 && call->columns > 0 ? (int)call->columns : 0;

    set(call, plan->halves, &halves, sizeof(halves));
    set(call, plan->handle, &handle, sizeof(handle));
    set(call, plan->stream, &stream, sizeof(stream));
    set(call, plan->tokens, &tokens, sizeof(tokens));
    set(call, plan->columns, &columns, sizeof(columns));
}

static bool is_open(const struct plan *plan)
{
    return wsh_py_job.live && plan->ep;
}

/* Where the first slot is to point instead of the array that is given for it; 0: to that. */
static bool take_place(const struct plan *plan, struct call *call, PyObject *place)
{
    void *address;

    if (!PyLong_CheckExact(place))
        return false;
    address = PyLong_AsVoidPtr(place);
    if (address)
        set(call, plan->slots[0].offset, &address, sizeof(address));
    return !PyErr_Occurred();
}

#define NUMBERS 6
/*
 * call(halves, handle, stream, tokens, columns, place, arrays): (tokens, arrays that were made), and with the sending
 * half alone the struct at the end, for `again`. None where Python is to do it. tokens, columns: -1 where the arrays
 * say so.
 */
static PyObject *plan_call(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct plan *plan = (struct plan *)self;
    long long halves, handle, stream, tokens, columns;
    struct call call;
    PyObject *result, *kept, *found;
    Py_ssize_t made;

    if (!is_open(plan) || n != NUMBERS + plan->n || !wsh_py_whole(args[0], &halves) ||
        !wsh_py_whole(args[1], &handle) || !wsh_py_whole(args[2], &stream) ||
        !wsh_py_whole(args[3], &tokens) || !wsh_py_whole(args[4], &columns) || halves != (int)halves ||
        handle != (int)handle)
        Py_RETURN_NONE;
    memcpy(call.made, plan->begin, plan->bytes);
    call.tokens = tokens;
    call.columns = columns;
    call.device = 0;
    if (!take(plan, &call, args + NUMBERS) || !take_place(plan, &call, args[5])) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    number(plan, &call, (int)halves, (int)handle, (const void *)(intptr_t)stream);
    made = missing(plan, args + NUMBERS);
    result = PyTuple_New(1 + made + (halves == SEND));
    if (!result)
        return NULL;
    found = PyLong_FromSsize_t(call.tokens);
    if (!found || PyTuple_SetItem(result, 0, found) || !make(plan, &call, args + NUMBERS, result)) {
        Py_DECREF(result);
        if (PyErr_Occurred())
            return NULL;
        Py_RETURN_NONE;
    }
    kept = halves == SEND ? PyBytes_FromStringAndSize(call.made, (Py_ssize_t)plan->bytes) : NULL;
    if ((halves == SEND && (!kept || PyTuple_SetItem(result, 1 + made, kept))) || !start(plan, &call)) {
        Py_DECREF(result);
        return NULL;
    }
    return result;
}

/* again(struct, halves, stream): the other half of a call */
static PyObject *plan_again(PyObject *self, PyObject *args)
{
    struct plan *plan = (struct plan *)self;
    struct call call;
    const char *begin;
    Py_ssize_t bytes;
    long long given;
    void *stream;
    int halves;

    if (!PyArg_ParseTuple(args, "y#iL", &begin, &bytes, &halves, &given))
        return NULL;
    if (!is_open(plan) || (size_t)bytes != plan->bytes)
        Py_RETURN_FALSE;
    memcpy(call.made, begin, plan->bytes);
    stream = (void *)(intptr_t)given;
    set(&call, plan->halves, &halves, sizeof(halves));
    set(&call, plan->stream, &stream, sizeof(stream));
    if (!start(plan, &call))
        return NULL;
    Py_RETURN_TRUE;
}

/* close(): no call goes through the plan any more */
static PyObject *plan_close(PyObject *self, PyObject *none)
{
    (void)none;
    ((struct plan *)self)->ep = NULL;
    Py_RETURN_NONE;
}

/* A slot is (offset, flags, kinds, extents, maker, args, keywords). */
static bool read_slot(struct plan *plan, PyObject *given)
{
    struct slot *slot = &plan->slots[plan->n];
    PyObject *extents, *maker, *args, *keywords;

    if (!PyArg_ParseTuple(given, "iiIO!OOO", &slot->offset, &slot->flags, &slot->kinds, &PyTuple_Type,
                          &extents, &maker, &args, &keywords))
        return false;
    slot->ndim = (int)PyTuple_Size(extents);
    if (slot->ndim > WSH_PY_DIMS || slot->offset < 0 || (size_t)slot->offset + sizeof(void *) > plan->bytes) {
        PyErr_SetString(PyExc_ValueError, "a slot lies outside of the struct");
        return false;
    }
    for (int i = 0; i < slot->ndim; i++)
        slot->extents[i] = PyLong_AsSsize_t(PyTuple_GetItem(extents, i));
    if (maker != Py_None) {
        Py_INCREF(slot->maker = maker);
        Py_INCREF(slot->args = args);
        Py_INCREF(slot->keywords = keywords);
    }
    plan->n++;
    return !PyErr_Occurred();
}

static bool read_slots(struct plan *plan, PyObject *slots)
{
    Py_ssize_t n = PyTuple_Size(slots);

    if (n > SLOTS) {
        PyErr_SetString(PyExc_ValueError, "too many slots");
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!read_slot(plan, PyTuple_GetItem(slots, i)))
            return false;
    }
    return true;
}

/*
 * Plan(routine, ep, struct, (halves, handle, stream, tokens, columns), most_tokens, most_columns, gpu, nothing,
 * refused, slots): addresses as numbers; a struct that calls begin as; offsets.
 */
static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    unsigned long long routine, ep, nothing;
    struct plan *plan;
    PyObject *refused, *slots;
    const char *begin;
    Py_ssize_t bytes;
    int gpu;

    (void)keywords;
    plan = (struct plan *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!plan)
        return NULL;
    if (!PyArg_ParseTuple(args, "KKy#(iiiii)nnpKOO!", &routine, &ep, &begin, &bytes, &plan->halves,
                          &plan->handle, &plan->stream, &plan->tokens, &plan->columns, &plan->most_tokens,
                          &plan->most_columns, &gpu, &nothing, &refused, &PyTuple_Type, &slots))
        goto wrong;
    if (bytes > STRUCT_BYTES) {
        PyErr_SetString(PyExc_ValueError, "a struct of that size has no plan");
        goto wrong;
    }
    memcpy(plan->begin, begin, (size_t)bytes);
    plan->bytes = (size_t)bytes;
    memcpy(&plan->routine, &(uintptr_t){routine}, sizeof(plan->routine));
    plan->ep = (void *)(uintptr_t)ep;
    plan->nothing = (char *)(uintptr_t)nothing;
    plan->gpu = gpu;
    Py_INCREF(plan->refused = refused);
    if (read_slots(plan, slots))
        return (PyObject *)plan;
wrong:
    Py_DECREF(plan);
    return NULL;
}

static void plan_dealloc(PyObject *self)
{
    struct plan *plan = (struct plan *)self;
    PyTypeObject *type = Py_TYPE(self);

    for (int i = 0; i < plan->n; i++) {
        Py_XDECREF(plan->slots[i].maker);
        Py_XDECREF(plan->slots[i].args);
        Py_XDECREF(plan->slots[i].keywords);
    }
    Py_XDECREF(plan->refused);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

PyObject *wsh_py_plan_type(void)
{
    static PyMethodDef methods[] = {{"call", WSH_PY_FAST(plan_call), METH_FASTCALL, NULL},
                                    {"again", plan_again, METH_VARARGS, NULL},
                                    {"close", plan_close, METH_NOARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
    static PyType_Slot slots[] = {
        {Py_tp_new, plan_new}, {Py_tp_dealloc, plan_dealloc}, {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Spec spec = {"warpshmem._calls.Plan", sizeof(struct plan), 0, Py_TPFLAGS_DEFAULT, slots};

    return PyType_FromSpec(&spec);
}
