/* SPDX-License-Identifier: BSD-3-Clause */
/* An alltoall over hosts with one message from each member to each other host. */
#include "runtime/coll/algorithms/alltoall_rails.h"

#include "base/log.h"
#include "runtime/coll/memory/blocks.h"
#include "runtime/coll/memory/ll.h"
#include "runtime/op/op.h"
#include "runtime/op/signal.h"

#include <stdlib.h>
#include <string.h>

#define ROUTINE "shmem_alltoall"

/* An area has room for so many messages, where that is so little; as many again are under way meanwhile. */
#define AREA_MESSAGES 8
#define AREA_LEAST WSH_SLICE_BLOCK
#define AREA_MOST ((size_t)256 << 10)

/* Messages are packed in two areas alternately: one is filled while the network reads the other. */
struct staging {
    struct wsh_blocks blocks;
    char *area[2];
    size_t room, used; /* of an area; of the one that is filled now */
    int now;
    struct wsh_done done[2];
};

static size_t room_for(size_t whole)
{
    size_t room = AREA_MESSAGES * whole;

    if (room > AREA_MOST)
        room = AREA_MOST;
    if (room < AREA_LEAST)
        room = AREA_LEAST;
    return room < 2 * whole ? 2 * whole : room;
}

/*
 * The areas for messages of `whole` bytes: `small`, which holds two of AREA_LEAST bytes, or allocated ones, to be
 * freed.
 */
static int staging_open(struct staging *staging, struct wsh_team *team, size_t whole, char *small)
{
    *staging = (struct staging){.blocks = wsh_blocks_begin(team, ROUTINE), .room = room_for(whole)};
    if (staging->room != AREA_LEAST)
        small = malloc(2 * staging->room);
    if (!small) {
        wsh_error(
            "shmem_alltoall: no memory for two areas of %zu bytes; free some or exchange smaller blocks",
            staging->room);
        return -ENOMEM;
    }
    staging->area[0] = small;
    staging->area[1] = small + staging->room;
    return 0;
}

/* Room for a message. In an area that is used again it waits until the earlier messages have left. */
static int staging_take(struct staging *staging, size_t len, char **to)
{
    int rc = 0;

    if (staging->used + len > staging->room) {
        staging->now = !staging->now;
        staging->used = 0;
        rc = wsh_op_wait(staging->blocks.team->job, &staging->done[staging->now], ROUTINE);
    }
    *to = staging->area[staging->now] + staging->used;
    staging->used += len;
    return rc;
}

/* What the members of my host have for member `to`, in their order. */
static void blocks_bring(struct wsh_team *team, const char *src, size_t len, int to, char *area)
{
    const struct wsh_coll *coll = team->coll;

    for (int i = 0; i < coll->n_local; i++)
        memcpy(area + (size_t)i * len, wsh_coll_map(team, src + (size_t)to * len, len, coll->local[i]), len);
}

/* Sends to the member with my index on another host: its blocks from my host, which are adjacent in its dest. */
static int host_send(struct staging *staging, char *dest, const char *src, size_t len, int to)
{
    struct wsh_team *team = staging->blocks.team;
    struct wsh_coll *coll = team->coll;
    const struct wsh_signal signal =
        wsh_coll_word(coll, staging->blocks.flags + (size_t)team->my_pe * sizeof(uint64_t), coll->blocks);
    size_t whole = (size_t)coll->n_local * len;
    char *area;
    int rc = staging_take(staging, whole, &area);

    if (rc)
        return rc;
    blocks_bring(team, src, len, to, area);
    return wsh_put_signal_counted(&coll->ctx, dest + (size_t)coll->local[0] * len, area, whole, &signal, to,
                                  &staging->done[staging->now]);
}

/*
 * No member gets its last block before all have entered: each gets a block from every host, which is sent only when all
 * members of that host have come. So epochs of blocks and LL lines advance as in any exchange.
 */
int wsh_alltoall_rails(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    struct wsh_coll *coll = team->coll;
    _Alignas(WSH_SYNC_AREA_LINE) char small[2 * AREA_LEAST];
    struct staging staging;
    int rc = staging_open(&staging, team, (size_t)coll->n_local * len, small);

    if (rc)
        return rc;
    rc = wsh_ll_sync(team, ROUTINE); /* every src of my host is ready */
    for (int k = 1; k < coll->n_domains && !rc; k++)
        rc = host_send(&staging, dest, src, len, coll->column[(coll->my_domain + k) % coll->n_domains]);
    if (!rc)
        blocks_bring(team, src, len, team->my_pe, (char *)dest + (size_t)coll->local[0] * len);
    if (!rc)
        rc = wsh_ll_sync(team, ROUTINE); /* and has been read */
    if (!rc)
        rc = wsh_blocks_take(&staging.blocks, coll->column, coll->n_domains);
    wsh_coll_all_entered(coll, staging.blocks.before);
    for (int i = 0; i < 2 && !rc; i++)
        rc = wsh_op_wait(team->job, &staging.done[i], ROUTINE);
    if (staging.area[0] != small &&
        !rc) /* after an error messages may still be under way, and the job ends */
        free(staging.area[0]);
    return rc;
}
