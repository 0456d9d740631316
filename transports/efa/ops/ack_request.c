/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests acknowledgements that come no other way, and acknowledges counter writes. */
#include "transports/efa/ops/ack_request.h"

#include "transports/efa/ops/op.h"
#include "transports/efa/ops/imm_count.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/wire/msg.h"

static int send_acks(struct wsh_efa_set *set)
{
    int sent = 0;

    for (int i = 0; i < set->n_known && set->imm_counts.n_acks && !set->msgs.unposted; i++) {
        int pe = set->known[i];
        struct wsh_efa_imm_count *count = &set->peers[pe].imm_count;
        int rc = count->ack_due ? wsh_efa_msg_counted(set, pe, count->counted) : 0;

        if (!count->ack_due)
            continue;
        if (rc)
            return rc == -EAGAIN ? sent : rc;
        count->acked = count->counted;
        count->has_wanted &= wsh_srd_before(count->acked, count->wanted);
        count->ack_due = false;
        set->imm_counts.n_acks--;
        sent++;
    }
    return sent;
}

/* Lazy messages of the flow are not known as applied. */
static bool has_lazy(const struct wsh_efa_flow *flow)
{
    return wsh_srd_before(flow->srd.acked, flow->lazy_end);
}

/* Those that were not requested, nor requested for by a message behind them. */
static bool must_request_lazy(const struct wsh_efa_flow *flow)
{
    return has_lazy(flow) && wsh_srd_before(flow->prompt_end, flow->lazy_end);
}

static bool must_request(const struct wsh_efa_set *set, const struct wsh_efa_flow *flow)
{
    return must_request_lazy(flow) ||
           (flow->uncounted &&
            wsh_srd_before(set->peers[flow->pe].imm_count.requested, flow->counter_writes));
}

static int request_acks(struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    struct wsh_efa_peer *peer = &set->peers[flow->pe];
    struct wsh_efa_flow *own = wsh_efa_flow_of(set->own, flow->pe);
    struct wsh_efa_req *req =
        own ? wsh_efa_msg_new(set, own, WSH_EFA_WIRE_ACK_REQUEST, sizeof(struct wsh_efa_count_msg)) : NULL;
    struct wsh_efa_count_msg *msg;

    if (!req)
        return -EAGAIN;
    msg = (struct wsh_efa_count_msg *)req->buf;
    *msg = (struct wsh_efa_count_msg){
        msg->head, peer->link.counter_writes, flow->lazy_end, flow->ctx->number, {0}};
    if (wsh_efa_op_message(set, own, req, WSH_EFA_SIGNALS))
        return -EAGAIN;
    peer->imm_count.requested = peer->link.counter_writes;
    if (wsh_srd_before(flow->prompt_end, flow->lazy_end))
        flow->prompt_end = flow->lazy_end;
    return 1;
}

/* Behind a fence a write starts only when the lazy messages before it are known as applied. */
static bool must_request_deferred(const struct wsh_efa_flow *flow)
{
    return flow->late && flow->srd.writes.head && must_request_lazy(flow);
}

int wsh_efa_ack_request_deferred(struct wsh_efa_set *set)
{
    int requested = 0;

    for (struct wsh_efa_flow *flow = set->waiting; flow; flow = flow->next) {
        if (!must_request_deferred(flow))
            continue;
        if (request_acks(set, flow) < 0)
            set->starved = true; /* again at the next poll */
        else
            requested++;
    }
    return requested;
}

static int request_late(struct wsh_efa_set *set, struct wsh_efa_ctx *ctx)
{
    struct wsh_efa_flow **link = &ctx->late;
    int requested = 0;

    while (*link) {
        struct wsh_efa_flow *flow = *link;
        int rc = must_request(set, flow) ? request_acks(set, flow) : 0;

        if (rc < 0)
            wsh_efa_ctx_await(&ctx->base, false); /* no room: again */
        requested += rc > 0;
        if (flow->uncounted || has_lazy(flow)) {
            link = &flow->next_late;
            continue;
        }
        *link = flow->next_late;
        flow->late = false;
    }
    return requested;
}

static int request_awaited(struct wsh_efa_set *set)
{
    int requested = 0;

    __atomic_store_n(&set->imm_counts.awaited, false, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < set->n_ctxs; i++)
        if (__atomic_exchange_n(&set->ctxs[i]->awaited, false, __ATOMIC_RELAXED))
            requested += request_late(set, set->ctxs[i]);
    return requested;
}

int wsh_efa_ack_request_progress(struct wsh_efa_set *set)
{
    int rc = set->imm_counts.n_acks ? send_acks(set) : 0;

    if (rc < 0 || !__atomic_load_n(&set->imm_counts.awaited, __ATOMIC_RELAXED))
        return rc;
    return rc + request_awaited(set);
}
