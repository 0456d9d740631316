/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_until with every comparison, and wait_until_all, _any, _some and their _vector forms with and without a
 * status mask, return when, and only when, what they wait for is true; empty sets return at once.
 * paths: local:2,4 tcp:2 shm:2 mixed:4 single
 */
#include "test/common/mp.h"

#include <string.h>

#define N 16

static long *words; /* [N] */
static uint64_t *turn, turns;

/* Everyone has seen the last step and reset its words. */
static void next_turn(void)
{
    shmem_barrier_all();
    memset(words, 0, N * sizeof *words);
    shmem_barrier_all();
}

static void check_comparisons(void)
{
    static const struct {
        int cmp;
        long sent, value;
    } rows[] = {
        {SHMEM_CMP_EQ, 5, 5}, {SHMEM_CMP_NE, 5, 0},  {SHMEM_CMP_GT, 5, 4},
        {SHMEM_CMP_GE, 5, 5}, {SHMEM_CMP_LT, -5, 0}, {SHMEM_CMP_LE, -5, -5},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        shmem_long_p(words, rows[i].sent, mp_right());
        shmem_long_wait_until(words, rows[i].cmp, rows[i].value);
        mp_check(words[0] == rows[i].sent, "comparison %d came back at %ld", rows[i].cmp, words[0]);
        next_turn();
    }
}

/* Odd elements are masked out; they are never sent. */
static void send_even(long base)
{
    for (long i = N - 2; i >= 0; i -= 2)
        shmem_long_atomic_set(&words[i], base + i, mp_right());
}

static void fill_mask(int *status)
{
    for (int i = 0; i < N; i++)
        status[i] = i % 2;
}

static void check_all(const int *status, const long *values)
{
    send_even(1);
    shmem_long_wait_until_all(words, N, status, SHMEM_CMP_NE, 0);
    for (int i = 0; i < N; i += 2)
        mp_check(words[i] == i + 1, "wait_until_all returned before element %d", i);
    next_turn();
    send_even(1);
    shmem_long_wait_until_all_vector(words, N, status, SHMEM_CMP_EQ, values);
    for (int i = 0; i < N; i += 2)
        mp_check(words[i] == i + 1, "wait_until_all_vector returned before element %d", i);
    next_turn();
}

/* Takes one element after another until all even ones came. */
static void check_any(const long *values)
{
    int status[N];

    for (int vector = 0; vector < 2; vector++) {
        fill_mask(status);
        send_even(1);
        for (int n = 0; n < N / 2; n++) {
            size_t i = vector ? shmem_long_wait_until_any_vector(words, N, status, SHMEM_CMP_EQ, values)
                              : shmem_long_wait_until_any(words, N, status, SHMEM_CMP_GT, 0);

            if (!mp_check(i < N && !status[i] && words[i] == (long)i + 1, "wait_until_any gave %zu", i))
                break;
            status[i] = 1;
        }
        next_turn();
    }
}

static void check_some(const long *values)
{
    size_t indices[N], n;
    int status[N];

    for (int vector = 0; vector < 2; vector++) {
        fill_mask(status);
        send_even(1);
        for (size_t got = 0; got < N / 2; got += n) {
            n = vector ? shmem_long_wait_until_some_vector(words, N, indices, status, SHMEM_CMP_EQ, values)
                       : shmem_long_wait_until_some(words, N, indices, status, SHMEM_CMP_GT, 0);
            if (!mp_check(n > 0 && got + n <= N / 2, "wait_until_some gave %zu after %zu", n, got))
                break;
            for (size_t k = 0; k < n; k++) {
                mp_check(indices[k] < N && !status[indices[k]], "wait_until_some gave index %zu", indices[k]);
                status[indices[k]] = 1;
            }
        }
        next_turn();
    }
}

static void check_empty(const long *values)
{
    size_t indices[N];
    int status[N];

    for (int i = 0; i < N; i++)
        status[i] = 1;
    shmem_long_wait_until_all(words, N, status, SHMEM_CMP_EQ, 1);
    shmem_long_wait_until_all(words, 0, NULL, SHMEM_CMP_EQ, 1);
    shmem_long_wait_until_all_vector(words, N, status, SHMEM_CMP_EQ, values);
    mp_check(shmem_long_wait_until_any(words, N, status, SHMEM_CMP_EQ, 1) == SIZE_MAX, "any of nothing");
    mp_check(shmem_long_wait_until_any(words, 0, NULL, SHMEM_CMP_EQ, 1) == SIZE_MAX, "any of no elements");
    mp_check(shmem_long_wait_until_any_vector(words, N, status, SHMEM_CMP_EQ, values) == SIZE_MAX,
             "any_vector");
    mp_check(shmem_long_wait_until_some(words, N, indices, status, SHMEM_CMP_EQ, 1) == 0, "some of nothing");
    mp_check(shmem_long_wait_until_some_vector(words, N, indices, status, SHMEM_CMP_EQ, values) == 0,
             "some_vector");
}

/* A series of calls must in the end give every satisfied element, though all stay satisfied. */
static void check_fair(void)
{
    bool seen[N] = {false};
    int left = N;

    for (int i = 0; i < N; i++)
        words[i] = 1;
    for (int n = 0; n < 100 * N && left; n++) {
        size_t i = shmem_long_wait_until_any(words, N, NULL, SHMEM_CMP_EQ, 1);

        left -= i < N && !seen[i];
        seen[i] = true;
    }
    mp_check(!left, "wait_until_any never gave %d of %d satisfied elements", left, N);
    next_turn();
}

int main(void)
{
    long values[N];
    int status[N];

    mp_begin();
    words = mp_alloc(N * sizeof *words);
    turn = mp_alloc(sizeof *turn);
    for (int i = 0; i < N; i++)
        values[i] = i + 1;
    fill_mask(status);
    for (long n = 0; n < mp_rounds(5, 500); n++) {
        check_comparisons();
        check_all(status, values);
        check_any(values);
        check_some(values);
        check_empty(values);
        check_fair();
        shmem_signal_set(turn, ++turns, mp_right());
        mp_check(shmem_signal_wait_until(turn, SHMEM_CMP_GE, turns) == turns,
                 "signal_wait_until: another value");
        next_turn();
    }
    return mp_end();
}
