/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts tallied writes at both ends. */
#include "transports/efa/ops/tally.h"

#include "transports/efa/set/set.h"
#include "transports/efa/set/errors.h"

#define LAZY_ROW \
    ((uint32_t)1 << 30) /* lazy messages of a flow in a row: their numbers are compared modulo 2^32 */

/*
 * Behind more data an answer costs nothing, and TCP paced by the rate at which its peer answers (BBR) is slower without
 * it: a broadcast of 1 MiB took 1.17 times as long.
 */
#define LAZY_DATA ((size_t)512 << 10)

bool wsh_efa_tally_fits(const struct wsh_efa_set *set, int pe, uint32_t counter)
{
    return set->imm && set->peers[pe].link.imms_max && counter < WSH_SRD_IMM_COUNTERS;
}

/* What is sent to the flow only on request. */
static void list_late(struct wsh_efa_flow *flow)
{
    if (flow->late)
        return;
    flow->late = true;
    flow->next_late = flow->ctx->late;
    flow->ctx->late = flow;
}

void wsh_efa_tally_started(struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    flow->tallies = set->peers[flow->pe].link.tallies;
    list_late(flow);
    if (flow->uncounted)
        return;
    __atomic_store_n(&flow->uncounted, true, __ATOMIC_RELAXED);
    wsh_efa_count_add(&flow->ctx->n_uncounted);
}

/*
 * The target acknowledges half of a flow's window, lazy or not; flows with less under way must leave some credits:
 * those of collectives half of them, since other contexts send to the same peer.
 */
bool wsh_efa_tally_may_be_lazy(const struct wsh_efa_set *set, const struct wsh_efa_flow *flow, size_t data,
                               bool counts)
{
    uint32_t most = set->peers[flow->pe].link.msgs_max;

    if ((!counts && !flow->ctx->base.lazy) || flow->srd.sent - flow->prompt_end >= LAZY_ROW ||
        data > LAZY_DATA)
        return false;
    return flow->srd.sent - flow->srd.acked >= (flow->srd.window + 1) / 2 ||
           set->peers[flow->pe].tally.lazy < (counts ? most - most / 8 - 1 : most / 2);
}

void wsh_efa_tally_sent(struct wsh_efa_set *set, struct wsh_efa_flow *flow, bool lazy)
{
    if (!lazy) {
        flow->prompt_end = flow->srd.sent + 1;
        return;
    }
    flow->lazy_end = flow->srd.sent + 1;
    set->peers[flow->pe].tally.lazy++;
    wsh_efa_count_add(&flow->ctx->n_lazy);
    list_late(flow);
}

void wsh_efa_tally_applied(struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    set->peers[flow->pe].tally.lazy--;
    wsh_efa_count_sub(&flow->ctx->n_lazy);
}

/* Relaxed: who waits calls it again. The NIC alone tells when the source of a write may be reused. */
void wsh_efa_tally_await(struct wsh_tctx *tctx, bool unread)
{
    struct wsh_efa_ctx *ctx = (struct wsh_efa_ctx *)tctx;

    if (!wsh_efa_count_read(&ctx->n_lazy) && (unread || !wsh_efa_count_read(&ctx->n_uncounted)))
        return;
    __atomic_store_n(&ctx->awaited, true, __ATOMIC_RELAXED);
    __atomic_store_n(&ctx->set->tallies.awaited, true, __ATOMIC_RELAXED);
}

uint32_t wsh_efa_ctx_uncounted(const struct wsh_efa_ctx *ctx, const struct wsh_efa_flow *flow)
{
    return flow ? __atomic_load_n(&flow->uncounted, __ATOMIC_ACQUIRE) : wsh_efa_count_read(&ctx->n_uncounted);
}

static void ack_later(struct wsh_efa_set *set, struct wsh_efa_tally *tally)
{
    set->tallies.n_acks += !tally->ack_due;
    tally->ack_due = true;
}

/*
 * What the peer requested is here, or it may soon lack credits: it has what both of us can take, which is less than
 * set->limits.imms where it has more endpoint sets.
 */
static bool is_due(const struct wsh_efa_peer *peer)
{
    const struct wsh_efa_tally *tally = &peer->tally;
    uint32_t unacked = tally->counted - tally->acked;

    return unacked && ((tally->has_wanted && !wsh_srd_before(tally->counted, tally->wanted)) ||
                       unacked >= (peer->link.imms_max + 1) / 2);
}

int wsh_efa_tally_count(struct wsh_efa_set *set, int pe, uint32_t counter, uint32_t generation)
{
    struct wsh_efa_tally *tally = &set->peers[pe].tally;
    int rc;

    wsh_order_returns(); /* what the NIC has written comes before the count */
    rc = set->tallies.count(set->core, counter, generation, 1);
    if (rc)
        return wsh_efa_set_fail(
            set, rc,
            "PE %d has put with counter %u, which is not in use here, or not any more; destroy "
            "counters only when nothing puts with them",
            pe, counter);
    tally->counted++;
    if (is_due(&set->peers[pe]))
        ack_later(set, tally);
    return 0;
}

void wsh_efa_tally_requested(struct wsh_efa_set *set, int pe, uint32_t tallies)
{
    struct wsh_efa_tally *tally = &set->peers[pe].tally;

    if (!tally->has_wanted || wsh_srd_before(tally->wanted, tallies)) /* an earlier request may come later */
        tally->wanted = tallies;
    tally->has_wanted = wsh_srd_before(tally->acked, tally->wanted);
    if (is_due(&set->peers[pe]))
        ack_later(set, tally);
}

static void settle_ctx(struct wsh_efa_ctx *ctx, int pe, uint32_t tallied)
{
    struct wsh_efa_flow *flow = ctx->flow[pe];

    if (!flow || !flow->uncounted || wsh_srd_before(tallied, flow->tallies))
        return;
    __atomic_store_n(&flow->uncounted, false, __ATOMIC_RELEASE);
    wsh_efa_count_sub(&ctx->n_uncounted);
}

int wsh_efa_tally_acked(struct wsh_efa_set *set, int pe, uint32_t tallied)
{
    int rc = wsh_srd_link_tallied(&set->peers[pe].link, tallied);

    if (rc <= 0)
        return rc;
    set->peers[pe].acks++;
    for (uint32_t i = 0; i < set->n_ctxs; i++)
        settle_ctx(set->ctxs[i], pe, tallied);
    return 0;
}
