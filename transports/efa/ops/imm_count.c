/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts counter writes at both ends. */
#include "transports/efa/ops/imm_count.h"

#include "base/invariant.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/errors.h"

#define LAZY_ROW \
    ((uint32_t)1 << 30) /* lazy messages of a flow in a row: their numbers are compared modulo 2^32 */

/*
 * Behind more data an answer costs nothing, and TCP paced by the rate at which its peer answers (BBR) is slower without
 * it: a broadcast of 1 MiB took 1.17 times as long.
 */
#define LAZY_DATA ((size_t)512 << 10)

bool wsh_efa_imm_count_fits(const struct wsh_efa_set *set, int pe, uint32_t counter)
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

void wsh_efa_imm_count_started(struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    flow->counter_writes = set->peers[flow->pe].link.counter_writes;
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
bool wsh_efa_lazy_fits(const struct wsh_efa_set *set, const struct wsh_efa_flow *flow, size_t data,
                       bool counts)
{
    uint32_t most = set->peers[flow->pe].link.msgs_max;

    if ((!counts && !flow->ctx->base.lazy) || flow->srd.sent - flow->prompt_end >= LAZY_ROW ||
        data > LAZY_DATA)
        return false;
    return flow->srd.sent - flow->srd.acked >= (flow->srd.window + 1) / 2 ||
           set->peers[flow->pe].imm_count.lazy < (counts ? most - most / 8 - 1 : most / 2);
}

void wsh_efa_lazy_sent(struct wsh_efa_set *set, struct wsh_efa_flow *flow, bool lazy)
{
    if (!lazy) {
        flow->prompt_end = flow->srd.sent + 1;
        return;
    }
    flow->lazy_end = flow->srd.sent + 1;
    set->peers[flow->pe].imm_count.lazy++;
    wsh_efa_count_add(&flow->ctx->n_lazy);
    list_late(flow);
}

void wsh_efa_lazy_applied(struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    WSH_INVARIANT(set->peers[flow->pe].imm_count.lazy);
    set->peers[flow->pe].imm_count.lazy--;
    wsh_efa_count_sub(&flow->ctx->n_lazy);
}

/* Relaxed: who waits calls it again. The NIC alone tells when the source of a write may be reused. */
void wsh_efa_ctx_await(struct wsh_tctx *tctx, bool unread)
{
    struct wsh_efa_ctx *ctx = (struct wsh_efa_ctx *)tctx;

    if (!wsh_efa_count_read(&ctx->n_lazy) && (unread || !wsh_efa_count_read(&ctx->n_uncounted)))
        return;
    __atomic_store_n(&ctx->awaited, true, __ATOMIC_RELAXED);
    __atomic_store_n(&ctx->set->imm_counts.awaited, true, __ATOMIC_RELAXED);
}

uint32_t wsh_efa_ctx_uncounted(const struct wsh_efa_ctx *ctx, const struct wsh_efa_flow *flow)
{
    return flow ? __atomic_load_n(&flow->uncounted, __ATOMIC_ACQUIRE) : wsh_efa_count_read(&ctx->n_uncounted);
}

static void ack_later(struct wsh_efa_set *set, struct wsh_efa_imm_count *count)
{
    set->imm_counts.n_acks += !count->ack_due;
    count->ack_due = true;
}

/*
 * What the peer requested is here, or it may soon lack credits: it has what both of us can take, which is less than
 * set->limits.imms where it has more endpoint sets.
 */
static bool is_due(const struct wsh_efa_peer *peer)
{
    const struct wsh_efa_imm_count *count = &peer->imm_count;
    uint32_t unacked = count->counted - count->acked;

    return unacked && ((count->has_wanted && !wsh_srd_before(count->counted, count->wanted)) ||
                       unacked >= (peer->link.imms_max + 1) / 2);
}

int wsh_efa_imm_count_add(struct wsh_efa_set *set, int pe, uint32_t counter, uint32_t generation)
{
    struct wsh_efa_imm_count *count = &set->peers[pe].imm_count;
    int rc;

    wsh_order_returns(); /* what the NIC has written comes before the count */
    rc = set->imm_counts.count(set->core, counter, generation, 1);
    if (rc)
        return wsh_efa_set_fail(
            set, rc,
            "PE %d has put with counter %u, which is not in use here, or not any more; destroy "
            "counters only when nothing puts with them",
            pe, counter);
    count->counted++;
    if (is_due(&set->peers[pe]))
        ack_later(set, count);
    return 0;
}

void wsh_efa_imm_count_requested(struct wsh_efa_set *set, int pe, uint32_t wanted)
{
    struct wsh_efa_imm_count *count = &set->peers[pe].imm_count;

    if (!count->has_wanted || wsh_srd_before(count->wanted, wanted)) /* an earlier request may come later */
        count->wanted = wanted;
    count->has_wanted = wsh_srd_before(count->acked, count->wanted);
    if (is_due(&set->peers[pe]))
        ack_later(set, count);
}

static void settle_ctx(struct wsh_efa_ctx *ctx, int pe, uint32_t counted)
{
    struct wsh_efa_flow *flow = ctx->flow[pe];

    if (!flow || !flow->uncounted || wsh_srd_before(counted, flow->counter_writes))
        return;
    __atomic_store_n(&flow->uncounted, false, __ATOMIC_RELEASE);
    wsh_efa_count_sub(&ctx->n_uncounted);
}

int wsh_efa_imm_count_acked(struct wsh_efa_set *set, int pe, uint32_t counted)
{
    int rc = wsh_srd_link_counted(&set->peers[pe].link, counted);

    if (rc <= 0)
        return rc;
    set->peers[pe].acks++;
    for (uint32_t i = 0; i < set->n_ctxs; i++)
        settle_ctx(set->ctxs[i], pe, counted);
    return 0;
}
