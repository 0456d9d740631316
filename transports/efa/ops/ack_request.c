/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks peers for acknowledgements that come no other way, and acknowledges tallied writes. */
#include "transports/efa/ops/ack_request.h"

#include "transports/efa/ops/op.h"
#include "transports/efa/ops/tally.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/wire/msg.h"

static int send_acks(struct wsh_efa_set *set)
{
    int sent = 0;

    for (int i = 0; i < set->n_known && set->tallies.n_acks && !set->msgs.unposted; i++) {
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
        set->tallies.n_acks--;
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
        own ? wsh_efa_msg_new(set, own, WSH_EFA_WIRE_ASK, sizeof(struct wsh_efa_tally_msg)) : NULL;
    struct wsh_efa_tally_msg *msg;

    if (!req)
        return -EAGAIN;
    msg = (struct wsh_efa_tally_msg *)req->buf;
    *msg = (struct wsh_efa_tally_msg){msg->head, peer->link.tallies, flow->lazy_end, flow->ctx->number, {0}};
    if (wsh_efa_op_message(set, own, req, WSH_EFA_SIGNALS))
        return -EAGAIN;
    peer->tally.asked = peer->link.tallies;
    if (wsh_srd_before(flow->prompt_end, flow->lazy_end))
        flow->prompt_end = flow->lazy_end;
    return 1;
}

/* Behind a fence a write starts only when the lazy messages before it are known as applied. */
static bool must_ask_deferred(const struct wsh_efa_flow *flow)
{
    return flow->late && flow->srd.writes.head && must_ask_lazy(flow);
}

int wsh_efa_ack_request_deferred(struct wsh_efa_set *set)
{
    int asked = 0;

    for (struct wsh_efa_flow *flow = set->waiting; flow; flow = flow->next) {
        if (!must_ask_deferred(flow))
            continue;
        if (ask_peer(set, flow) < 0)
            set->starved = true; /* again at the next poll */
        else
            asked++;
    }
    return asked;
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

    __atomic_store_n(&set->tallies.awaited, false, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < set->n_ctxs; i++)
        if (__atomic_exchange_n(&set->ctxs[i]->awaited, false, __ATOMIC_RELAXED))
            asked += ask_late(set, set->ctxs[i]);
    return asked;
}

int wsh_efa_ack_request_progress(struct wsh_efa_set *set)
{
    int rc = set->tallies.n_acks ? send_acks(set) : 0;

    if (rc < 0 || !__atomic_load_n(&set->tallies.awaited, __ATOMIC_RELAXED))
        return rc;
    return rc + ask_peers(set);
}
