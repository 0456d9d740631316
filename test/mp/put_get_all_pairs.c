/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put, get, p and g move the right values between every pair of PEs, a PE and itself included.
 * paths: local:1,2,4,8 tcp:4 shm:2 mixed:4 mixedshm:4 single rails:4
 * long paths: tcp:2 shm:4
 */
#include "test/common/mp.h"

#define N 257

static int static_in[N];

static int value(int from, int to, int i)
{
    return from * 100000 + to * 1000 + i;
}

/* Each PE owns row `mp_me` of `rows` at every target. */
static void check_put(int *rows)
{
    int out[N];

    for (int to = 0; to < mp_npes; to++) {
        for (int i = 0; i < N; i++)
            out[i] = value(mp_me, to, i);
        shmem_int_put(rows + mp_me * N, out, N, to);
    }
    shmem_barrier_all();
    for (int from = 0; from < mp_npes; from++) {
        for (int i = 0; i < N; i++)
            mp_check(rows[from * N + i] == value(from, mp_me, i), "put from %d: element %d", from, i);
    }
    shmem_barrier_all();
}

static void check_get(void)
{
    int in[N];

    for (int i = 0; i < N; i++)
        static_in[i] = value(mp_me, 7, i);
    shmem_barrier_all();
    for (int from = 0; from < mp_npes; from++) {
        shmem_int_get(in, static_in, N, from);
        for (int i = 0; i < N; i++)
            mp_check(in[i] == value(from, 7, i), "get from %d: element %d is %d", from, i, in[i]);
        mp_check(shmem_int_g(&static_in[5], from) == value(from, 7, 5), "g from %d", from);
    }
    shmem_barrier_all();
}

static void check_p(int *row)
{
    for (int to = 0; to < mp_npes; to++)
        shmem_int_p(&row[mp_me], value(mp_me, to, 1), to);
    shmem_barrier_all();
    for (int from = 0; from < mp_npes; from++)
        mp_check(row[from] == value(from, mp_me, 1), "p from %d: %d", from, row[from]);
    shmem_barrier_all();
}

int main(void)
{
    int *rows;

    mp_begin();
    rows = mp_alloc(sizeof *rows * N * (size_t)mp_npes);
    for (long round = 0; round < mp_rounds(3, 100); round++) {
        check_put(rows);
        check_get();
        check_p(rows);
    }
    shmem_free(rows);
    return mp_end();
}
