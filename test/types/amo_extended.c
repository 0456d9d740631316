/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomic fetch, set and swap, and their nonblocking fetching forms, of every extended type carry extremes and
 * patterns whole, with and without context, typed and generic.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

/* clang-format off */

#define CHECK(NAME, TYPE)                                                                          \
    static void NAME##_set(enum form form, TYPE *dest, TYPE value, int pe)                         \
    {                                                                                              \
        switch (form) {                                                                            \
        case PLAIN: shmem_##NAME##_atomic_set(dest, value, pe); break;                             \
        case CTX: shmem_ctx_##NAME##_atomic_set(ctx, dest, value, pe); break;                      \
        case GENERIC: shmem_atomic_set(dest, value, pe); break;                                    \
        default: shmem_atomic_set(ctx, dest, value, pe); break;                                    \
        }                                                                                          \
    }                                                                                              \
    static TYPE NAME##_fetch(enum form form, const TYPE *source, int pe)                           \
    {                                                                                              \
        switch (form) {                                                                            \
        case PLAIN: return shmem_##NAME##_atomic_fetch(source, pe);                                \
        case CTX: return shmem_ctx_##NAME##_atomic_fetch(ctx, source, pe);                         \
        case GENERIC: return shmem_atomic_fetch(source, pe);                                       \
        default: return shmem_atomic_fetch(ctx, source, pe);                                       \
        }                                                                                          \
    }                                                                                              \
    static TYPE NAME##_swap(enum form form, TYPE *dest, TYPE value, int pe)                        \
    {                                                                                              \
        switch (form) {                                                                            \
        case PLAIN: return shmem_##NAME##_atomic_swap(dest, value, pe);                            \
        case CTX: return shmem_ctx_##NAME##_atomic_swap(ctx, dest, value, pe);                     \
        case GENERIC: return shmem_atomic_swap(dest, value, pe);                                   \
        default: return shmem_atomic_swap(ctx, dest, value, pe);                                   \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_fetch_nbi(enum form form, TYPE *fetch, const TYPE *source, int pe)          \
    {                                                                                              \
        switch (form) {                                                                            \
        case PLAIN: shmem_##NAME##_atomic_fetch_nbi(fetch, source, pe); break;                     \
        case CTX: shmem_ctx_##NAME##_atomic_fetch_nbi(ctx, fetch, source, pe); break;              \
        case GENERIC: shmem_atomic_fetch_nbi(fetch, source, pe); break;                            \
        default: shmem_atomic_fetch_nbi(ctx, fetch, source, pe); break;                            \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_swap_nbi(enum form form, TYPE *fetch, TYPE *dest, TYPE value, int pe)       \
    {                                                                                              \
        switch (form) {                                                                            \
        case PLAIN: shmem_##NAME##_atomic_swap_nbi(fetch, dest, value, pe); break;                 \
        case CTX: shmem_ctx_##NAME##_atomic_swap_nbi(ctx, fetch, dest, value, pe); break;          \
        case GENERIC: shmem_atomic_swap_nbi(fetch, dest, value, pe); break;                        \
        default: shmem_atomic_swap_nbi(ctx, fetch, dest, value, pe); break;                        \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_check(enum form form)                                                       \
    {                                                                                              \
        TYPE *there = (TYPE *)area, got[VALUES], old[VALUES];                                      \
        int pe = mp_right();                                                                       \
        for (int i = 0; i < VALUES; i++)                                                           \
            NAME##_set(form, &there[i], VALUE(TYPE, i, mp_me), pe);                                \
        types_barrier();                                                                           \
        for (int i = 0; i < VALUES; i++) {                                                         \
            mp_check(there[i] == VALUE(TYPE, i, mp_left()), #NAME " set, form %d: %d", form, i);   \
            mp_check(NAME##_fetch(form, &there[i], pe) == VALUE(TYPE, i, mp_me),                   \
                     #NAME " fetch, form %d: %d", form, i);                                        \
        }                                                                                          \
        types_barrier();                                                                           \
        for (int i = 0; i < VALUES; i++)                                                           \
            mp_check(NAME##_swap(form, &there[i], VALUE(TYPE, VALUES - i, mp_me), pe)              \
                     == VALUE(TYPE, i, mp_me), #NAME " swap, form %d: %d", form, i);               \
        for (int i = 0; i < VALUES; i++)                                                           \
            NAME##_fetch_nbi(form, &got[i], &there[i], pe);                                        \
        types_barrier();                                                                           \
        for (int i = 0; i < VALUES; i++)                                                           \
            NAME##_swap_nbi(form, &old[i], &there[i], VALUE(TYPE, i, mp_me + 1), pe);              \
        types_barrier();                                                                           \
        for (int i = 0; i < VALUES; i++) {                                                         \
            TYPE swapped = VALUE(TYPE, VALUES - i, mp_me);                                         \
            mp_check(got[i] == swapped, #NAME " fetch_nbi, form %d: %d", form, i);                 \
            mp_check(old[i] == swapped, #NAME " swap_nbi, form %d: %d", form, i);                  \
            mp_check(there[i] == VALUE(TYPE, i, mp_left() + 1), #NAME ", form %d: %d", form, i);   \
        }                                                                                          \
        types_barrier();                                                                           \
    }
WSH_AMO_EXTENDED_TYPES(CHECK)
#undef CHECK

int main(void)
{
    types_begin();
    for (enum form form = PLAIN; form < FORMS; form++) {
#define RUN(NAME, TYPE) NAME##_check(form);
        WSH_AMO_EXTENDED_TYPES(RUN)
#undef RUN
    }
    return types_end();
}
