/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits with a time limit, of every type and form, typed and generic: they return what a word or set has satisfied,
 * and say when the time is over, soon after it and not before.
 * paths: local:2 tcp:2 single
 */
#include "test/types/values.h"

#include <shmemx.h>
#include <time.h>

#define N 4 /* words; the mask leaves out the odd ones, which never satisfy */

static const int mask[N] = {0, 1, 0, 1};

static double now(void)
{
    struct timespec ts;

    timespec_get(&ts, TIME_UTC);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* clang-format off */

/* All routines of one suffix, nothing or _vector. MISSED and MET: their last argument. */
#define CHECK_FORMS(NAME, TYPE, SUFFIX, MISSED, MET)                                               \
    static void NAME##_check##SUFFIX(TYPE *words)                                                  \
    {                                                                                              \
        size_t at[N], n = 7, i = 7;                                                                \
        mp_check(shmemx_##NAME##_wait_until_all##SUFFIX##_timeout(  \
                     words, N, mask, SHMEM_CMP_EQ, MISSED, 0) == 1, #NAME); \
        mp_check(shmemx_wait_until_all##SUFFIX##_timeout(           \
                     words, N, mask, SHMEM_CMP_EQ, MET, 60.) == 0, #NAME); \
        mp_check(shmemx_##NAME##_wait_until_any##SUFFIX##_timeout(  \
                     words, N, mask, SHMEM_CMP_EQ, MISSED, 1e-3, &i) == 1 && \
                 i == SIZE_MAX, #NAME "_any: %zu", i);                                             \
        mp_check(shmemx_wait_until_any##SUFFIX##_timeout(           \
                     words, N, mask, SHMEM_CMP_EQ, MET, 60., &i) == 0 && \
                 (i == 0 || i == 2), #NAME "_any: %zu", i);                                        \
        mp_check(shmemx_##NAME##_wait_until_some##SUFFIX##_timeout(  \
                     words, N, at, mask, SHMEM_CMP_EQ, MISSED, 1e-3, &n) == 1 && \
                 n == 0, #NAME "_some: %zu", n);                                                   \
        mp_check(shmemx_wait_until_some##SUFFIX##_timeout(           \
                     words, N, at, mask, SHMEM_CMP_EQ, MET, 60., &n) == 0 && \
                 n == 2 && at[0] == 0 && at[1] == 2, #NAME "_some: %zu", n);                       \
    }
#define CHECK(NAME, TYPE)                                                                          \
    static const TYPE NAME##_met[N] = {3, 3, 3, 3}, NAME##_missed[N] = {4, 4, 4, 4};               \
    CHECK_FORMS(NAME, TYPE, , 4, 3)                                                                \
    CHECK_FORMS(NAME, TYPE, _vector, NAME##_missed, NAME##_met)                                    \
    static void NAME##_check_all(void)                                                             \
    {                                                                                              \
        TYPE *words = shmem_malloc(N * sizeof *words);                                             \
        for (int i = 0; i < N; i++)                                                                \
            words[i] = i % 2 ? 9 : 3;                                                              \
        shmem_barrier_all();                                                                       \
        NAME##_check(words);                                                                       \
        NAME##_check_vector(words);                                                                \
        mp_check(shmemx_##NAME##_wait_until_timeout(words, SHMEM_CMP_GT, 3, -1.) == 1, #NAME);     \
        mp_check(shmemx_wait_until_timeout(words, SHMEM_CMP_LE, 3, 0) == 0, #NAME);                \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_p(words, 5, mp_right());                           \
        mp_check(shmemx_wait_until_timeout(words, SHMEM_CMP_EQ, 5, 60.) == 0, #NAME);              \
        shmem_free(words);                                                                         \
    }
WSH_P2P_TYPES(CHECK)

#define CALL(NAME, TYPE) NAME##_check_all();
/* clang-format on */

int main(void)
{
    static uint64_t signal, value;
    double began;
    size_t index = 7;
    long none;

    types_begin();
    WSH_P2P_TYPES(CALL)
    began = now();
    mp_check(shmemx_signal_wait_until_timeout(&signal, SHMEM_CMP_NE, 0, 0.05, &value) == SHMEMX_WAIT_TIMEOUT,
             "a signal that nobody sets");
    mp_check(now() - began >= 0.05, "too early by %g s", 0.05 - (now() - began));
    mp_check(now() - began < 5, "late: %g s", now() - began);
    shmem_barrier_all();
    shmem_signal_set(&signal, 6, mp_right());
    mp_check(!shmemx_signal_wait_until_timeout(&signal, SHMEM_CMP_GE, 6, 60., &value) && value == 6,
             "the signal: %llu", (unsigned long long)value);
    mp_check(!shmemx_signal_wait_until_timeout(&signal, SHMEM_CMP_GE, 6, 60., NULL), "no value wanted");
    mp_check(!shmemx_long_wait_until_any_timeout(&none, 0, NULL, SHMEM_CMP_EQ, 1, 60., &index) &&
                 index == SIZE_MAX,
             "an empty set is satisfied");
    return types_end();
}
