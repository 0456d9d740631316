/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random puts and gets (sizes, offsets, alignments, segments, kinds of call) leave memory exactly as a model says;
 * borders around local buffers and everything not written stay untouched. WSH_TEST_SEED replays a sequence.
 * paths: local:2,4 tcp:4 efa:4 setsefa:2 rails:4 shm:2 mixed:4 mixedefa:4 mixedshm:4 split:2 splitback:2 single
 * long paths: tcp:2
 */
#include "test/common/mp.h"

#include <stdlib.h>
#include <string.h>

#define AREA ((size_t)200000)
#define BORDER 64
#define POISON 0xa5

static unsigned char static_area[AREA];
static unsigned char *areas[2], *model[2]; /* model: what the right neighbour's areas must hold */
static unsigned char *buffer;

static size_t random_len(uint64_t *state)
{
    static const size_t below[] = {9, 65, 1025, 9000, 70000};

    return mp_random_below(state, below[mp_random_below(state, sizeof below / sizeof below[0])]);
}

static bool borders_whole(size_t at, size_t len)
{
    for (size_t i = 0; i < BORDER; i++) {
        if (buffer[at - BORDER + i] != POISON || buffer[at + len + i] != POISON)
            return false;
    }
    return true;
}

static void put_once(uint64_t *state, int area, size_t off, size_t at, size_t len)
{
    mp_fill(buffer + at, len, mp_random(state));
    memcpy(model[area] + off, buffer + at, len);
    switch (mp_random_below(state, 3)) {
    case 0: shmem_putmem(areas[area] + off, buffer + at, len, mp_right()); break;
    case 1: shmem_char_put((char *)areas[area] + off, (char *)buffer + at, len, mp_right()); break;
    default: shmem_putmem_nbi(areas[area] + off, buffer + at, len, mp_right()); shmem_quiet();
    }
    mp_check(borders_whole(at, len), "put of %zu bytes wrote beside its source", len);
    memset(buffer + at, POISON, len);
}

static void get_once(uint64_t *state, int area, size_t off, size_t at, size_t len)
{
    shmem_quiet();
    if (mp_random(state) % 2) {
        shmem_getmem(buffer + at, areas[area] + off, len, mp_right());
    } else {
        shmem_getmem_nbi(buffer + at, areas[area] + off, len, mp_right());
        shmem_quiet();
    }
    mp_check(!memcmp(buffer + at, model[area] + off, len), "get of %zu bytes at %zu of area %d differs", len,
             off, area);
    mp_check(borders_whole(at, len), "get of %zu bytes wrote beside its destination", len);
    memset(buffer + at, POISON, len);
}

static void run(uint64_t *state, long ops)
{
    for (long n = 0; n < ops; n++) {
        int area = (int)(mp_random(state) % 2);
        size_t len = random_len(state), off = mp_random_below(state, AREA - len + 1);
        size_t at = BORDER + mp_random_below(state, 64);

        if (mp_random(state) % 3)
            put_once(state, area, off, at, len);
        else
            get_once(state, area, off, at, len);
        if (n % 16 == 15)
            shmem_fence(); /* overlapping puts of different rounds are ordered */
        else
            shmem_quiet();
    }
}

/* Compares what the left neighbour wrote here with its model, which it puts into `copy`. */
static void compare(unsigned char *copy)
{
    for (int area = 0; area < 2; area++) {
        size_t wrong = 0;

        shmem_putmem(copy, model[area], AREA, mp_right());
        shmem_barrier_all();
        for (size_t i = 0; i < AREA; i++)
            wrong += copy[i] != areas[area][i];
        mp_check(!wrong, "area %d: %zu bytes differ from the model; seed %lu", area, wrong,
                 (unsigned long)mp_seed());
        shmem_barrier_all();
    }
}

int main(void)
{
    uint64_t state = mp_seed();
    unsigned char *copy;

    mp_begin();
    state += (uint64_t)mp_me;
    areas[0] = mp_alloc(AREA);
    areas[1] = static_area;
    copy = mp_alloc(AREA);
    buffer = malloc(AREA + 4 * BORDER);
    memset(buffer, POISON, AREA + 4 * BORDER);
    for (int area = 0; area < 2; area++)
        model[area] = calloc(1, AREA);
    run(&state, mp_rounds(1000, 100000));
    shmem_barrier_all();
    compare(copy);
    free(model[0]), free(model[1]), free(buffer);
    return mp_end();
}
