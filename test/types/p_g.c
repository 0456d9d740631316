/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p and g of every type, with and without context, typed and generic, carry extremes and patterns whole.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

/* clang-format off */

#define CHECK(NAME, TYPE)                                                                          \
    static void NAME##_p(enum form form, TYPE *dest, TYPE value, int pe)                           \
    {                                                                                              \
        switch (form) {                                                                            \
        case PLAIN: shmem_##NAME##_p(dest, value, pe); break;                                      \
        case CTX: shmem_ctx_##NAME##_p(ctx, dest, value, pe); break;                               \
        case GENERIC: shmem_p(dest, value, pe); break;                                             \
        default: shmem_p(ctx, dest, value, pe); break;                                             \
        }                                                                                          \
    }                                                                                              \
    static TYPE NAME##_g(enum form form, const TYPE *source, int pe)                               \
    {                                                                                              \
        switch (form) {                                                                            \
        case PLAIN: return shmem_##NAME##_g(source, pe);                                           \
        case CTX: return shmem_ctx_##NAME##_g(ctx, source, pe);                                    \
        case GENERIC: return shmem_g(source, pe);                                                  \
        default: return shmem_g(ctx, source, pe);                                                  \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_check(enum form form)                                                       \
    {                                                                                              \
        TYPE *there = (TYPE *)area;                                                                \
        for (int i = 0; i < VALUES; i++)                                                           \
            NAME##_p(form, &there[i], VALUE(TYPE, i, mp_me + (int)form), mp_right());              \
        types_barrier();                                                                           \
        for (int i = 0; i < VALUES; i++) {                                                         \
            mp_check(there[i] == VALUE(TYPE, i, mp_left() + (int)form), #NAME "_p: value %d", i);  \
            mp_check(NAME##_g(form, &there[i], mp_right()) == VALUE(TYPE, i, mp_me + (int)form),   \
                     #NAME "_g: value %d", i);                                                     \
        }                                                                                          \
        types_barrier();                                                                           \
    }
WSH_RMA_TYPES(CHECK)
#undef CHECK

int main(void)
{
    types_begin();
    for (enum form form = PLAIN; form < FORMS; form++) {
#define RUN(NAME, TYPE) NAME##_check(form);
        WSH_RMA_TYPES(RUN)
#undef RUN
    }
    return types_end();
}
