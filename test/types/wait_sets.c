/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_until and test over sets of words (_all, _any, _some and their _vector forms) of every type look at the
 * words that the status mask leaves in the set, at no others, and report them all; typed and generic; of short and
 * unsigned short too, which the specification leaves out here.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

#define N 6 /* words; the mask leaves out the odd ones */

static const int mask[N] = {0, 1, 0, -1, 0, 2};

/* The n indices are even, distinct and below N. */
static bool are_members(const size_t *indices, size_t n)
{
    unsigned seen = 0;

    for (size_t i = 0; i < n; i++) {
        if (indices[i] >= N || indices[i] % 2 || (seen >> indices[i] & 1))
            return false;
        seen |= 1u << indices[i];
    }
    return true;
}

/* clang-format off */

/* All routines of one suffix, nothing or _vector. MISSED and MET: their last argument. */
#define CHECK_FORMS(NAME, TYPE, SUFFIX, MISSED, MET)                                               \
    static void NAME##_check##SUFFIX(TYPE *words)                                                  \
    {                                                                                              \
        size_t at[N], n, i;                                                                        \
        mp_check(!shmem_##NAME##_test_all##SUFFIX(words, N, mask, SHMEM_CMP_EQ, MISSED), #NAME);   \
        mp_check(!shmem_test_all##SUFFIX(words, N, mask, SHMEM_CMP_EQ, MISSED), #NAME);            \
        i = shmem_##NAME##_test_any##SUFFIX(words, N, mask, SHMEM_CMP_EQ, MISSED);                 \
        mp_check(i == SIZE_MAX, #NAME "_test_any" #SUFFIX ": %zu", i);                             \
        i = shmem_test_any##SUFFIX(words, N, mask, SHMEM_CMP_EQ, MISSED);                          \
        mp_check(i == SIZE_MAX, "test_any" #SUFFIX " of " #NAME ": %zu", i);                       \
        n = shmem_##NAME##_test_some##SUFFIX(words, N, at, mask, SHMEM_CMP_EQ, MISSED);            \
        mp_check(n == 0, #NAME "_test_some" #SUFFIX ": %zu", n);                                   \
        n = shmem_test_some##SUFFIX(words, N, at, mask, SHMEM_CMP_EQ, MISSED);                     \
        mp_check(n == 0, "test_some" #SUFFIX " of " #NAME ": %zu", n);                             \
                                                                                                   \
        shmem_##NAME##_wait_until_all##SUFFIX(words, N, mask, SHMEM_CMP_EQ, MET);                  \
        shmem_wait_until_all##SUFFIX(words, N, mask, SHMEM_CMP_EQ, MET);                           \
        mp_check(shmem_##NAME##_test_all##SUFFIX(words, N, mask, SHMEM_CMP_EQ, MET), #NAME);       \
        mp_check(shmem_test_all##SUFFIX(words, N, mask, SHMEM_CMP_EQ, MET), #NAME);                \
        i = shmem_##NAME##_wait_until_any##SUFFIX(words, N, mask, SHMEM_CMP_EQ, MET);              \
        mp_check(are_members(&i, 1), #NAME "_wait_until_any" #SUFFIX ": %zu", i);                  \
        i = shmem_wait_until_any##SUFFIX(words, N, mask, SHMEM_CMP_EQ, MET);                       \
        mp_check(are_members(&i, 1), "wait_until_any" #SUFFIX " of " #NAME ": %zu", i);            \
        i = shmem_##NAME##_test_any##SUFFIX(words, N, mask, SHMEM_CMP_EQ, MET);                    \
        mp_check(are_members(&i, 1), #NAME "_test_any" #SUFFIX ": %zu", i);                        \
        i = shmem_test_any##SUFFIX(words, N, mask, SHMEM_CMP_EQ, MET);                             \
        mp_check(are_members(&i, 1), "test_any" #SUFFIX " of " #NAME ": %zu", i);                  \
        n = shmem_##NAME##_wait_until_some##SUFFIX(words, N, at, mask, SHMEM_CMP_EQ, MET);         \
        mp_check(n == N / 2 && are_members(at, n), #NAME "_wait_until_some" #SUFFIX ": %zu", n);   \
        n = shmem_wait_until_some##SUFFIX(words, N, at, mask, SHMEM_CMP_EQ, MET);                  \
        mp_check(n == N / 2 && are_members(at, n), "wait_until_some" #SUFFIX ": %zu", n);          \
        n = shmem_##NAME##_test_some##SUFFIX(words, N, at, mask, SHMEM_CMP_EQ, MET);               \
        mp_check(n == N / 2 && are_members(at, n), #NAME "_test_some" #SUFFIX ": %zu", n);         \
        n = shmem_test_some##SUFFIX(words, N, at, mask, SHMEM_CMP_EQ, MET);                        \
        mp_check(n == N / 2 && are_members(at, n), "test_some" #SUFFIX " of " #NAME ": %zu", n);   \
    }

/*
 * Even words are brought to `met` by the left neighbour. What they are tested for in vain is `missed`: a value
 * that only words outside the set hold. WRITE is the routine that brings a word to its value.
 */
#define CHECK(NAME, TYPE, WRITE)                                                                   \
    static TYPE NAME##_missed[N], NAME##_met[N];                                                   \
    CHECK_FORMS(NAME, TYPE, , NAME##_missed[0], NAME##_met[0])                                     \
    CHECK_FORMS(NAME, TYPE, _vector, NAME##_missed, NAME##_met)                                    \
    static void NAME##_check_all(bool vector)                                                      \
    {                                                                                              \
        TYPE *words = (TYPE *)area;                                                                \
        for (int i = 0; i < N; i++) {                                                              \
            NAME##_met[i] = VALUE(TYPE, vector ? i : 0, 2);                                        \
            NAME##_missed[i] = NAME##_met[i] ^ 1;                                                  \
            words[i] = i % 2 ? NAME##_missed[i] : NAME##_met[i] ^ 2;                               \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
        for (int i = 0; i < N; i += 2)                                                             \
            shmem_##NAME##WRITE(&words[i], NAME##_met[i], mp_right());                              \
        if (vector)                                                                                \
            NAME##_check_vector(words);                                                            \
        else                                                                                       \
            NAME##_check(words);                                                                   \
        shmem_barrier_all();                                                                       \
    }
#define CHECK_WORD(NAME, TYPE) CHECK(NAME, TYPE, _atomic_set)
#define CHECK_SHORT(NAME, TYPE) CHECK(NAME, TYPE, _p)
WSH_P2P_TYPES(CHECK_WORD)
WSH_P2P_SHORT_TYPES(CHECK_SHORT)
#undef CHECK_WORD
#undef CHECK_SHORT
#undef CHECK
#undef CHECK_FORMS

/* An empty set is satisfied at once, and has no member to report; its addresses are not looked at. */
#define CHECK(NAME, TYPE)                                                                          \
    static void NAME##_check_empty(void)                                                           \
    {                                                                                              \
        static const int none[2] = {1, 1};                                                         \
        TYPE *words = (TYPE *)area, values[2] = {0};                                               \
        size_t at[2];                                                                              \
        shmem_##NAME##_wait_until_all(words, 2, none, SHMEM_CMP_NE, *words);                       \
        shmem_##NAME##_wait_until_all(NULL, 0, NULL, SHMEM_CMP_NE, 0);                             \
        shmem_##NAME##_wait_until_all_vector(words, 2, none, SHMEM_CMP_NE, values);                \
        mp_check(shmem_##NAME##_wait_until_any(NULL, 0, NULL, SHMEM_CMP_NE, 0) == SIZE_MAX, #NAME); \
        mp_check(shmem_##NAME##_wait_until_some(words, 2, at, none, SHMEM_CMP_NE, 0) == 0, #NAME); \
        mp_check(shmem_##NAME##_test_all(words, 2, none, SHMEM_CMP_NE, *words) == 1, #NAME);       \
        mp_check(shmem_##NAME##_test_any_vector(NULL, 0, NULL, SHMEM_CMP_NE, NULL) == SIZE_MAX, #NAME); \
        mp_check(shmem_##NAME##_test_some_vector(NULL, 0, NULL, NULL, SHMEM_CMP_NE, NULL) == 0, #NAME); \
    }
WSH_P2P_HOST_TYPES(CHECK)
#undef CHECK

int main(void)
{
    types_begin();
#define RUN(NAME, TYPE)      \
    NAME##_check_all(false); \
    NAME##_check_all(true);  \
    NAME##_check_empty();
    WSH_P2P_HOST_TYPES(RUN)
#undef RUN
    return types_end();
}
