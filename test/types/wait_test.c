/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_until and test of every type compare as the type does (signed or not, 2, 4 or 8 bytes), for every comparison
 * and pair of extremes; a wait that is not satisfied yet ends when a neighbour makes it so.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

#define CMPS 6

static const int cmps[CMPS] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                               SHMEM_CMP_LE, SHMEM_CMP_LT, SHMEM_CMP_GE};

/* clang-format off */

#define CHECK(NAME, TYPE)                                                                          \
    static bool NAME##_holds(TYPE a, int cmp, TYPE b)                                              \
    {                                                                                              \
        switch (cmp) {                                                                             \
        case SHMEM_CMP_EQ: return a == b;                                                          \
        case SHMEM_CMP_NE: return a != b;                                                          \
        case SHMEM_CMP_GT: return a > b;                                                           \
        case SHMEM_CMP_LE: return a <= b;                                                          \
        case SHMEM_CMP_LT: return a < b;                                                           \
        default: return a >= b;                                                                    \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_check_pair(TYPE *word, TYPE a, TYPE b)                                      \
    {                                                                                              \
        *word = a;                                                                                 \
        for (int c = 0; c < CMPS; c++) {                                                           \
            bool holds = NAME##_holds(a, cmps[c], b);                                              \
            mp_check(shmem_##NAME##_test(word, cmps[c], b) == holds, #NAME "_test, cmp %d", c);    \
            mp_check(shmem_test(word, cmps[c], b) == holds, "shmem_test of " #NAME ", cmp %d", c); \
            if (holds) {                                                                           \
                shmem_##NAME##_wait_until(word, cmps[c], b);                                       \
                shmem_wait_until(word, cmps[c], b);                                                \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_check(void)                                                                 \
    {                                                                                              \
        TYPE *word = (TYPE *)area, last = VALUE(TYPE, VALUES, 1);                                  \
        for (int i = 0; i < VALUES; i++)                                                           \
            for (int k = 0; k < VALUES; k++)                                                       \
                NAME##_check_pair(word, VALUE(TYPE, i, 1), VALUE(TYPE, k, 1));                     \
        *word = 0;                                                                                 \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_p(word, last, mp_right());                                                  \
        shmem_##NAME##_wait_until(word, SHMEM_CMP_NE, 0);                                          \
        mp_check(*word == last, #NAME "_wait_until came back early");                              \
        shmem_barrier_all();                                                                       \
    }
WSH_P2P_HOST_TYPES(CHECK)
#undef CHECK

int main(void)
{
    types_begin();
#define RUN(NAME, TYPE) NAME##_check();
    WSH_P2P_HOST_TYPES(RUN)
#undef RUN
    return types_end();
}
