/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomic compare_swap, [fetch_]inc and [fetch_]add, and their nonblocking fetching forms, of every standard type
 * do their arithmetic at the extremes too (it wraps), with and without context, typed and generic.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

/* clang-format off */

/* One call of a fetching routine with its arguments in parentheses, blocking or not: `old` is the old value. */
#define FETCH(NAME, OP, form, old, ...)                                                            \
    do {                                                                                           \
        switch (form) {                                                                            \
        case PLAIN: old = shmem_##NAME##_atomic_##OP(__VA_ARGS__); break;                          \
        case CTX: old = shmem_ctx_##NAME##_atomic_##OP(ctx, __VA_ARGS__); break;                   \
        case GENERIC: old = shmem_atomic_##OP(__VA_ARGS__); break;                                 \
        case GENERIC_CTX: old = shmem_atomic_##OP(ctx, __VA_ARGS__); break;                        \
        case FORMS + PLAIN: shmem_##NAME##_atomic_##OP##_nbi(&old, __VA_ARGS__); break;            \
        case FORMS + CTX: shmem_ctx_##NAME##_atomic_##OP##_nbi(ctx, &old, __VA_ARGS__); break;     \
        case FORMS + GENERIC: shmem_atomic_##OP##_nbi(&old, __VA_ARGS__); break;                   \
        default: shmem_atomic_##OP##_nbi(ctx, &old, __VA_ARGS__); break;                           \
        }                                                                                          \
        shmem_quiet();                                                                             \
        shmem_ctx_quiet(ctx);                                                                      \
    } while (0)

/* The same for a routine without a result, which has no nonblocking form. */
#define UPDATE(NAME, OP, form, ...)                                                                \
    do {                                                                                           \
        switch ((form) % FORMS) {                                                                  \
        case PLAIN: shmem_##NAME##_atomic_##OP(__VA_ARGS__); break;                                \
        case CTX: shmem_ctx_##NAME##_atomic_##OP(ctx, __VA_ARGS__); break;                         \
        case GENERIC: shmem_atomic_##OP(__VA_ARGS__); break;                                       \
        default: shmem_atomic_##OP(ctx, __VA_ARGS__); break;                                       \
        }                                                                                          \
        shmem_quiet();                                                                             \
        shmem_ctx_quiet(ctx);                                                                      \
    } while (0)

/* Sums as the routines form them: modulo 2 to the width. */
#define SUM(TYPE, a, b) ((TYPE)((uint64_t)(a) + (uint64_t)(b)))

#define CHECK(NAME, TYPE)                                                                          \
    static void NAME##_check_add(int form, int i, int pe)                                          \
    {                                                                                              \
        TYPE *word = (TYPE *)area, now = VALUE(TYPE, i, mp_me), by = VALUE(TYPE, i + 1, 1), old = 0; \
        shmem_##NAME##_p(word, now, pe);                                                           \
        shmem_quiet();                                                                             \
        FETCH(NAME, fetch_add, form, old, word, by, pe);                                           \
        mp_check(old == now, #NAME " fetch_add, form %d: old value %d", form, i);                  \
        now = SUM(TYPE, now, by);                                                                  \
        FETCH(NAME, fetch_inc, form, old, word, pe);                                               \
        mp_check(old == now, #NAME " fetch_inc, form %d: old value %d", form, i);                  \
        now = SUM(TYPE, now, 1);                                                                   \
        UPDATE(NAME, add, form, word, by, pe);                                                     \
        UPDATE(NAME, inc, form, word, pe);                                                         \
        now = SUM(TYPE, SUM(TYPE, now, by), 1);                                                    \
        mp_check(shmem_##NAME##_g(word, pe) == now, #NAME " add and inc, form %d: %d", form, i);   \
    }                                                                                              \
    static void NAME##_check_swap(int form, int i, int pe)                                         \
    {                                                                                              \
        TYPE *word = (TYPE *)area + 1, now = VALUE(TYPE, i, mp_me), old = 0;                       \
        TYPE other = SUM(TYPE, now, 1), next = VALUE(TYPE, i + 1, mp_me);                          \
        shmem_##NAME##_p(word, now, pe);                                                           \
        shmem_quiet();                                                                             \
        FETCH(NAME, compare_swap, form, old, word, other, next, pe);                               \
        mp_check(old == now, #NAME " failed compare_swap, form %d: old value %d", form, i);        \
        mp_check(shmem_##NAME##_g(word, pe) == now, #NAME " compare_swap, form %d: %d", form, i);  \
        FETCH(NAME, compare_swap, form, old, word, now, next, pe);                                 \
        mp_check(old == now, #NAME " compare_swap, form %d: old value %d", form, i);               \
        mp_check(shmem_##NAME##_g(word, pe) == next, #NAME " compare_swap, form %d: %d", form, i); \
    }                                                                                              \
    static void NAME##_check(int form)                                                             \
    {                                                                                              \
        for (int i = 0; i < VALUES; i++) {                                                         \
            NAME##_check_add(form, i, mp_right());                                                 \
            NAME##_check_swap(form, i, mp_right());                                                \
        }                                                                                          \
        types_barrier();                                                                           \
    }
WSH_AMO_TYPES(CHECK)
#undef CHECK

int main(void)
{
    types_begin();
    for (int form = PLAIN; form < 2 * FORMS; form++) {
#define RUN(NAME, TYPE) NAME##_check(form);
        WSH_AMO_TYPES(RUN)
#undef RUN
    }
    return types_end();
}
