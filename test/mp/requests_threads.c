/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * At SHMEM_THREAD_MULTIPLE threads begin nonblocking collectives, each on a team of its own, and other threads wait for
 * them and test them, while the first go on with blocking ones.
 * paths: local:2,3 tcp:2 sets:2 efa:2 mixed:2,4 single
 * timeout: 120
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <pthread.h>

enum { TEAMS = 3, DEPTH = 12, LEN = 40 };

/* Between the thread that begins and the one that waits. */
static struct row {
    pthread_t begins, waits;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    shmem_team_t team;
    shmemx_req_h request[DEPTH];
    long begun, ended; /* so far */
    long *dest, *src;  /* [2 * DEPTH][LEN * n] */
    int number;
} rows[TEAMS];

static long rounds;

static long value(const struct row *row, long round, int from, int to, int i)
{
    return round * 1000003 + row->number * 10007 + from * 101 + to * 11 + i;
}

/*
 * Twice as many as are in flight: who begins a round has ended that DEPTH before it, which others have begun, after
 * they had looked at what came DEPTH before that.
 */
static long *block(long *at, long round)
{
    return at + round % (2 * DEPTH) * LEN * mp_npes;
}

static void begin_one(struct row *row, long round)
{
    long *src = block(row->src, round), *dest = block(row->dest, round);

    for (int to = 0; to < mp_npes; to++)
        for (int i = 0; i < LEN; i++)
            src[to * LEN + i] = value(row, round, mp_me, to, i);
    if (round % 2)
        shmemx_long_alltoall_nb(row->team, dest, src, LEN, &row->request[round % DEPTH]);
    else
        shmemx_long_sum_reduce_nb(row->team, dest, src, LEN, &row->request[round % DEPTH]);
}

static void *begin_all(void *arg)
{
    struct row *row = arg;

    for (long round = 0; round < rounds; round++) {
        pthread_mutex_lock(&row->mutex);
        while (row->begun - row->ended == DEPTH)
            pthread_cond_wait(&row->changed, &row->mutex);
        pthread_mutex_unlock(&row->mutex);
        begin_one(row, round);
        if (round % 5 == 4)
            shmem_team_sync(row->team);
        pthread_mutex_lock(&row->mutex);
        row->begun++;
        pthread_cond_broadcast(&row->changed);
        pthread_mutex_unlock(&row->mutex);
    }
    return NULL;
}

static void check(const struct row *row, long round)
{
    const long *dest = block(row->dest, round);
    long wrong = 0;

    for (int i = 0; i < LEN; i++) {
        long sum = 0;

        for (int from = 0; from < mp_npes; from++) {
            sum += value(row, round, from, 0, i);
            wrong += round % 2 && dest[from * LEN + i] != value(row, round, from, mp_me, i);
        }
        wrong += round % 2 == 0 && dest[i] != sum;
    }
    mp_check(!wrong, "round %ld of team %d: %ld words wrong", round, row->number, wrong);
}

static void *wait_all(void *arg)
{
    struct row *row = arg;

    for (long round = 0; round < rounds; round++) {
        shmemx_req_h *request = &row->request[round % DEPTH];

        pthread_mutex_lock(&row->mutex);
        while (row->begun == round)
            pthread_cond_wait(&row->changed, &row->mutex);
        pthread_mutex_unlock(&row->mutex);
        if (round % 3)
            shmemx_req_wait(request);
        else
            while (shmemx_req_test(request))
                ;
        check(row, round);
        pthread_mutex_lock(&row->mutex);
        row->ended++;
        pthread_cond_broadcast(&row->changed);
        pthread_mutex_unlock(&row->mutex);
    }
    return NULL;
}

int main(void)
{
    mp_begin_thread(SHMEM_THREAD_MULTIPLE);
    rounds = mp_rounds(mp_path_is("local") ? 300 : 100, 20000);
    for (int t = 0; t < TEAMS; t++) {
        struct row *row = &rows[t];

        row->number = t;
        row->dest = mp_alloc(2 * DEPTH * LEN * (size_t)mp_npes * sizeof(long));
        row->src = mp_alloc(2 * DEPTH * LEN * (size_t)mp_npes * sizeof(long));
        pthread_mutex_init(&row->mutex, NULL);
        pthread_cond_init(&row->changed, NULL);
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, mp_npes, NULL, 0, &row->team);
    }
    for (int t = 0; t < TEAMS; t++) {
        pthread_create(&rows[t].begins, NULL, begin_all, &rows[t]);
        pthread_create(&rows[t].waits, NULL, wait_all, &rows[t]);
    }
    for (int t = 0; t < TEAMS; t++) {
        pthread_join(rows[t].begins, NULL);
        pthread_join(rows[t].waits, NULL);
    }
    for (int t = 0; t < TEAMS; t++)
        shmem_team_destroy(rows[t].team);
    return mp_end();
}
