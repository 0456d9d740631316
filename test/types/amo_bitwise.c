/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomic [fetch_]and, [fetch_]or and [fetch_]xor, and their nonblocking fetching forms, of every bitwise type
 * combine extremes and patterns bit by bit, with and without context, typed and generic.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

/* clang-format off */

/* fetch_OP, blocking or not (form >= FORMS), then OP, each on a fresh word at `pe`. */
#define CHECK_OP(NAME, TYPE, OP, SIGN)                                                             \
    static TYPE NAME##_fetch_##OP(int form, TYPE *dest, TYPE value, int pe)                        \
    {                                                                                              \
        TYPE old = 0;                                                                              \
        switch (form) {                                                                            \
        case PLAIN: old = shmem_##NAME##_atomic_fetch_##OP(dest, value, pe); break;                \
        case CTX: old = shmem_ctx_##NAME##_atomic_fetch_##OP(ctx, dest, value, pe); break;         \
        case GENERIC: old = shmem_atomic_fetch_##OP(dest, value, pe); break;                       \
        case GENERIC_CTX: old = shmem_atomic_fetch_##OP(ctx, dest, value, pe); break;              \
        case FORMS + PLAIN: shmem_##NAME##_atomic_fetch_##OP##_nbi(&old, dest, value, pe); break;  \
        case FORMS + CTX: shmem_ctx_##NAME##_atomic_fetch_##OP##_nbi(ctx, &old, dest, value, pe); break; \
        case FORMS + GENERIC: shmem_atomic_fetch_##OP##_nbi(&old, dest, value, pe); break;         \
        default: shmem_atomic_fetch_##OP##_nbi(ctx, &old, dest, value, pe); break;                 \
        }                                                                                          \
        shmem_quiet();                                                                             \
        shmem_ctx_quiet(ctx);                                                                      \
        return old;                                                                                \
    }                                                                                              \
    static void NAME##_##OP(int form, TYPE *dest, TYPE value, int pe)                              \
    {                                                                                              \
        switch (form % FORMS) {                                                                    \
        case PLAIN: shmem_##NAME##_atomic_##OP(dest, value, pe); break;                            \
        case CTX: shmem_ctx_##NAME##_atomic_##OP(ctx, dest, value, pe); break;                     \
        case GENERIC: shmem_atomic_##OP(dest, value, pe); break;                                   \
        default: shmem_atomic_##OP(ctx, dest, value, pe); break;                                   \
        }                                                                                          \
        shmem_quiet();                                                                             \
        shmem_ctx_quiet(ctx);                                                                      \
    }                                                                                              \
    static void NAME##_check_##OP(int form, int i, int pe)                                         \
    {                                                                                              \
        TYPE *words = (TYPE *)area, a = VALUE(TYPE, i, mp_me), b = VALUE(TYPE, VALUES - i, 1);     \
        shmem_##NAME##_p(&words[0], a, pe);                                                        \
        shmem_##NAME##_p(&words[1], a, pe);                                                        \
        shmem_quiet();                                                                             \
        mp_check(NAME##_fetch_##OP(form, &words[0], b, pe) == a, #NAME " fetch_" #OP ": %d", i);   \
        NAME##_##OP(form, &words[1], b, pe);                                                       \
        for (int w = 0; w < 2; w++)                                                                \
            mp_check(shmem_##NAME##_g(&words[w], pe) == (a SIGN b),                                \
                     #NAME " " #OP ", form %d: value %d", form, i);                                \
    }

#define CHECK(NAME, TYPE)                                                                          \
    CHECK_OP(NAME, TYPE, and, &)                                                                   \
    CHECK_OP(NAME, TYPE, or, |)                                                                    \
    CHECK_OP(NAME, TYPE, xor, ^)                                                                   \
    static void NAME##_check(int form)                                                             \
    {                                                                                              \
        for (int i = 0; i < VALUES; i++) {                                                         \
            NAME##_check_and(form, i, mp_right());                                                 \
            NAME##_check_or(form, i, mp_right());                                                  \
            NAME##_check_xor(form, i, mp_right());                                                 \
        }                                                                                          \
        types_barrier();                                                                           \
    }
WSH_AMO_BITWISE_TYPES(CHECK)
#undef CHECK
#undef CHECK_OP

int main(void)
{
    types_begin();
    for (int form = PLAIN; form < 2 * FORMS; form++) {
#define RUN(NAME, TYPE) NAME##_check(form);
        WSH_AMO_BITWISE_TYPES(RUN)
#undef RUN
    }
    return types_end();
}
