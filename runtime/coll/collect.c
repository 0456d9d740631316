/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how everybody's block reaches everybody: by cells, straight to all, or once to each host. */
#include "runtime/coll/coll.h"

#include "runtime/coll/blocks.h"
#include "runtime/coll/cells.h"
#include "runtime/coll/share.h"
#include "runtime/order.h"
#include "runtime/rma.h"

#include <string.h>

static int by_cells(struct wsh_team *team, char *dest, const void *src, size_t len)
{
    struct wsh_cells cells = wsh_cells_begin(team, "shmem_fcollect");
    int rc;

    wsh_cells_write(&cells, WSH_CELL_OWN, src, len);
    rc = wsh_cells_await(&cells, WSH_CELL_OWN, team->coll->all, team->n_pes);
    for (int pe = 0; pe < team->n_pes && !rc; pe++)
        memcpy(dest + (size_t)pe * len, wsh_cells_data(&cells, WSH_CELL_OWN, pe), len);
    wsh_cells_end(&cells);
    return rc;
}

/* My block to offset `at` of everybody's dest. */
static int push(const struct wsh_blocks *blocks, char *dest, const void *src, size_t len)
{
    struct wsh_team *team = blocks->team;
    int rc = wsh_coll_copy_own(team, dest, src, len);

    for (int k = 1; k < team->n_pes && !rc; k++)
        rc = wsh_blocks_send(blocks, dest, src, len, wsh_blocks_turn(team, k));
    return rc ? rc : wsh_blocks_end(blocks);
}

/* The blocks of my domain to another leader: as few puts as there are rows of neighbours, the flag with the last. */
static int send_domain(const struct wsh_blocks *blocks, char *dest, size_t len, int leader)
{
    struct wsh_team *team = blocks->team;
    struct wsh_coll *coll = team->coll;
    int first = 0, rc = 0;

    for (int i = 1; i < coll->n_local && !rc; i++) {
        if (coll->local[i] == coll->local[i - 1] + 1)
            continue;
        rc = wsh_put_nbi(&coll->ctx, dest + (size_t)coll->local[first] * len,
                         dest + (size_t)coll->local[first] * len, (size_t)(i - first) * len, leader);
        first = i;
    }
    if (!rc && first)
        rc = wsh_fence(&coll->ctx);
    dest += (size_t)coll->local[first] * len;
    return rc ? rc : wsh_blocks_send(blocks, dest, dest, (size_t)(coll->n_local - first) * len, leader);
}

static int lead(const struct wsh_blocks *blocks, char *dest, const void *src, size_t len)
{
    struct wsh_team *team = blocks->team;
    struct wsh_coll *coll = team->coll;
    int rc = wsh_coll_copy_own(team, dest + (size_t)team->my_pe * len, src, len);

    if (!rc)
        rc = wsh_blocks_take(blocks, coll->local, coll->n_local);
    for (int k = 1; k < coll->n_domains && !rc; k++)
        rc = send_domain(blocks, dest, len, coll->leader[(coll->my_domain + k) % coll->n_domains]);
    return rc ? rc : wsh_blocks_take(blocks, coll->leader, coll->n_domains);
}

/* Members to their leader, leaders to each other, and all of it from the leader to the members. */
static int by_leaders(struct wsh_team *team, char *dest, const void *src, size_t len)
{
    struct wsh_coll *coll = team->coll;
    struct wsh_blocks blocks = wsh_blocks_begin(team, "shmem_fcollect");
    struct wsh_share share = {.routine = blocks.routine,
                              .rep = coll->local[0],
                              .to = dest,
                              .from = dest,
                              .len = len * (size_t)team->n_pes};
    int rc = wsh_coll_next_slot(team, share.routine, &share.slot);

    if (!rc)
        rc = coll->my_local ? wsh_blocks_send(&blocks, dest + (size_t)team->my_pe * len, src, len, share.rep)
                            : lead(&blocks, dest, src, len);
    if (!rc)
        rc = wsh_share(team, &share);
    wsh_coll_all_met(coll, blocks.before);
    return rc ? rc : wsh_quiet(&coll->ctx);
}

static bool is_host(const struct wsh_team *team, const void *dest, const void *src)
{
    return wsh_coll_is_host(team, dest) && wsh_coll_is_host(team, src);
}

int wsh_fcollect(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    enum wsh_algo algo = wsh_choice_find(WSH_COLL_FCOLLECT, team->coll->layout, team->n_pes, len);
    struct wsh_blocks blocks;

    if (algo == WSH_ALGO_CELLS && is_host(team, dest, src))
        return by_cells(team, dest, src, len);
    if (algo == WSH_ALGO_LEADERS)
        return by_leaders(team, dest, src, len);
    blocks = wsh_blocks_begin(team, "shmem_fcollect");
    return push(&blocks, (char *)dest + (size_t)team->my_pe * len, src, len);
}

/*
 * The sizes first. A member writes them again only in a later collect, which it begins after everybody has sent it its
 * block, and so has read them.
 */
int wsh_collect(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    uint64_t *sizes = (uint64_t *)(team->coll->base + team->coll->pad.sizes), mine = len;
    struct wsh_blocks blocks;
    size_t at = 0;
    int rc = wsh_fcollect(team, sizes, &mine, sizeof mine);

    if (rc)
        return rc;
    for (int pe = 0; pe < team->my_pe; pe++)
        at += sizes[pe];
    blocks = wsh_blocks_begin(team, "shmem_collect");
    return push(&blocks, (char *)dest + at, src, len);
}
