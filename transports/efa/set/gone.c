/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers in the place of peers that have failed. */
#include "transports/efa/set/gone.h"

#include "transports/efa/ops/fetch.h"
#include "transports/efa/ops/imm_count.h"
#include "transports/efa/ops/op.h"
#include "transports/efa/set/errors.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/set/set.h"
#include "transports/efa/wire/msg.h"
#include "transports/efa/wire/rails.h"

#include <stdlib.h>
#include <string.h>

#define SILENT_S 0.2 /* seconds after the news in which the provider may still say that a request is over */

/* As its completion would, but that nothing was moved. */
static void req_over(struct wsh_efa_set *set, struct wsh_efa_req *req, enum wsh_efa_req_kind kind)
{
    if (kind == WSH_EFA_REQ_SEND)
        return;
    if (req->op) {
        wsh_efa_op_part_done(set, req->op);
        return;
    }
    if (kind == WSH_EFA_REQ_READ || set->native)
        wsh_efa_flow_end(req->flow, kind);
    else
        wsh_srd_put_ended(&req->flow->ctx->srd, &req->flow->srd, 1);
    wsh_efa_done_sub(req->done);
}

void wsh_efa_gone_lose(struct wsh_efa_set *set, struct wsh_efa_req *req)
{
    set->n_writes -= req->kind == WSH_EFA_REQ_WRITE;
    req->wr.kind = req->kind;
    req->kind = WSH_EFA_REQ_OVER;
    if (set->peers[req->pe].gone) {
        req_over(set, req, (enum wsh_efa_req_kind)req->wr.kind);
        return;
    }
    req->next = set->gone.lost;
    set->gone.lost = req;
}

static void lost_end(struct wsh_efa_set *set, int pe)
{
    struct wsh_efa_req **link = &set->gone.lost;

    while (*link) {
        struct wsh_efa_req *req = *link;

        if (req->pe != pe) {
            link = &req->next;
            continue;
        }
        *link = req->next;
        req_over(set, req, (enum wsh_efa_req_kind)req->wr.kind);
    }
}

/* What a rail holds for the peer was counted as given to the provider. */
static void held_take(struct wsh_efa_set *set, int pe)
{
    for (uint32_t i = 0; i < set->n_rails; i++) {
        struct wsh_efa_req *req = set->rail[i].held;

        if (!req || req->pe != pe)
            continue;
        set->rail[i].held = NULL;
        set->n_held--;
        wsh_efa_req_end(set, req);
        if (set->n_rails > 1)
            wsh_efa_rails_ended(set, req, false);
        set->n_writes -= req->kind == WSH_EFA_REQ_WRITE;
        wsh_efa_gone_take(set, req);
    }
}

/* Messages that wait for others of the peer: their receives are used again. */
static void message_drop(void *arg, void *held)
{
    struct wsh_efa_req *req = held;

    if (req->pool)
        (void)wsh_efa_msg_post(arg, req); /* an error is kept in the set */
    else
        free(req);
}

static void rx_flows_drop(struct wsh_efa_set *set, struct wsh_efa_peer *peer)
{
    for (uint32_t i = 0; i < peer->n_rx_flows; i++)
        if (peer->rx_flow[i])
            wsh_srd_rx_flow_fail(&peer->rx_flow[i]->srd, message_drop, set);
}

void wsh_efa_gone_forget(struct wsh_efa_set *set, int pe)
{
    struct wsh_efa_peer *peer = &set->peers[pe];

    wsh_efa_set_lock(set);
    peer->gone = set->gone.any = set->aside = true;
    set->gone.due = wsh_efa_now() + SILENT_S;
    held_take(set, pe);
    lost_end(set, pe);
    rx_flows_drop(set, peer);
    set->loss.since = 0; /* of this peer, most likely; another one is found again */
    set->deaf = false;
    wsh_efa_set_unlock(set);
}

/*
 * A provider that reads and writes by messages of its own gives no word of a peer that took one and died before it
 * answered. Only what was given to it before the news is left: later requests are taken.
 */
static int silent_end(struct wsh_efa_set *set)
{
    struct wsh_efa_pool *const pools[] = {&set->plain, &set->small, &set->large};
    int n = 0;

    if (wsh_likely(!set->gone.due) || wsh_efa_now() < set->gone.due)
        return 0;
    set->gone.due = 0;
    for (unsigned i = 0; i < sizeof pools / sizeof *pools; i++)
        for (uint32_t k = 0; k < pools[i]->n; k++) {
            struct wsh_efa_req *req = &pools[i]->all[k];

            if ((req->kind != WSH_EFA_REQ_WRITE && req->kind != WSH_EFA_REQ_READ) ||
                !set->peers[req->pe].gone)
                continue;
            wsh_efa_req_end(set, req);
            if (set->n_rails > 1)
                wsh_efa_rails_ended(set, req, false);
            wsh_efa_gone_lose(set, req);
            n++;
        }
    return n;
}

static int taken_end(struct wsh_efa_set *set)
{
    struct wsh_efa_req *req = set->gone.taken;
    int n = 0;

    set->gone.taken = NULL;
    while (req) {
        struct wsh_efa_req *next = req->next;

        req_over(set, req, (enum wsh_efa_req_kind)req->kind);
        wsh_efa_req_put(req);
        req = next;
        n++;
    }
    return n;
}

/* Requests of the flow whose messages have gone are answered with zeros; gets leave their memory as it was. */
static int fetches_answer(struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    int n = 0;

    for (uint32_t i = 0; flow->srd.fetches && i < WSH_EFA_FETCHES; i++) {
        if (set->fetches.all[i].flow != flow)
            continue;
        wsh_efa_fetch_give_up(set, &set->fetches.all[i]);
        n++;
    }
    return n;
}

static int flow_answer(struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    const struct wsh_efa_head head = {.ctx = flow->ctx->number,
                                      .stamp = {.applied = flow->srd.sent, .counted = flow->srd.imms}};
    uint32_t acks = set->peers[flow->pe].acks;
    int n = fetches_answer(set, flow);

    if (wsh_efa_flow_acked(set, flow->pe, &head))
        return -EPROTO; /* cannot be: it is this flow's own numbers */
    wsh_efa_op_wait(set, flow);
    return n + (acks != set->peers[flow->pe].acks);
}

int wsh_efa_gone_progress(struct wsh_efa_set *set)
{
    int moved = taken_end(set);

    moved += silent_end(set);
    for (int k = 0; k < set->n_known; k++) {
        struct wsh_efa_peer *peer = &set->peers[set->known[k]];
        uint32_t counted = peer->link.counter_counted;

        for (uint32_t i = 0; peer->gone && i < set->n_ctxs; i++) {
            struct wsh_efa_flow *flow = set->ctxs[i]->flow[set->known[k]];
            int rc = flow ? flow_answer(set, flow) : 0;

            if (rc < 0)
                return wsh_efa_set_fail(set, rc, "what went to PE %d, which has failed, cannot be ended",
                                        flow->pe);
            moved += rc;
        }
        if (peer->gone && !wsh_efa_imm_count_acked(set, set->known[k], peer->link.counter_writes))
            moved += counted != peer->link.counter_counted;
    }
    return moved;
}
