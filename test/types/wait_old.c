/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated waits, shmem_wait, shmem_wait_until without a type and shmem_<type>_wait, end when a neighbour makes
 * the word differ, or satisfy, and return at once where it does already.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

/* clang-format off */

#define CHECK(NAME, TYPE)                                                                          \
    static void NAME##_check(void)                                                                 \
    {                                                                                              \
        TYPE *word = (TYPE *)area, from = VALUE(TYPE, 1, 1), to = VALUE(TYPE, VALUES, 1);          \
        *word = from;                                                                              \
        shmem_##NAME##_wait(word, to);                                                             \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_p(word, to, mp_right());                                                    \
        shmem_##NAME##_wait(word, from);                                                           \
        mp_check(*word == to, "shmem_" #NAME "_wait came back early");                             \
        shmem_barrier_all();                                                                       \
    }
WSH_WAIT_TYPES(CHECK)
#undef CHECK

/* In parentheses: the function, not the generic form. */
static void check_untyped(void)
{
    long *words = (long *)area;

    words[0] = words[1] = 0;
    (shmem_wait_until)(&words[0], SHMEM_CMP_EQ, 0);
    shmem_wait(&words[0], 1);
    shmem_barrier_all();
    shmem_long_p(&words[0], -5, mp_right());
    shmem_long_p(&words[1], 7, mp_right());
    (shmem_wait_until)(&words[0], SHMEM_CMP_LT, 0);
    shmem_wait(&words[1], 0);
    mp_check(words[0] == -5 && words[1] == 7, "came back early: %ld, %ld", words[0], words[1]);
    shmem_barrier_all();
}

int main(void)
{
    types_begin();
#define RUN(NAME, TYPE) NAME##_check();
    WSH_WAIT_TYPES(RUN)
#undef RUN
    check_untyped();
    return types_end();
}
