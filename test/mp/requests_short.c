/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A nonblocking collect whose dest has no room for all blocks: it fails at every PE and writes beyond dest at none,
 * also where several have no room; those of other teams go on. One that just fits is right. More PEs than have words of
 * their own count.
 * paths: local:2,3,18 tcp:2,3 efa:2 mixed:4
 * timeout: 60
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <stdlib.h>
#include <string.h>

#define BLOCK 1000

/* The end of the segment that `at` lies in. */
static char *end_of(char *at)
{
    size_t step = 1;

    while (shmem_addr_accessible(at + step, mp_me))
        step *= 2;
    for (; step; step /= 2)
        if (shmem_addr_accessible(at + step, mp_me))
            at += step;
    return at + 1;
}

static void begin(shmem_team_t team, char *dest, shmemx_req_h *request)
{
    static char source[BLOCK];

    memset(source, 1 + mp_me, BLOCK);
    mp_check(shmemx_collectmem_nb(team, dest, source, BLOCK, request) == 0, "begin");
}

static void check_all(const char *dest)
{
    for (int at = 0; at < BLOCK * mp_npes; at++)
        if (dest[at] != 1 + at / BLOCK) {
            mp_check(false, "byte %d is %d", at, dest[at]);
            return;
        }
}

/* Room for so many blocks less one byte. */
static void fail(char *end, int blocks)
{
    shmem_team_t team;
    shmemx_req_h request, later;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, mp_npes, NULL, 0, &team);
    shmem_sync_all();
    begin(team, end - (size_t)blocks * BLOCK + 1, &request);
    mp_check(shmemx_req_wait(&request) != 0, "a collect into room for %d blocks is 0", blocks);
    shmemx_sync_nb(team, &later);
    mp_check(shmemx_req_wait(&later) != 0, "a later one of the team is 0");
    shmem_team_destroy(team);
}

int main(void)
{
    char *end, *dest;
    shmemx_req_h request;

    setenv("SHMEM_SYMMETRIC_SIZE", "4M", 1);
    mp_begin();
    end = end_of(shmem_malloc(64));
    dest = end - BLOCK * mp_npes;
    mp_check(shmem_addr_accessible(end - 1, mp_me) && !shmem_addr_accessible(end, mp_me), "the end");
    shmem_sync_all();
    begin(SHMEM_TEAM_WORLD, dest, &request);
    mp_check(shmemx_req_wait(&request) == 0, "wait");
    check_all(dest);
    fail(end, mp_npes);
    if (mp_npes > 2)
        fail(end, mp_npes - 1);
    shmem_sync_all();
    begin(SHMEM_TEAM_WORLD, dest, &request);
    mp_check(shmemx_req_wait(&request) == 0, "wait");
    check_all(dest);
    return mp_end();
}
