/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects over hosts: by leaders, or by the members of the same place on each host. */
#include "runtime/coll/algorithms/collect_hosts.h"

#include "runtime/coll/memory/blocks.h"
#include "runtime/coll/memory/ll.h"
#include "runtime/coll/memory/copy.h"
#include "runtime/coll/memory/share.h"
#include "runtime/op/order.h"
#include "runtime/op/rma.h"

size_t wsh_offsets_of(const struct wsh_offsets *offsets, int pe)
{
    size_t at = 0;

    if (!offsets->sizes)
        return (size_t)pe * offsets->len;
    while (pe--)
        at += offsets->sizes[pe];
    return at;
}

/* Sends the blocks of my domain to another leader: one put per run of consecutive members, the flag with the last. */
static int domain_send(const struct wsh_blocks *blocks, const struct wsh_offsets *offsets, int leader)
{
    struct wsh_coll *coll = blocks->team->coll;
    size_t begin = wsh_offsets_of(offsets, coll->local[0]), end;
    int rc = 0;

    for (int i = 1; i < coll->n_local && !rc; i++) {
        if (coll->local[i] == coll->local[i - 1] + 1)
            continue;
        end = wsh_offsets_of(offsets, coll->local[i - 1] + 1);
        rc = wsh_put_counted(&coll->ctx, offsets->dest + begin, offsets->dest + begin, end - begin, leader,
                             &coll->sending);
        if (!rc)
            rc = wsh_fence(&coll->ctx);
        begin = wsh_offsets_of(offsets, coll->local[i]);
    }
    end = wsh_offsets_of(offsets, coll->local[coll->n_local - 1] + 1);
    return rc ? rc
              : wsh_blocks_send(blocks, offsets->dest + begin, offsets->dest + begin, end - begin, leader);
}

/* To each other leader, and from each. */
static int domains_exchange(const struct wsh_blocks *blocks, const struct wsh_offsets *offsets)
{
    struct wsh_coll *coll = blocks->team->coll;
    int rc = 0;

    for (int k = 1; k < coll->n_domains && !rc; k++)
        rc = domain_send(blocks, offsets, coll->leader[(coll->my_domain + k) % coll->n_domains]);
    return rc ? rc : wsh_blocks_take(blocks, coll->leader, coll->n_domains);
}

/* The bytes of domains [from, end), in rows, to a leader; `more` comes behind them. */
static int range_send(const struct wsh_blocks *blocks, const struct wsh_offsets *offsets, int from, int end,
                      int to, bool more)
{
    struct wsh_coll *coll = blocks->team->coll;
    size_t begin = wsh_offsets_of(offsets, coll->leader[from]), stop;
    char *at = offsets->dest + begin;
    int rc;

    stop = wsh_offsets_of(offsets, end < coll->n_domains ? coll->leader[end] : blocks->team->n_pes);
    if (!more)
        return wsh_blocks_send(blocks, at, at, stop - begin, to);
    rc = wsh_put_counted(&coll->ctx, at, at, stop - begin, to, &coll->sending);
    return rc ? rc : wsh_fence(&coll->ctx);
}

/* Of `n` domains from mine on, around the end: what I have so far. Nobody writes any byte twice. */
static int domains_double(const struct wsh_blocks *blocks, const struct wsh_offsets *offsets)
{
    struct wsh_coll *coll = blocks->team->coll;
    int n = coll->n_domains, me = coll->my_domain, rc = 0;

    for (int have = 1; have < n && !rc; have *= 2) {
        int give = have < n - have ? have : n - have, to = coll->leader[(me - have + n) % n];

        if (me + give > n)
            rc = range_send(blocks, offsets, me, n, to, true);
        if (!rc && me + give > n)
            rc = range_send(blocks, offsets, 0, me + give - n, to, false);
        else if (!rc)
            rc = range_send(blocks, offsets, me, me + give, to, false);
        if (!rc)
            rc = wsh_blocks_take(blocks, &coll->leader[(me + have) % n], 1);
    }
    return rc;
}

typedef int exchange_fn(const struct wsh_blocks *blocks, const struct wsh_offsets *offsets);

static int collect_through(struct wsh_team *team, const struct wsh_offsets *offsets, const void *src,
                           size_t len, exchange_fn *exchange)
{
    struct wsh_coll *coll = team->coll;
    struct wsh_blocks blocks = wsh_blocks_begin(team, offsets->routine);
    struct wsh_share share = {.routine = blocks.routine,
                              .rep = coll->local[0],
                              .to = offsets->dest,
                              .from = offsets->dest,
                              .len = wsh_offsets_of(offsets, team->n_pes)};
    char *mine = offsets->dest + wsh_offsets_of(offsets, team->my_pe);
    int rc = wsh_share_begin(team, &share);

    if (!rc && coll->my_local)
        rc = wsh_blocks_send(&blocks, mine, src, len, share.rep);
    if (!rc && !coll->my_local)
        rc = wsh_coll_copy_own(team, mine, src, len);
    if (!rc && !coll->my_local)
        rc = wsh_blocks_take(&blocks, coll->local, coll->n_local);
    if (!rc && !coll->my_local)
        rc = exchange(&blocks, offsets);
    if (!rc)
        rc = wsh_share(team, &share);
    wsh_coll_all_entered(coll, blocks.before);
    return rc ? rc : wsh_coll_sent(coll);
}

int wsh_collect_by_leaders(struct wsh_team *team, const struct wsh_offsets *offsets, const void *src,
                           size_t len)
{
    return collect_through(team, offsets, src, len, domains_exchange);
}

int wsh_collect_by_doubling(struct wsh_team *team, const struct wsh_offsets *offsets, const void *src,
                            size_t len)
{
    return collect_through(team, offsets, src, len, domains_double);
}

/* What the other members of my host have, from their dest to mine. */
static void columns_copy(struct wsh_team *team, const struct wsh_offsets *offsets)
{
    const struct wsh_coll *coll = team->coll;
    size_t all = wsh_offsets_of(offsets, team->n_pes), len = offsets->len;
    wsh_copy_fn *copy = wsh_coll_copy_for(all * (size_t)coll->n_local * 2);

    for (int k = 1; k < coll->n_local; k++) {
        int column = (coll->my_local + k) % coll->n_local;
        const char *theirs = wsh_coll_map(team, offsets->dest, all, coll->local[column]);

        for (int d = 0; d < coll->n_domains; d++) {
            size_t at = wsh_offsets_of(offsets, coll->leader[d] + column);

            copy(offsets->dest + at, theirs + at, len);
        }
    }
}

int wsh_collect_by_rails(struct wsh_team *team, const struct wsh_offsets *offsets, const void *src,
                         size_t len)
{
    struct wsh_coll *coll = team->coll;
    const struct wsh_blocks blocks = wsh_blocks_begin(team, offsets->routine);
    char *mine = offsets->dest + wsh_offsets_of(offsets, team->my_pe);
    int rc = wsh_coll_copy_own(team, mine, src, len);

    for (int k = 1; k < coll->n_domains && !rc; k++)
        rc = wsh_blocks_send(&blocks, mine, src, len, coll->column[(coll->my_domain + k) % coll->n_domains]);
    if (!rc)
        rc = wsh_blocks_take(&blocks, coll->column, coll->n_domains);
    if (!rc)
        rc = wsh_ll_sync(team, offsets->routine); /* all of my host have theirs */
    if (!rc)
        columns_copy(team, offsets);
    if (!rc)
        rc = wsh_ll_sync(team, offsets->routine); /* and have read mine */
    wsh_coll_all_entered(coll, blocks.before);
    return rc ? rc : wsh_coll_sent(coll);
}
