/* SPDX-License-Identifier: BSD-3-Clause */
/* Brings the block of each member to all members: by LL lines, directly to all, or once to each host. */
#include "runtime/coll/coll.h"

#include "base/log.h"
#include "runtime/coll/memory/blocks.h"
#include "runtime/coll/memory/ll.h"
#include "runtime/coll/algorithms/collect_hosts.h"
#include "runtime/coll/memory/copy.h"
#include "runtime/coll/choose/dispatch.h"
#include "runtime/job/job.h"
#include "runtime/op/order.h"
#include "runtime/op/rma.h"

#include <string.h>

static WSH_NO_ARRAYS int collect_by_ll(struct wsh_team *team, const struct wsh_offsets *offsets,
                                       const void *src, size_t len)
{
    struct wsh_ll ll = wsh_ll_begin(team, offsets->routine);
    size_t at = wsh_ll_offset(&ll, WSH_LL_OWN);
    char *const *peer = team->coll->peer, *dest = offsets->dest;
    int n = team->n_pes, rc;

    wsh_ll_write(&ll, WSH_LL_OWN, src, len);
    rc = wsh_ll_await(&ll, WSH_LL_OWN, team->coll->all, n);
    for (int pe = 0; pe < n && !rc; pe++, dest += len)
        wsh_ll_copy(dest, peer[pe] + at, len);
    wsh_ll_end(&ll);
    return rc;
}

/* My block to its place in the dest of every member. */
static int collect_push(struct wsh_team *team, const struct wsh_offsets *offsets, const void *src, size_t len)
{
    const struct wsh_blocks blocks = wsh_blocks_begin(team, offsets->routine);
    char *dest = offsets->dest + wsh_offsets_of(offsets, team->my_pe);
    int rc;

    if (!wsh_coll_is_host(team, dest) || !wsh_coll_is_host(team, src))
        return wsh_blocks_device(&blocks, dest, src, 0, len);
    rc = wsh_coll_copy_own(team, dest, src, len);
    for (int k = 1; k < team->n_pes && !rc; k++)
        rc = wsh_blocks_send(&blocks, dest, src, len, wsh_blocks_turn(team, k));
    return rc ? rc : wsh_blocks_end(&blocks);
}

/*
 * Recursive doubling, for a power of two members: in step i, all blocks that this member has go to the member whose
 * number differs in bit i.
 */
static int collect_by_rounds(struct wsh_team *team, const struct wsh_offsets *offsets, const void *src,
                             size_t len)
{
    struct wsh_coll *coll = team->coll;
    const struct wsh_blocks blocks = wsh_blocks_begin(team, offsets->routine);
    int rc = wsh_coll_copy_own(team, offsets->dest + wsh_offsets_of(offsets, team->my_pe), src, len);

    for (int bit = 1; bit < team->n_pes && !rc; bit <<= 1) {
        int other = team->my_pe ^ bit, first = team->my_pe & -bit;
        size_t begin = wsh_offsets_of(offsets, first), end = wsh_offsets_of(offsets, first + bit);

        rc = wsh_blocks_send(&blocks, offsets->dest + begin, offsets->dest + begin, end - begin, other);
        if (!rc)
            rc = wsh_blocks_take(&blocks, &other, 1);
    }
    wsh_coll_all_entered(coll, blocks.before);
    return rc ? rc : wsh_coll_sent(coll);
}

/* The first sync says that every src is ready, the second that all of it was read. */
static int collect_pull(struct wsh_team *team, const struct wsh_offsets *offsets, const void *src,
                        size_t mine)
{
    size_t all = wsh_offsets_of(offsets, team->n_pes);
    wsh_copy_fn *copy = wsh_coll_copy_for(all + (size_t)team->n_pes * all);
    int rc = wsh_sync(team, offsets->routine);

    (void)mine; /* as the others know */
    team->coll->pulls++;
    for (int k = 0; k < team->n_pes && !rc; k++) {
        int pe = wsh_blocks_pull_turn(team, k);
        size_t len = offsets->sizes ? offsets->sizes[pe] : offsets->len;

        copy(offsets->dest + wsh_offsets_of(offsets, pe), wsh_coll_map(team, src, len, pe), len);
    }
    return rc ? rc : wsh_sync(team, offsets->routine);
}

wsh_collect_fn *const wsh_fcollect_by[WSH_ALGOS] = {
    [WSH_ALGO_LL] = collect_by_ll,
    [WSH_ALGO_DOUBLING] = wsh_collect_by_doubling,
    [WSH_ALGO_LEADERS] = wsh_collect_by_leaders,
    [WSH_ALGO_PULL] = collect_pull,
    [WSH_ALGO_PUSH] = collect_push,
    [WSH_ALGO_RAILS] = wsh_collect_by_rails,
    [WSH_ALGO_ROUNDS] = collect_by_rounds,
};

WSH_NO_ARRAYS int wsh_fcollect(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    const struct wsh_offsets offsets = {dest, len, NULL, "shmem_fcollect"};
    const struct wsh_coll_request request = {WSH_COLL_FCOLLECT, team->n_pes, len, dest, src, len};

    return wsh_fcollect_by[wsh_coll_choose(team, &request)](team, &offsets, src, len);
}

/*
 * The largest block; or 0 if a member has none: then its src may differ from those of the others, and cannot be read by
 * them.
 */
static size_t sizes_readable(const uint64_t *sizes, int n)
{
    size_t max = 0;

    for (int i = 0; i < n; i++) {
        if (!sizes[i])
            return 0;
        max = sizes[i] > max ? sizes[i] : max;
    }
    return max;
}

/* CELLS: blocks that all came with their sizes are here already, and nothing is called; other small ones are pushed. */
wsh_collect_fn *const wsh_collect_by[WSH_ALGOS] = {
    [WSH_ALGO_LL] = collect_push,
    [WSH_ALGO_DOUBLING] = wsh_collect_by_doubling,
    [WSH_ALGO_LEADERS] = wsh_collect_by_leaders,
    [WSH_ALGO_PULL] = collect_pull,
    [WSH_ALGO_PUSH] = collect_push,
    [WSH_ALGO_ROUNDS] = collect_by_rounds,
};

/*
 * 0 if all blocks fit in memory from dest on; no member knew their sum before. A sum that overflows stays SIZE_MAX,
 * which never fits.
 */
static int offsets_check(struct wsh_team *team, const struct wsh_offsets *offsets)
{
    size_t sum = 0, off;

    for (int i = 0; i < team->n_pes; i++)
        if (__builtin_add_overflow(sum, offsets->sizes[i], &sum))
            sum = SIZE_MAX;
    if (!sum || wsh_heap_find(&team->job->heap, offsets->dest, sum, &off) >= 0)
        return 0;
    wsh_error("shmem_collect: dest: the blocks of all PEs are %zu bytes, which reach beyond the end of "
              "symmetric memory at "
              "%p; make dest as large as their sum",
              sum, (void *)offsets->dest);
    return -EINVAL;
}

/* What a member says of its block, in its LL line. */
struct block_head {
    uint64_t len;
    uint64_t follows; /* the block does */
};

/* On one host. *follow: the blocks of all members are in their LL lines. */
static int sizes_by_ll(const struct wsh_ll *ll, uint64_t *sizes, const struct block_head *mine,
                       const void *src, bool *follow)
{
    struct wsh_team *team = ll->team;
    char block[WSH_LL_DATA];
    int rc;

    memcpy(block, mine, sizeof *mine);
    if (mine->follows)
        memcpy(block + sizeof *mine, src, mine->len);
    wsh_ll_write(ll, WSH_LL_OWN, block, sizeof *mine + (mine->follows ? mine->len : 0));
    rc = wsh_ll_await(ll, WSH_LL_OWN, team->coll->all, team->n_pes);
    *follow = true;
    for (int pe = 0; pe < team->n_pes && !rc; pe++) {
        struct block_head head;

        memcpy(&head, wsh_ll_data(ll, WSH_LL_OWN, pe), sizeof head);
        sizes[pe] = head.len;
        *follow &= head.follows;
    }
    wsh_ll_end(ll);
    return rc;
}

/* No member writes its LL line again before this one has begun the next epoch. */
static void ll_collect(const struct wsh_ll *ll, const struct wsh_offsets *offsets)
{
    char *dest = offsets->dest;

    for (int pe = 0; pe < ll->team->n_pes; dest += offsets->sizes[pe++])
        if (offsets->sizes[pe])
            memcpy(dest, (const char *)wsh_ll_data(ll, WSH_LL_OWN, pe) + sizeof(struct block_head),
                   offsets->sizes[pe]);
}

/* Small blocks come beside their sizes. */
static int collect_on_host(struct wsh_team *team, const struct wsh_offsets *offsets, uint64_t *sizes,
                           const void *src, struct wsh_coll_request *request)
{
    const struct wsh_ll ll = wsh_ll_begin(team, offsets->routine);
    const struct block_head mine = {request->len, wsh_coll_choose(team, request) == WSH_ALGO_LL};
    bool follow;
    int rc = sizes_by_ll(&ll, sizes, &mine, src, &follow);

    if (!rc)
        rc = offsets_check(team, offsets);
    if (rc)
        return rc;
    if (follow) {
        ll_collect(&ll, offsets);
        return 0;
    }
    request->len = request->span = sizes_readable(sizes, team->n_pes);
    return wsh_collect_by[wsh_coll_choose(team, request)](team, offsets, src, mine.len);
}

/*
 * Exchanges the sizes first, in two arrays alternately: a member that is ahead writes one while others still read the
 * other.
 */
int wsh_collect(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    struct wsh_coll *coll = team->coll;
    uint64_t *sizes = (uint64_t *)(coll->base + coll->area.sizes), mine = len;
    const struct wsh_offsets offsets = {dest, 0, sizes + (++coll->collects & 1) * (size_t)team->n_pes,
                                        "shmem_collect"};
    struct wsh_coll_request request = {WSH_COLL_COLLECT, team->n_pes, len, dest, src, len};
    int rc;

    if (coll->layout == WSH_LAYOUT_ONE)
        return collect_on_host(team, &offsets, (uint64_t *)offsets.sizes, src, &request);
    rc = wsh_fcollect(team, (void *)offsets.sizes, &mine, sizeof mine);
    if (!rc)
        rc = offsets_check(team, &offsets);
    if (rc)
        return rc;
    request.len = request.span = sizes_readable(offsets.sizes, team->n_pes);
    return wsh_collect_by[wsh_coll_choose(team, &request)](team, &offsets, src, len);
}
