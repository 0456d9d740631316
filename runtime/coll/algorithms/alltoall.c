/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges a block with every member: by LL lines, by puts into dest with a signal, or by reading. */
#include "runtime/coll/coll.h"

#include "base/atomic.h"
#include "runtime/coll/algorithms/alltoall_grid.h"
#include "runtime/coll/algorithms/alltoall_rails.h"
#include "runtime/coll/memory/blocks.h"
#include "runtime/coll/memory/ll.h"
#include "runtime/coll/memory/copy.h"
#include "runtime/coll/choose/dispatch.h"
#include "runtime/op/rma.h"

#include <string.h>

#define ROUTINE "shmem_alltoall"
#define STRIDED "shmem_alltoalls"

/* `n` elements of `width` bytes, that many elements apart; most often they are one word. */
static inline void elements_copy(char *dest, ptrdiff_t to, const char *src, ptrdiff_t from, size_t n,
                                 size_t width)
{
    if (wsh_likely(n == 1 && width == sizeof(uint64_t))) {
        memcpy(dest, src, sizeof(uint64_t));
        return;
    }
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++)
        memcpy(dest + i * to * (ptrdiff_t)width, src + i * from * (ptrdiff_t)width, width);
}

/* Most often one line holds them all; a division takes as long as writing it. */
static inline int blocks_in_line(size_t len, int n_pes)
{
    return WSH_LINE_DATA >= (size_t)n_pes * len ? n_pes : (int)(WSH_LINE_DATA / len);
}

/* The number, among each member's lines, of the line that has the block for me. */
static inline int line_mine(const struct wsh_team *team, int in_line)
{
    return team->my_pe < in_line ? 0 : team->my_pe / in_line;
}

/* The offset of the block for me in a member's sync area. */
static inline size_t block_mine(const struct wsh_ll *ll, int line, int in_line, size_t len)
{
    return wsh_ll_exchange_line(ll, line) + (size_t)(ll->team->my_pe - line * in_line) * len;
}

/*
 * A member writes a few lines of its own, and each other member reads one of them: fewer lines move between cores than
 * if each wrote to all. With more members than cores, a line also serves several readers on the same core.
 */
static inline void lines_write(const struct wsh_ll *ll, const char *src, size_t len, int in_line)
{
    char *base = ll->team->coll->base;
    size_t left = (size_t)ll->team->n_pes * len, full = (size_t)in_line * len;
    int line = 0;

    for (; left > full; left -= full, src += full) {
        memcpy(base + wsh_ll_exchange_line(ll, line), src, full);
        wsh_ll_exchange_show(ll, line++);
    }
    memcpy(base + wsh_ll_exchange_line(ll, line), src, left);
    wsh_ll_exchange_show(ll, line);
}

static WSH_NO_ARRAYS int alltoall_by_ll(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    const struct wsh_ll ll = wsh_ll_begin(team, ROUTINE);
    int n = team->n_pes, in_line = blocks_in_line(len, n), line = line_mine(team, in_line), rc;
    size_t mine = block_mine(&ll, line, in_line, len);
    char *const *peer = team->coll->peer, *to = dest;

    lines_write(&ll, src, len, in_line);
    rc = wsh_ll_exchange_await(&ll, line, team->coll->all, n);
    for (int pe = 0; pe < n && !rc; pe++, to += len)
        wsh_ll_copy(to, peer[pe] + mine, len);
    wsh_ll_end(&ll);
    return rc;
}

static void strided_write(const struct wsh_ll *ll, const char *src, const struct wsh_alltoalls *shape,
                          int in_line)
{
    size_t len = shape->nelems * shape->width;
    int n = ll->team->n_pes;

    for (int pe = 0, line = 0; pe < n; line++) {
        char *to = ll->team->coll->base + wsh_ll_exchange_line(ll, line);

        for (int i = 0; i < in_line && pe < n; i++, pe++, to += len, src += len * (size_t)shape->sst)
            elements_copy(to, 1, src, shape->sst, shape->nelems, shape->width);
        wsh_ll_exchange_show(ll, line);
    }
}

static int alltoalls_by_ll(struct wsh_team *team, void *dest, const void *src,
                           const struct wsh_alltoalls *shape)
{
    size_t len = shape->nelems * shape->width;
    const struct wsh_ll ll = wsh_ll_begin(team, STRIDED);
    int n = team->n_pes, in_line = blocks_in_line(len, n), line = line_mine(team, in_line), rc;
    size_t mine = block_mine(&ll, line, in_line, len);
    char *to = dest;

    strided_write(&ll, src, shape, in_line);
    rc = wsh_ll_exchange_await(&ll, line, team->coll->all, n);
    for (int pe = 0; pe < n && !rc; pe++, to += len * (size_t)shape->dst)
        elements_copy(to, shape->dst, team->coll->peer[pe] + mine, 1, shape->nelems, shape->width);
    wsh_ll_end(&ll);
    return rc;
}

/* The first sync says that every src is ready, the second that all of it was read. */
static int blocks_pull(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    const char *mine = (const char *)src + (size_t)team->my_pe * len;
    wsh_copy_fn *copy = wsh_coll_copy_for((size_t)team->n_pes * (size_t)team->n_pes * len * 2);
    int rc = wsh_sync(team, ROUTINE);

    team->coll->pulls++;
    for (int k = 0; k < team->n_pes && !rc; k++) {
        int pe = wsh_blocks_pull_turn(team, k);

        copy((char *)dest + (size_t)pe * len, wsh_coll_map(team, mine, len, pe), len);
    }
    return rc ? rc : wsh_sync(team, ROUTINE);
}

static WSH_NO_ARRAYS int blocks_push(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    struct wsh_blocks blocks = wsh_blocks_begin(team, ROUTINE);
    size_t mine = (size_t)team->my_pe * len;
    int rc = 0;

    if (!wsh_coll_is_host(team, dest) || !wsh_coll_is_host(team, src))
        return wsh_blocks_device(&blocks, (char *)dest + mine, src, len, len);
    for (int k = 1; k < team->n_pes && !rc; k++) {
        int pe = wsh_blocks_turn(team, k);

        rc = wsh_blocks_send(&blocks, (char *)dest + mine, (const char *)src + (size_t)pe * len, len, pe);
    }
    if (!rc)
        rc = wsh_coll_copy_own(team, (char *)dest + mine, (const char *)src + mine, len);
    return rc ? rc : wsh_blocks_end(&blocks);
}

static int alltoall_by_grid(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    return (wsh_choice_across(team->n_pes) ? wsh_alltoall_grid : blocks_push)(team, dest, src, len);
}

wsh_alltoall_fn *const wsh_alltoall_by[WSH_ALGOS] = {
    [WSH_ALGO_LL] = alltoall_by_ll, [WSH_ALGO_GRID] = alltoall_by_grid,    [WSH_ALGO_PUSH] = blocks_push,
    [WSH_ALGO_PULL] = blocks_pull,  [WSH_ALGO_RAILS] = wsh_alltoall_rails,
};

WSH_NO_ARRAYS int wsh_alltoall(struct wsh_team *team, void *dest, const void *src, size_t len)
{
    const struct wsh_coll_request request = {WSH_COLL_ALLTOALL,        team->n_pes, len, dest, src,
                                             len * (size_t)team->n_pes};

    return wsh_alltoall_by[wsh_coll_choose(team, &request)](team, dest, src, len);
}

/* Elements k, k + 1 … of the block from me to `pe`: the team's blocks follow each other at the same stride. */
static int strided_send(const struct wsh_blocks *blocks, void *dest, const void *src,
                        const struct wsh_alltoalls *shape, int pe)
{
    struct wsh_team *team = blocks->team;
    size_t width = shape->width, block = shape->nelems * width;
    const struct wsh_strided strided = {shape->dst * (ptrdiff_t)width, shape->sst * (ptrdiff_t)width, width,
                                        shape->nelems};
    char *to = (char *)dest + (size_t)team->my_pe * block * (size_t)shape->dst;
    const char *from = (const char *)src + (size_t)pe * block * (size_t)shape->sst;

    return pe == team->my_pe ? wsh_iput(&team->coll->ctx, to, from, &strided, pe)
                             : wsh_blocks_send_strided(blocks, to, from, &strided, pe);
}

static int strided_push(struct wsh_team *team, void *dest, const void *src, const struct wsh_alltoalls *shape)
{
    struct wsh_blocks blocks = wsh_blocks_begin(team, STRIDED);
    int rc = 0;

    for (int k = 1; k <= team->n_pes && !rc; k++)
        rc = strided_send(&blocks, dest, src, shape, wsh_blocks_turn(team, k));
    return rc ? rc : wsh_blocks_end(&blocks);
}

wsh_alltoalls_fn *const wsh_alltoalls_by[WSH_ALGOS] = {
    [WSH_ALGO_LL] = alltoalls_by_ll,
    [WSH_ALGO_PUSH] = strided_push,
};

int wsh_alltoalls(struct wsh_team *team, void *dest, const void *src, const struct wsh_alltoalls *shape)
{
    size_t len = shape->nelems * shape->width;
    const struct wsh_coll_request request = {WSH_COLL_ALLTOALLS, team->n_pes, len, dest, src, len};

    if (shape->dst == 1 && shape->sst == 1)
        return wsh_alltoall(team, dest, src, len);
    return wsh_alltoalls_by[wsh_coll_choose(team, &request)](team, dest, src, shape);
}
