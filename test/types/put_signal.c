/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put_signal of every type and size, blocking and nonblocking, set and add, with and without context, typed and
 * generic: whoever sees the signal sees the data. signal_set, _add, _fetch and _wait_until agree with it.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

#include <string.h>

static uint64_t *sig, expected; /* the signal at this PE, and the value its left neighbour brings it to */

/* Waits for the signal of one more step; the sender adds or sets to the same value. */
static void wait_step(void)
{
    expected++;
    mp_check(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, expected) == expected, "signal_wait_until");
    mp_check(shmem_signal_fetch(sig) == expected, "signal_fetch");
}

static int operator(enum form form)
{
    return form % 2 ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET;
}

static uint64_t operand(enum form form)
{
    return form % 2 ? 1 : expected + 1;
}

/* clang-format off */

#define CHECK(NAME, TYPE, PUT)                                                                     \
    static void NAME##_##PUT(enum form form, TYPE *dest, const TYPE *source, int pe)               \
    {                                                                                              \
        uint64_t value = operand(form);                                                            \
        int op = operator(form);                                                                   \
        switch (form) {                                                                            \
        case PLAIN: shmem_##NAME##_##PUT(dest, source, VALUES, sig, value, op, pe); break;         \
        case CTX: shmem_ctx_##NAME##_##PUT(ctx, dest, source, VALUES, sig, value, op, pe); break;  \
        case GENERIC: shmem_##PUT(dest, source, VALUES, sig, value, op, pe); break;                \
        default: shmem_##PUT(ctx, dest, source, VALUES, sig, value, op, pe); break;                \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_check_##PUT(enum form form)                                                 \
    {                                                                                              \
        TYPE *there = (TYPE *)area, mine[VALUES];                                                  \
        for (int i = 0; i < VALUES; i++)                                                           \
            mine[i] = VALUE(TYPE, i, mp_me + (int)form);                                           \
        NAME##_##PUT(form, there, mine, mp_right());                                               \
        wait_step();                                                                               \
        for (int i = 0; i < VALUES; i++)                                                           \
            mp_check(there[i] == VALUE(TYPE, i, mp_left() + (int)form),                            \
                     #NAME "_" #PUT ", form %d: element %d", form, i);                             \
        types_barrier();                                                                           \
    }
#define BOTH(NAME, TYPE) CHECK(NAME, TYPE, put_signal) CHECK(NAME, TYPE, put_signal_nbi)
WSH_RMA_TYPES(BOTH)
#undef BOTH
#undef CHECK

/* The untyped forms. */
#define CHECK(PUT, BYTES)                                                                          \
    static void check_##PUT(enum form form)                                                        \
    {                                                                                              \
        char mine[VALUES * (BYTES)];                                                               \
        mp_fill(mine, sizeof mine, (uint64_t)(mp_me + (int)form));                                 \
        if (form % 2)                                                                              \
            shmem_ctx_##PUT(ctx, area, mine, VALUES, sig, operand(form), operator(form), mp_right()); \
        else                                                                                       \
            shmem_##PUT(area, mine, VALUES, sig, operand(form), operator(form), mp_right());       \
        wait_step();                                                                               \
        mp_check(!mp_wrong(area, sizeof mine, (uint64_t)(mp_left() + (int)form)), "shmem_" #PUT);  \
        types_barrier();                                                                           \
    }
#define BOTH(BITS) CHECK(put##BITS##_signal, BITS / 8) CHECK(put##BITS##_signal_nbi, BITS / 8)
WSH_SIZES(BOTH)
CHECK(putmem_signal, 1)
CHECK(putmem_signal_nbi, 1)
#undef BOTH
#undef CHECK
/* clang-format on */

/* The signal alone, and with no data. */
static void check_signals(void)
{
    shmem_signal_set(sig, operand(PLAIN), mp_right());
    wait_step();
    shmem_barrier_all();
    shmem_signal_set(ctx, sig, operand(PLAIN), mp_right());
    wait_step();
    types_barrier();
    shmem_signal_add(sig, 1, mp_right());
    wait_step();
    shmem_barrier_all();
    shmem_signal_add(ctx, sig, 1, mp_right());
    wait_step();
    types_barrier();
    shmem_ctx_signal_add(ctx, sig, 1, mp_right());
    wait_step();
    types_barrier();
    shmem_ctx_signal_set(ctx, sig, operand(PLAIN), mp_right());
    wait_step();
    types_barrier();
    shmem_putmem_signal(NULL, NULL, 0, sig, 1, SHMEM_SIGNAL_ADD, mp_right());
    wait_step();
    shmem_barrier_all();
}

int main(void)
{
    types_begin();
    sig = mp_alloc(sizeof *sig);
    for (enum form form = PLAIN; form < FORMS; form++) {
#define RUN(NAME, TYPE)            \
    NAME##_check_put_signal(form); \
    NAME##_check_put_signal_nbi(form);
        WSH_RMA_TYPES(RUN)
#undef RUN
#define RUN(BITS)                   \
    check_put##BITS##_signal(form); \
    check_put##BITS##_signal_nbi(form);
        WSH_SIZES(RUN)
#undef RUN
        check_putmem_signal(form);
        check_putmem_signal_nbi(form);
    }
    check_signals();
    shmem_free(sig);
    return types_end();
}
