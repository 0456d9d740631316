/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the members of a team allocate without the other PEs: it lies at the same place on all of them, apart
 * from that of other teams and of all PEs, whatever comes in between; members reach each other's copies; what is freed
 * serves again, and where it does not fit all members get NULL.
 * paths: local:3 mixed:4 single fakegpu:3 gpu1:3
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <stdlib.h>
#include <string.h>

#define WORDS 5000
#define BLOCKS 12

struct block {
    shmem_team_t team;
    uint64_t *mem;
    uint64_t key; /* what it holds says whose it is */
};

static bool device;
static char *origin;

/* Of all PEs but one, by an id that goes through memory of all. */
static shmem_team_t team_without(int out)
{
    static uint64_t id;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    int root = out == 0 ? 1 : 0;

    if (mp_me == root && !shmemx_team_get_id(&id))
        for (int pe = 0; pe < mp_npes; pe++)
            shmem_uint64_p(&id, id, pe);
    shmem_barrier_all();
    if (mp_me != out)
        mp_check(!shmemx_team_init(id, mp_npes - 1, mp_me - (mp_me > out), NULL, 0, &team), "no team");
    shmem_barrier_all();
    return team;
}

static void *get(shmem_team_t team, size_t len)
{
    return device ? shmemx_team_malloc_device(team, len) : shmemx_team_malloc(team, len);
}

static void fill(uint64_t *mem, uint64_t value, size_t n, int pe)
{
    uint64_t words[WORDS];

    for (size_t i = 0; i < n; i++)
        words[i] = value + i;
    shmem_uint64_put(mem, words, n, pe);
}

static bool holds(const uint64_t *mem, uint64_t value, int pe)
{
    uint64_t words[WORDS];

    shmem_uint64_get(words, mem, WORDS, pe);
    for (size_t i = 0; i < WORDS; i++)
        if (words[i] != value + i)
            return false;
    return true;
}

static uint64_t value_of(uint64_t key, int writer)
{
    return key << 32 | (uint64_t)writer << 24;
}

/* Each member writes the next one's copy. */
static void block_make(struct block *block, shmem_team_t team, uint64_t key)
{
    int me = shmem_team_my_pe(team), n = shmem_team_n_pes(team);
    static uint64_t mine[2], most[2];

    *block = (struct block){team, get(team, WORDS * sizeof(uint64_t)), key};
    if (!mp_check(block->mem != NULL, "no memory for block %d", (int)key))
        exit(mp_end());
    mp_check((uintptr_t)block->mem % 4096 == 0, "%p is aligned to less", (void *)block->mem);
    mine[0] = (uint64_t)((char *)block->mem - origin);
    mine[1] = ~mine[0];
    shmemx_team_barrier(team);
    shmem_uint64_max_reduce(team, most, mine, 2);
    mp_check(most[0] == ~most[1], "offsets of members differ");
    fill(block->mem, value_of(key, me), WORDS, shmem_team_translate_pe(team, (me + 1) % n, SHMEM_TEAM_WORLD));
    shmemx_team_barrier(team);
}

static void block_check(const struct block *block, const char *when)
{
    int me = shmem_team_my_pe(block->team), n = shmem_team_n_pes(block->team);

    if (block->mem)
        mp_check(holds(block->mem, value_of(block->key, (me + n - 1) % n), mp_me), "block %d has changed %s",
                 (int)block->key, when);
}

static void blocks_check(const struct block *blocks, int n, const char *when)
{
    for (int i = 0; i < n; i++)
        block_check(&blocks[i], when);
    shmem_barrier_all();
}

static void *get_for_all(size_t len)
{
    return device ? shmemx_malloc_device(len) : shmem_malloc(len);
}

/* Memory of all PEs until there is no more, written everywhere. */
static int fill_heap(void **all, int most)
{
    int n = 0;
    size_t len = (size_t)1 << 20;

    while (n < most && (all[n] = get_for_all(len)) != NULL) {
        for (size_t at = 0; at + WORDS * sizeof(uint64_t) <= len; at += WORDS * sizeof(uint64_t))
            fill((uint64_t *)(void *)((char *)all[n] + at), 1, WORDS, mp_me);
        n++;
    }
    return n;
}

static void others(const struct block *blocks)
{
    enum { MOST = 200 };
    void *all[MOST];
    int n = fill_heap(all, device ? 70 : MOST);

    mp_check(n > 20 && n < MOST, "%d MiB are there for all", n);
    blocks_check(blocks, BLOCKS, "by memory of all PEs");
    while (n > 0)
        shmem_free(all[--n]);
}

static void free_all(struct block *blocks)
{
    for (int i = BLOCKS - 1; i >= 0; i--) {
        if (blocks[i].mem)
            shmemx_team_free(blocks[i].team, blocks[i].mem);
        blocks[i].mem = NULL;
    }
}

/* More than the heap has in all, each freed before the next. */
static void again(shmem_team_t team)
{
    for (int i = 0; i < 40 && team != SHMEM_TEAM_INVALID; i++) {
        void *mem = get(team, (size_t)8 << 20);

        mp_check(mem != NULL, "no memory in round %d", i);
        shmemx_team_free(team, mem);
    }
}

static void too_large(shmem_team_t team)
{
    if (team == SHMEM_TEAM_INVALID)
        return;
    mp_check(!get(team, (size_t)1 << 40), "a terabyte is there");
    mp_check(!get(team, 0), "nothing is something");
    shmemx_team_free(team, NULL);
}

static void run(void)
{
    shmem_team_t teams[3] = {team_without(0), team_without(mp_npes - 1), SHMEM_TEAM_WORLD};
    struct block blocks[BLOCKS] = {{0}};

    for (int i = 0; i < BLOCKS; i++) {
        if (teams[i % 3] != SHMEM_TEAM_INVALID)
            block_make(&blocks[i], teams[i % 3], (uint64_t)i + 1);
        if (i == BLOCKS / 2)
            fill(get_for_all(WORDS * sizeof(uint64_t)), 2, WORDS, mp_me);
    }
    blocks_check(blocks, BLOCKS, "at first");
    others(blocks);
    free_all(blocks);
    again(teams[0]);
    too_large(teams[1]);
    for (int i = 0; i < 2; i++)
        shmem_team_destroy(teams[i]);
    shmem_barrier_all();
}

/* A team of one. */
static void alone(void)
{
    uint64_t *mem = shmemx_team_malloc(SHMEM_TEAM_WORLD, WORDS * sizeof *mem);

    fill(mem, 3, WORDS, 0);
    mp_check(holds(mem, 3, 0), "the memory holds something else");
    shmemx_team_free(SHMEM_TEAM_WORLD, mem);
}

int main(void)
{
    mp_begin();
    origin = shmem_malloc(8);
    if (mp_npes < 3) {
        alone();
        return mp_end();
    }
    run();
    if (strstr(getenv("WSH_TEST_PATH"), "gpu")) {
        device = true;
        too_large(SHMEM_TEAM_SHARED);
        origin = shmemx_malloc_device(8);
        if (mp_check(origin != NULL, "no device memory"))
            run();
    }
    return mp_end();
}
