/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how everybody's block reaches everybody: by cells, straight to all, or once to each host. */
#include "runtime/coll/coll.h"

#include "runtime/coll/blocks.h"
#include "runtime/coll/cells.h"
#include "runtime/coll/copy.h"
#include "runtime/coll/share.h"
#include "runtime/order.h"
#include "runtime/rma.h"

#include <string.h>

#define ROUTINE "shmem_collect"

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

static bool is_host(const struct wsh_team *team, const void *dest, const void *src)
{
    return wsh_coll_is_host(team, dest) && wsh_coll_is_host(team, src);
}

/* My block to offset `at` of everybody's dest. */
static int push(const struct wsh_blocks *blocks, char *dest, const void *src, size_t len)
{
    struct wsh_team *team = blocks->team;
    int rc;

    if (!is_host(team, dest, src))
        return wsh_blocks_device(blocks, dest, src, 0, len);
    rc = wsh_coll_copy_own(team, dest, src, len);
    for (int k = 1; k < team->n_pes && !rc; k++)
        rc = wsh_blocks_send(blocks, dest, src, len, wsh_blocks_turn(team, k));
    return rc ? rc : wsh_blocks_end(blocks);
}

/* Where blocks are in dest: all of `len` bytes, or each of its own size. */
struct places {
    char *dest;
    size_t len;
    const uint64_t *sizes; /* [n_pes], or NULL */
};

static size_t offset_of(const struct places *places, int pe)
{
    size_t at = 0;

    if (!places->sizes)
        return (size_t)pe * places->len;
    while (pe--)
        at += places->sizes[pe];
    return at;
}

/* The blocks of my domain to another leader: as few puts as there are rows of neighbours, the flag with the last. */
static int send_domain(const struct wsh_blocks *blocks, const struct places *places, int leader)
{
    struct wsh_coll *coll = blocks->team->coll;
    size_t begin = offset_of(places, coll->local[0]), end;
    int rc = 0;

    for (int i = 1; i < coll->n_local && !rc; i++) {
        if (coll->local[i] == coll->local[i - 1] + 1)
            continue;
        end = offset_of(places, coll->local[i - 1] + 1);
        rc = wsh_put_nbi(&coll->ctx, places->dest + begin, places->dest + begin, end - begin, leader);
        if (!rc)
            rc = wsh_fence(&coll->ctx);
        begin = offset_of(places, coll->local[i]);
    }
    end = offset_of(places, coll->local[coll->n_local - 1] + 1);
    return rc ? rc : wsh_blocks_send(blocks, places->dest + begin, places->dest + begin, end - begin, leader);
}

static int lead(const struct wsh_blocks *blocks, const struct places *places)
{
    struct wsh_coll *coll = blocks->team->coll;
    int rc = wsh_blocks_take(blocks, coll->local, coll->n_local);

    for (int k = 1; k < coll->n_domains && !rc; k++)
        rc = send_domain(blocks, places, coll->leader[(coll->my_domain + k) % coll->n_domains]);
    return rc ? rc : wsh_blocks_take(blocks, coll->leader, coll->n_domains);
}

/* Members to their leader, leaders to each other, and all of it from the leader to the members. */
static int by_leaders(struct wsh_team *team, const struct places *places, const void *src, size_t len)
{
    struct wsh_coll *coll = team->coll;
    struct wsh_blocks blocks = wsh_blocks_begin(team, ROUTINE);
    struct wsh_share share = {.routine = blocks.routine,
                              .rep = coll->local[0],
                              .to = places->dest,
                              .from = places->dest,
                              .len = offset_of(places, team->n_pes)};
    char *mine = places->dest + offset_of(places, team->my_pe);
    int rc = wsh_coll_next_slot(team, share.routine, &share.slot);

    if (!rc && coll->my_local)
        rc = wsh_blocks_send(&blocks, mine, src, len, share.rep);
    if (!rc && !coll->my_local)
        rc = wsh_coll_copy_own(team, mine, src, len);
    if (!rc && !coll->my_local)
        rc = lead(&blocks, places);
    if (!rc)
        rc = wsh_share(team, &share);
    wsh_coll_all_met(coll, blocks.before);
    return rc ? rc : wsh_quiet(&coll->ctx);
}

/*
 * Recursive doubling: each time as many blocks as one has so far, to the member whose number differs in the next bit.
 * For a power of two.
 */
static int by_rounds(struct wsh_team *team, const char *routine, const struct places *places, const void *src,
                     size_t len)
{
    struct wsh_coll *coll = team->coll;
    const struct wsh_blocks blocks = wsh_blocks_begin(team, routine);
    int rc = wsh_coll_copy_own(team, places->dest + offset_of(places, team->my_pe), src, len);

    for (int bit = 1; bit < team->n_pes && !rc; bit <<= 1) {
        int other = team->my_pe ^ bit, first = team->my_pe & -bit;
        size_t begin = offset_of(places, first), end = offset_of(places, first + bit);

        rc = wsh_blocks_send(&blocks, places->dest + begin, places->dest + begin, end - begin, other);
        if (!rc)
            rc = wsh_blocks_take(&blocks, &other, 1);
    }
    wsh_coll_all_met(coll, blocks.before);
    return rc ? rc : wsh_coll_sent(coll);
}

static bool goes_by_rounds(const struct wsh_team *team, size_t len)
{
    return !(team->n_pes & (team->n_pes - 1)) &&
           wsh_choice_find(WSH_COLL_FCOLLECT, team->coll->layout, team->n_pes, len) == WSH_ALGO_ROUNDS;
}

/* The first sync says that every src is ready, the second that all of it was read. */
static int pull(struct wsh_team *team, const struct places *places, const void *src)
{
    size_t all = offset_of(places, team->n_pes);
    wsh_copy_fn *copy = wsh_coll_copy_for(all + (size_t)team->n_pes * all);
    int rc = wsh_sync(team, ROUTINE);

    team->coll->pulls++;
    for (int k = 0; k < team->n_pes && !rc; k++) {
        int pe = wsh_blocks_pull_turn(team, k);
        size_t len = places->sizes ? places->sizes[pe] : places->len;

        copy(places->dest + offset_of(places, pe), wsh_coll_map(team, src, len, pe), len);
    }
    return rc ? rc : wsh_sync(team, ROUTINE);
}

int wsh_fcollect(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    const struct places places = {dest, len, NULL};
    enum wsh_algo algo = wsh_choice_find(WSH_COLL_FCOLLECT, team->coll->layout, team->n_pes, len);
    struct wsh_blocks blocks;

    if (algo == WSH_ALGO_CELLS && is_host(team, dest, src))
        return by_cells(team, dest, src, len);
    if (algo == WSH_ALGO_LEADERS)
        return by_leaders(team, &places, src, len);
    if (algo == WSH_ALGO_PULL && wsh_coll_can_pull(team, dest, src, len))
        return pull(team, &places, src);
    if (goes_by_rounds(team, len))
        return by_rounds(team, "shmem_fcollect", &places, src, len);
    blocks = wsh_blocks_begin(team, "shmem_fcollect");
    return push(&blocks, (char *)dest + (size_t)team->my_pe * len, src, len);
}

/* The largest block, or 0 if a member has none: its src need not be that of the others, which it cannot read then. */
static size_t readable(const uint64_t *sizes, int n)
{
    size_t max = 0;

    for (int i = 0; i < n; i++) {
        if (!sizes[i])
            return 0;
        max = sizes[i] > max ? sizes[i] : max;
    }
    return max;
}

/* The sizes first: two arrays in turn, as who is ahead writes those of the next collect while others still read. */
int wsh_collect(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    struct wsh_coll *coll = team->coll;
    uint64_t *sizes = (uint64_t *)(coll->base + coll->pad.sizes), mine = len;
    struct places places = {dest, 0, sizes + (++coll->collects & 1) * (size_t)team->n_pes};
    struct wsh_blocks blocks;
    size_t max;
    int rc = wsh_fcollect(team, (void *)places.sizes, &mine, sizeof mine);

    if (rc)
        return rc;
    if (wsh_choice_find(WSH_COLL_FCOLLECT, coll->layout, team->n_pes, SIZE_MAX) == WSH_ALGO_LEADERS)
        return by_leaders(team, &places, src, len);
    max = readable(places.sizes, team->n_pes);
    if (wsh_choice_find(WSH_COLL_FCOLLECT, coll->layout, team->n_pes, max) == WSH_ALGO_PULL &&
        wsh_coll_can_pull(team, dest, src, max))
        return pull(team, &places, src);
    if (goes_by_rounds(team, max))
        return by_rounds(team, ROUTINE, &places, src, len);
    blocks = wsh_blocks_begin(team, ROUTINE);
    return push(&blocks, (char *)dest + offset_of(&places, team->my_pe), src, len);
}
