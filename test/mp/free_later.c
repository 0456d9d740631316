/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that PEs give back one by one, each in an order of its own, as destructors do, is free when all have given it
 * back and never before; addresses stay alike on all PEs; it serves before the heap takes more; a thread may give back
 * while another one allocates.
 * paths: local:2,8 mixed:4 single fakegpu:2,8 gpu:2,4 gpu1:2,4
 * timeout: 120
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HALF ((size_t)24 << 20) /* two and a bit of these fill a heap of 64 MiB */

struct block {
    char *mem;
    size_t len;
};

static struct block *blocks;
static long n_blocks;
static bool device;
static char *origin;     /* offsets count from it */
static uint64_t offsets; /* of all allocations so far, in one number */

static char *get(size_t len)
{
    char *mem = device ? shmemx_malloc_device(len) : shmem_malloc(len);

    offsets = offsets * 1000003 + (mem && origin ? (uint64_t)(mem - origin) : 0);
    return mem;
}

static void give_back(char *mem)
{
    shmemx_free_later(mem);
}

static void check_alike(const char *when)
{
    static uint64_t mine, most;

    mine = offsets;
    shmem_barrier_all();
    mp_check(!shmem_uint64_max_reduce(SHMEM_TEAM_WORLD, &most, &mine, 1) && most == mine,
             "addresses differ %s", when);
    shmem_barrier_all();
}

static void mark(struct block *block, long i)
{
    shmem_long_p((long *)(void *)block->mem, i * 64 + mp_me, mp_me);
}

static bool is_marked(const struct block *block, long i)
{
    return shmem_long_g((const long *)(const void *)block->mem, mp_me) == i * 64 + mp_me;
}

static void allocate(long from, long to, uint64_t *state)
{
    for (long i = from; i < to; i++) {
        blocks[i].len = 8 + mp_random_below(state, 3000);
        blocks[i].mem = get(blocks[i].len);
        if (!mp_check(blocks[i].mem, "no memory for block %ld", i))
            exit(mp_end());
        mark(&blocks[i], i);
    }
}

/* Each PE's own order. */
static long *shuffled(long n)
{
    uint64_t state = mp_seed() + (uint64_t)mp_me;
    long *order = malloc((size_t)n * sizeof *order);

    for (long i = 0; i < n; i++) {
        long k = (long)mp_random_below(&state, (size_t)i + 1);

        order[i] = order[k];
        order[k] = i;
    }
    return order;
}

/* 10^4 allocations, a window of which is live. */
static void many(uint64_t *state)
{
    const long batch = 500, all = mp_rounds(mp_path_is("local") ? 10000 : 3000, 10000);

    blocks = calloc((size_t)all, sizeof *blocks);
    for (long from = 0; from < all; from += batch) {
        long *order = shuffled(batch), n = 0;

        allocate(from, from + batch, state);
        for (long i = 0; i < batch; i++) {
            long k = from + order[i];

            mp_check(is_marked(&blocks[k], k), "block %ld was given to another before all gave it back", k);
            give_back(blocks[k].mem);
            if (i % 97 == 0) { /* here the PEs meet, and have given back different ones */
                char *more = get(100 + (size_t)i);

                if (!mp_check(more != NULL, "no memory"))
                    exit(mp_end());
                shmem_long_p((long *)(void *)more, -1, mp_right());
                if (n++ % 2)
                    shmem_free(more);
                else
                    give_back(more);
            }
        }
        free(order);
        check_alike("after a batch");
    }
    free(blocks);
}

/* What all have given back serves, although the heap has room for two. */
static void reused(void)
{
    for (int i = 0; i < 20; i++) {
        char *mem = get(HALF);

        if (!mp_check(mem != NULL, "no memory in round %d", i))
            return;
        give_back(mem);
    }
}

/* Only the last PE keeps it: nobody gets it. */
static void kept_by_one(void)
{
    long *word = (long *)(void *)get(64), *others[50];

    shmem_long_p(word, 7, mp_me);
    if (mp_me < mp_npes - 1)
        give_back((char *)word);
    for (int i = 0; i < 50; i++) {
        others[i] = (long *)(void *)get(64);
        mp_check(others[i] != word, "memory that a PE uses was given to others");
        shmem_long_p(others[i], 8, mp_right());
    }
    if (mp_me == mp_npes - 1) {
        mp_check(shmem_long_g(word, mp_me) == 7, "memory that this PE uses has changed");
        give_back((char *)word);
    }
    give_back(get(64)); /* here they agree */
    mp_check((long *)(void *)get(64) == word, "the lowest address is not used again");
    shmem_free(word);
    for (int i = 0; i < 50; i++)
        shmem_free(others[i]);
}

static void *destroy(void *arg)
{
    long *order = shuffled(n_blocks);

    (void)arg;
    for (long i = 0; i < n_blocks; i++)
        shmemx_free_later(blocks[order[i]].mem);
    free(order);
    return NULL;
}

static void by_thread(uint64_t *state)
{
    struct block more[200];
    pthread_t thread;

    n_blocks = 1000;
    blocks = calloc((size_t)n_blocks, sizeof *blocks);
    allocate(0, n_blocks, state);
    pthread_create(&thread, NULL, destroy, NULL);
    for (int i = 0; i < 200; i++) {
        more[i].mem = get(64);
        mark(&more[i], i);
    }
    pthread_join(thread, NULL);
    for (int i = 0; i < 200; i++) {
        mp_check(is_marked(&more[i], i), "memory of the other thread's time");
        shmem_free(more[i].mem);
    }
    n_blocks = 0;
    free(blocks);
}

int main(void)
{
    uint64_t state = mp_seed();
    char *first, *last;
    int status;

    mp_begin_thread(SHMEM_THREAD_MULTIPLE);
    device = strstr(getenv("WSH_TEST_PATH"), "gpu");
    origin = get(64);
    if (!mp_check(origin, "no memory"))
        return mp_end();
    first = get(64);
    shmem_free(first);
    many(&state);
    kept_by_one();
    reused();
    by_thread(&state);
    give_back(NULL);
    last = get(64); /* all agree in it at the latest */
    shmem_free(last);
    last = get(64);
    mp_check(last == first, "something is still taken");
    check_alike("in the end");
    shmem_free(last);
    status = mp_end();
    shmemx_free_later(origin); /* as a destructor may, at the end of the program */
    return status;
}
