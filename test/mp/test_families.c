/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test, test_all, test_any, test_some and their _vector forms say at once what is true now, and a loop around them
 * ends when the words arrive.
 * paths: local:2,4 tcp:2 shm:2 mixed:4 single
 */
#include "test/common/mp.h"

#include <string.h>

#define N 8

static int *words; /* [N] */

static void check_false(const int *values, int *status)
{
    size_t indices[N];

    mp_check(!shmem_int_test(words, SHMEM_CMP_EQ, 7), "test is true");
    mp_check(!shmem_int_test_all(words, N, status, SHMEM_CMP_NE, 0), "test_all is true");
    mp_check(!shmem_int_test_all_vector(words, N, status, SHMEM_CMP_EQ, values), "test_all_vector is true");
    mp_check(shmem_int_test_any(words, N, status, SHMEM_CMP_NE, 0) == SIZE_MAX, "test_any is true");
    mp_check(shmem_int_test_any_vector(words, N, status, SHMEM_CMP_EQ, values) == SIZE_MAX,
             "test_any_vector");
    mp_check(shmem_int_test_some(words, N, indices, status, SHMEM_CMP_NE, 0) == 0, "test_some is true");
    mp_check(shmem_int_test_some_vector(words, N, indices, status, SHMEM_CMP_EQ, values) == 0,
             "test_some_vector");
}

static void check_empty(const int *values)
{
    size_t indices[N];
    int status[N];

    for (int i = 0; i < N; i++)
        status[i] = 1;
    mp_check(shmem_int_test_all(words, N, status, SHMEM_CMP_EQ, 99), "test_all of nothing is true");
    mp_check(shmem_int_test_all(words, 0, NULL, SHMEM_CMP_EQ, 99), "test_all of no elements is true");
    mp_check(shmem_int_test_all_vector(words, N, status, SHMEM_CMP_EQ, values), "test_all_vector of nothing");
    mp_check(shmem_int_test_any(words, N, status, SHMEM_CMP_EQ, 0) == SIZE_MAX, "test_any of nothing");
    mp_check(shmem_int_test_some(words, N, indices, status, SHMEM_CMP_EQ, 0) == 0, "test_some of nothing");
}

static void check_arrival(const int *values, int *status)
{
    size_t indices[N], n = 0, any;

    while (!shmem_int_test_all_vector(words, N, status, SHMEM_CMP_EQ, values))
        ;
    mp_check(shmem_int_test_all(words, N, status, SHMEM_CMP_GE, 1), "test_all after test_all_vector");
    any = shmem_int_test_any(words, N, status, SHMEM_CMP_NE, 0);
    mp_check(any < N && !status[any], "test_any gave %zu", any);
    any = shmem_int_test_any_vector(words, N, status, SHMEM_CMP_EQ, values);
    mp_check(any < N && !status[any], "test_any_vector gave %zu", any);
    n = shmem_int_test_some(words, N, indices, status, SHMEM_CMP_GT, 0);
    mp_check(n == N - 1, "test_some gave %zu of %d", n, N - 1);
    n = shmem_int_test_some_vector(words, N, indices, status, SHMEM_CMP_EQ, values);
    mp_check(n == N - 1, "test_some_vector gave %zu of %d", n, N - 1);
    for (size_t k = 0; k < n; k++)
        mp_check(indices[k] < N && !status[indices[k]], "test_some_vector gave index %zu", indices[k]);
    while (!shmem_int_test(&words[1], SHMEM_CMP_EQ, 2))
        ;
}

int main(void)
{
    int values[N], status[N] = {0};

    mp_begin();
    words = mp_alloc(N * sizeof *words);
    status[3] = 1; /* never sent */
    for (int i = 0; i < N; i++)
        values[i] = i + 1;
    for (long n = 0; n < mp_rounds(20, 2000); n++) {
        check_false(values, status);
        check_empty(values);
        shmem_barrier_all();
        for (int i = N - 1; i >= 0; i--) {
            if (!status[i])
                shmem_int_p(&words[i], values[i], mp_right());
        }
        check_arrival(values, status);
        shmem_barrier_all();
        memset(words, 0, N * sizeof *words);
        shmem_barrier_all();
    }
    return mp_end();
}
