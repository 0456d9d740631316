/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The atomics under their deprecated names do what those of today do, with every type, typed and generic: fetch, set,
 * swap, cswap, finc, inc, fadd and add.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

/* clang-format off */

#define CHECK(NAME, TYPE)                                                                          \
    static void NAME##_check_extended(void)                                                        \
    {                                                                                              \
        TYPE *there = (TYPE *)area;                                                                \
        int pe = mp_right();                                                                       \
        for (int i = 0; i < VALUES; i++) {                                                         \
            shmem_##NAME##_set(&there[2 * i], VALUE(TYPE, i, mp_me), pe);                          \
            shmem_set(&there[2 * i + 1], VALUE(TYPE, i, mp_me), pe);                               \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
        for (int i = 0; i < 2 * VALUES; i++) {                                                     \
            TYPE mine = VALUE(TYPE, i / 2, mp_me);                                                 \
            mp_check(there[i] == VALUE(TYPE, i / 2, mp_left()), #NAME " set: %d", i);              \
            mp_check(shmem_##NAME##_fetch(&there[i], pe) == mine, #NAME "_fetch: %d", i);          \
            mp_check(shmem_fetch(&there[i], pe) == mine, "fetch of " #NAME ": %d", i);             \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
        for (int i = 0; i < 2 * VALUES; i++) {                                                     \
            TYPE mine = VALUE(TYPE, i / 2, mp_me), next = VALUE(TYPE, VALUES - i / 2, mp_me);      \
            mp_check(shmem_##NAME##_swap(&there[i], next, pe) == mine, #NAME "_swap: %d", i);      \
            mp_check(shmem_swap(&there[i], mine, pe) == next, "swap of " #NAME ": %d", i);         \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
    }
WSH_AMO_OLD_EXTENDED_TYPES(CHECK)
#undef CHECK

/* Everybody counts at PE 0; the last word is swapped from one known value to the next by its owner's neighbour. */
#define CHECK(NAME, TYPE)                                                                          \
    static void NAME##_check_standard(void)                                                        \
    {                                                                                              \
        TYPE *word = (TYPE *)area;                                                                 \
        word[0] = word[1] = 0;                                                                     \
        shmem_barrier_all();                                                                       \
        for (int i = 0; i < VALUES; i++) {                                                         \
            TYPE before = shmem_##NAME##_finc(word, 0), later = shmem_finc(word, 0);               \
            mp_check(later > before, #NAME "_finc went from %lld to %lld", (long long)before,      \
                     (long long)later);                                                            \
            before = shmem_##NAME##_fadd(word, 2, 0);                                              \
            later = shmem_fadd(word, 3, 0);                                                        \
            mp_check(later >= before + 2, #NAME "_fadd went from %lld to %lld", (long long)before, \
                     (long long)later);                                                            \
            shmem_##NAME##_inc(word, 0);                                                           \
            shmem_inc(word, 0);                                                                    \
            shmem_##NAME##_add(word, 5, 0);                                                        \
            shmem_add(word, 6, 0);                                                                 \
            mp_check(shmem_##NAME##_cswap(&word[1], (TYPE)i, (TYPE)-1, mp_right()) == (TYPE)i,     \
                     #NAME "_cswap: %d", i);                                                       \
            mp_check(shmem_cswap(&word[1], (TYPE)7, (TYPE)8, mp_right()) == (TYPE)-1,              \
                     "cswap of " #NAME " changed what differs: %d", i);                            \
            mp_check(shmem_cswap(&word[1], (TYPE)-1, (TYPE)(i + 1), mp_right()) == (TYPE)-1,       \
                     "cswap of " #NAME ": %d", i);                                                 \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
        mp_check(mp_me || word[0] == (TYPE)(20 * VALUES * mp_npes), #NAME " sum: %lld",            \
                 (long long)word[0]);                                                              \
        shmem_barrier_all();                                                                       \
    }
WSH_AMO_OLD_TYPES(CHECK)
#undef CHECK

int main(void)
{
    types_begin();
#define RUN(NAME, TYPE) NAME##_check_extended();
    WSH_AMO_OLD_EXTENDED_TYPES(RUN)
#undef RUN
#define RUN(NAME, TYPE) NAME##_check_standard();
    WSH_AMO_OLD_TYPES(RUN)
#undef RUN
    return types_end();
}
