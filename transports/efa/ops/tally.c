/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts tallied writes at both ends. */
#include "transports/efa/ops/tally.h"

#include "transports/efa/ops/op.h"
#include "transports/efa/set/set.h"
#include "transports/efa/wire/msg.h"
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

/* What is owed to the flow only when somebody asks. */
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
    __atomic_store_n(&ctx->set->tallies_awaited, true, __ATOMIC_RELAXED);
}

uint32_t wsh_efa_uncounted(const struct wsh_efa_ctx *ctx, const struct wsh_efa_flow *flow)
{
    return flow ? __atomic_load_n(&flow->uncounted, __ATOMIC_ACQUIRE) : wsh_efa_count_read(&ctx->n_uncounted);
}

static void ack_later(struct wsh_efa_set *set, struct wsh_efa_tally *tally)
{
    set->n_tally_acks += !tally->ack_due;
    tally->ack_due = true;
}

/*
 * What the peer asked for is here, or it may soon lack credits: it has what both of us can take, which is less than
 * set->imms where it has more endpoint sets.
 */
static bool is_due(const struct wsh_efa_peer *peer)
{
    const struct wsh_efa_tally *tally = &peer->tally;
    uint32_t unacked = tally->counted - tally->acked;

    return unacked && ((tally->asks && !wsh_srd_before(tally->counted, tally->wanted)) ||
                       unacked >= (peer->link.imms_max + 1) / 2);
}

int wsh_efa_tally_count(struct wsh_efa_set *set, int pe, uint32_t counter, uint32_t generation)
{
    struct wsh_efa_tally *tally = &set->peers[pe].tally;
    int rc;

    wsh_order_returns(); /* what the NIC has written comes before the count */
    rc = set->count(set->core, counter, generation, 1);
    if (rc)
        return wsh_efa_fail(
            set, rc,
            "PE %d has put with counter %u, which is not in use here, or not any more; destroy "
            "counters only when nothing puts with them",
            pe, counter);
    tally->counted++;
    if (is_due(&set->peers[pe]))
        ack_later(set, tally);
    return 0;
}

void wsh_efa_tally_asked(struct wsh_efa_set *set, int pe, uint32_t tallies)
{
    struct wsh_efa_tally *tally = &set->peers[pe].tally;

    if (!tally->asks || wsh_srd_before(tally->wanted, tallies)) /* an earlier question may come later */
        tally->wanted = tallies;
    tally->asks = wsh_srd_before(tally->acked, tally->wanted);
    if (is_due(&set->peers[pe]))
        ack_later(set, tally);
}

static int send_acks(struct wsh_efa_set *set)
{
    int sent = 0;

    for (int i = 0; i < set->n_known && set->n_tally_acks && !set->unposted; i++) {
        int pe = set->known[i];
        struct wsh_efa_tally *tally = &set->peers[pe].tally;
        int rc = tally->ack_due ? wsh_efa_msg_tallied(set, pe, tally->counted) : 0;

        if (!tally->ack_due)
            continue;
        if (rc)
            return rc == -EAGAIN ? sent : rc;
        tally->acked = tally->counted;
        tally->asks &= wsh_srd_before(tally->acked, tally->wanted);
        tally->ack_due = false;
        set->n_tally_acks--;
        sent++;
    }
    return sent;
}

/* Lazy messages of the flow are not known as applied. */
static bool has_lazy(const struct wsh_efa_flow *flow)
{
    return wsh_srd_before(flow->srd.acked, flow->lazy_end);
}

/* … and were not asked for, by a question or by a message behind them. */
static bool must_ask_lazy(const struct wsh_efa_flow *flow)
{
    return has_lazy(flow) && wsh_srd_before(flow->prompt_end, flow->lazy_end);
}

static bool must_ask(const struct wsh_efa_set *set, const struct wsh_efa_flow *flow)
{
    return must_ask_lazy(flow) ||
           (flow->uncounted && wsh_srd_before(set->peers[flow->pe].tally.asked, flow->tallies));
}

static int ask_peer(struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    struct wsh_efa_peer *peer = &set->peers[flow->pe];
    struct wsh_efa_flow *own = wsh_efa_flow_of(set->own, flow->pe);
    struct wsh_efa_req *req =
        own ? wsh_efa_msg_new(set, own, EFA_WIRE_ASK, sizeof(struct wsh_efa_tally_msg)) : NULL;
    struct wsh_efa_tally_msg *msg;

    if (!req)
        return -EAGAIN;
    msg = (struct wsh_efa_tally_msg *)req->buf;
    *msg = (struct wsh_efa_tally_msg){msg->head, peer->link.tallies, flow->lazy_end, flow->ctx->number, {0}};
    if (wsh_efa_op_message(set, own, req, EFA_SIGNALS))
        return -EAGAIN;
    peer->tally.asked = peer->link.tallies;
    if (wsh_srd_before(flow->prompt_end, flow->lazy_end))
        flow->prompt_end = flow->lazy_end;
    return 1;
}

void wsh_efa_tally_unpark(struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    if (flow->late && flow->srd.writes.head && must_ask_lazy(flow) && ask_peer(set, flow) < 0)
        set->starved = true; /* again at the next look */
}

static int ask_late(struct wsh_efa_set *set, struct wsh_efa_ctx *ctx)
{
    struct wsh_efa_flow **link = &ctx->late;
    int asked = 0;

    while (*link) {
        struct wsh_efa_flow *flow = *link;
        int rc = must_ask(set, flow) ? ask_peer(set, flow) : 0;

        if (rc < 0)
            wsh_efa_tally_await(&ctx->base, false); /* no room: again */
        asked += rc > 0;
        if (flow->uncounted || has_lazy(flow)) {
            link = &flow->next_late;
            continue;
        }
        *link = flow->next_late;
        flow->late = false;
    }
    return asked;
}

static int ask_peers(struct wsh_efa_set *set)
{
    int asked = 0;

    __atomic_store_n(&set->tallies_awaited, false, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < set->n_ctxs; i++)
        if (__atomic_exchange_n(&set->ctxs[i]->awaited, false, __ATOMIC_RELAXED))
            asked += ask_late(set, set->ctxs[i]);
    return asked;
}

bool wsh_efa_tally_is_busy(const struct wsh_efa_set *set)
{
    return set->n_tally_acks || __atomic_load_n(&set->tallies_awaited, __ATOMIC_RELAXED);
}

int wsh_efa_tally_progress(struct wsh_efa_set *set)
{
    int rc = set->n_tally_acks ? send_acks(set) : 0;

    if (rc < 0 || !__atomic_load_n(&set->tallies_awaited, __ATOMIC_RELAXED))
        return rc;
    return rc + ask_peers(set);
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
