/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads completions from the provider, and decides what a failed one means. */
#include "transports/efa/progress.h"

#include "base/err.h"
#include "base/log.h"
#include "transports/efa/set/alive.h"
#include "transports/efa/set/errors.h"
#include "transports/efa/wire/batch.h"
#include "transports/efa/set/set.h"
#include "transports/efa/wire/msg.h"
#include "transports/efa/ops/op.h"
#include "transports/efa/wire/rail_loss.h"
#include "transports/efa/wire/rails.h"
#include "transports/efa/ops/serve.h"
#include "transports/efa/set/foreign_packets.h"
#include "transports/efa/ops/ack_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * With each read tcp;ofi_rxm takes all that a connection has brought, into buffers of its own without a bound: with 16
 * entries a read a flood of 10^6 messages took 3 GB. No more than there are requests for answers.
 */
#define WSH_EFA_CQ_BATCH 64
/* Of a device that moves data alone, while each read brings as many: a pass of the proxy starts several times that. */
#define WSH_EFA_CQ_READS 8

static void read_done(struct wsh_efa_set *set, struct wsh_efa_req *req)
{
    if (req->copy_to)
        memcpy(req->copy_to, req->buf, req->len);
    if (req->op) {
        wsh_efa_op_part_done(set, req->op);
    } else {
        wsh_efa_flow_end(req->flow, WSH_EFA_REQ_READ);
        wsh_efa_done_sub(req->done);
    }
    wsh_efa_req_put(req);
}

static void write_done(struct wsh_efa_set *set, struct wsh_efa_req *req)
{
    struct wsh_efa_flow *flow = req->flow;

    set->n_writes--;
    if (req->op) {
        wsh_efa_op_part_done(set, req->op);
    } else {
        if (set->native)
            wsh_efa_flow_end(flow, WSH_EFA_REQ_WRITE);
        else
            wsh_srd_put_ended(&flow->ctx->srd, &flow->srd, 1);
        wsh_efa_done_sub(req->done);
    }
    wsh_efa_req_put(req);
}

/* Where the provider spends a receive on it, that is given back. */
static int write_counted(struct wsh_efa_set *set, const struct fi_cq_data_entry *entry)
{
    int rc = set->imm_receives && entry->op_context ? wsh_efa_msg_post(set, entry->op_context) : 0;

    return rc ? rc : wsh_efa_serve_write(set, entry->data);
}

static int complete_entry(struct wsh_efa_set *set, const struct fi_cq_data_entry *entry)
{
    struct wsh_efa_req *req = entry->op_context;

    if (wsh_unlikely(entry->flags & FI_REMOTE_CQ_DATA))
        return write_counted(set, entry);
    if (req->kind < WSH_EFA_REQ_RECV) {
        wsh_efa_req_end(set, req);
        set->peers[req->pe].heard = true;
    }
    switch (req->kind) {
    case WSH_EFA_REQ_WRITE: write_done(set, req); return 0;
    case WSH_EFA_REQ_READ: read_done(set, req); return 0;
    case WSH_EFA_REQ_SEND: wsh_efa_req_put(req); return 0;
    case WSH_EFA_REQ_RECV: return wsh_efa_serve_message(set, req, entry->len);
    default: return 0; /* of a failed one */
    }
}

/* The request stays out of its pool, since more may be reported of it. */
static int operation_failed(struct wsh_efa_set *set, const struct wsh_efa_rail *rail, struct wsh_efa_req *req,
                            const struct fi_cq_err_entry *err)
{
    static const char *const names[] = {"put to", "get from", "message to", "receive from"};
    const char *vendor;
    char room[256] = "", alive[80], text[WSH_EFA_TEXT_MAX - 64];

    vendor = fi_cq_strerror(rail->cq, err->prov_errno, err->err_data, room, sizeof room);
    snprintf(text, sizeof text, "%s PE %d over %s failed: %s (%s, code %d)", names[req->kind], req->pe,
             rail->name, set->lib.strerror(err->err), vendor ? vendor : "no more words", err->prov_errno);
    if (set->n_rails > 1 && wsh_efa_error_is_gone(err->err) && wsh_efa_rails_again(set, req, text))
        return 0;
    if (wsh_efa_req_is_harmless(set, req)) {
        wsh_info(WSH_SUB_TRANSPORT, "%s", text);
        wsh_efa_req_put(req);
        return 0;
    }
    if (!wsh_efa_error_is_gone(err->err))
        return wsh_efa_set_fail(set, -err->err, "%s; %s", text, wsh_efa_error_cure(err->err, req->pe, alive));
    wsh_efa_gone_lose(set, req);
    if (set->peers[req->pe].gone)
        return 0;
    if (set->peers[req->pe].paths)
        wsh_efa_set_fail_later(set, "%s; the target counts this put, so that it cannot go by another NIC",
                               text);
    else
        wsh_efa_set_fail_later(set, "%s; is PE %d alive and its host reachable?", text, req->pe);
    return 0;
}

/*
 * No PE of this job sends more than a receive takes (peers.c), so that what is longer is a foreign packet. So may be a
 * connection that breaks off within a message. Either way the receive goes back: foreign packets must not use them up.
 */
static int receive_failed(struct wsh_efa_set *set, const struct wsh_efa_rail *rail, struct wsh_efa_req *req,
                          const struct fi_cq_err_entry *err)
{
    if (err->err == FI_ETRUNC)
        wsh_efa_foreign_note(set, WSH_EFA_FOREIGN_MESSAGE);
    else
        wsh_info(WSH_SUB_TRANSPORT, "receive on %s: %s", rail->name, set->lib.strerror(err->err));
    if (err->err != FI_ETRUNC && (!set->by_sockets || err->err == FI_ECANCELED))
        return 0;
    return wsh_efa_msg_post(set, req);
}

/*
 * It failed for the provider's own purposes, such as a peer's write that it copies here: with one NIC, what that peer
 * sends after it must not be taken. The end comes later, since the launcher may know more: which PE has died.
 */
static int no_operation(struct wsh_efa_set *set, const struct wsh_efa_rail *rail,
                        const struct fi_cq_err_entry *err)
{
    char text[WSH_EFA_TEXT_MAX];

    snprintf(text, sizeof text, "%s reports: %s (code %d)", rail->name, set->lib.strerror(err->err),
             err->prov_errno);
    if (!wsh_efa_error_is_gone(err->err))
        return wsh_efa_set_fail(set, -err->err, "%s; %s", text,
                                wsh_err_cure(err->err, "are all PEs alive and their hosts reachable?"));
    set->deaf = set->n_rails == 1;
    wsh_efa_alive_note(set, rail, text);
    return 0;
}

static int take_error(struct wsh_efa_set *set, const struct wsh_efa_rail *rail)
{
    struct fi_cq_err_entry err = {0};
    ssize_t rc = fi_cq_readerr(rail->cq, &err, 0);
    struct wsh_efa_req *req = err.op_context;

    err.err = abs(err.err);
    if (rc == -FI_EAGAIN)
        return 0;
    if (rc < 0)
        return wsh_efa_set_fail(set, (int)rc, "fi_cq_readerr on %s: %s", rail->name,
                                set->lib.strerror((int)-rc));
    if (!req)
        return no_operation(set, rail, &err);
    if (req->kind == WSH_EFA_REQ_RECV)
        return receive_failed(set, rail, req, &err);
    if (req->kind == WSH_EFA_REQ_OVER)
        return 0;
    wsh_efa_req_end(set, req);
    if (set->n_rails > 1)
        wsh_efa_rails_ended(set, req, false);
    return operation_failed(set, rail, req, &err);
}

static void entries_ended(struct wsh_efa_set *set, const struct fi_cq_data_entry *entries, ssize_t n)
{
    for (ssize_t i = 0; i < n; i++) {
        struct wsh_efa_req *req = entries[i].op_context;

        if (!(entries[i].flags & FI_REMOTE_CQ_DATA) && req->kind < WSH_EFA_REQ_RECV)
            wsh_efa_rails_ended(set, req, true);
    }
}

/* Answers leave in one batch. */
static int complete_entries(struct wsh_efa_set *set, const struct fi_cq_data_entry *entries, ssize_t n)
{
    int rc = 0, err;

    wsh_efa_batch_begin(set);
    for (ssize_t i = 0; i < n && !rc; i++)
        rc = complete_entry(set, &entries[i]);
    err = wsh_efa_batch_end(set);
    return rc ? rc : err;
}

static int take_batch(struct wsh_efa_set *set, struct wsh_efa_rail *rail)
{
    struct fi_cq_data_entry entries[WSH_EFA_CQ_BATCH];
    ssize_t n = fi_cq_read(rail->cq, entries, WSH_EFA_CQ_BATCH);
    int rc;

    if (n == -FI_EAGAIN)
        return 0;
    rail->ended++;
    if (n == -FI_EAVAIL) {
        rc = take_error(set, rail);
        return rc ? rc : 1;
    }
    if (n < 0)
        return wsh_efa_set_fail(set, (int)n, "fi_cq_read on %s: %s", rail->name, set->lib.strerror((int)-n));
    if (wsh_unlikely(set->n_rails > 1))
        entries_ended(set, entries, n);
    rc = complete_entries(set, entries, n);
    return rc ? rc : (int)n;
}

static int take_completions(struct wsh_efa_set *set, struct wsh_efa_rail *rail)
{
    unsigned reads = 0;
    int moved = 0, rc;

    do {
        rc = take_batch(set, rail);
        moved += rc;
    } while (rc == WSH_EFA_CQ_BATCH && set->doorbells && ++reads < WSH_EFA_CQ_READS && !set->n_held);
    return rc < 0 ? rc : moved;
}

static int take_from_rails(struct wsh_efa_set *set)
{
    int moved = 0, rc;

    for (uint32_t i = 0; i < set->n_rails; i++) {
        rc = take_completions(set, &set->rail[i]);
        if (rc < 0)
            return rc;
        moved += rc;
    }
    if (wsh_unlikely(set->rail_loss.any_notice) && (rc = wsh_efa_rail_loss_notify(set)))
        return rc;
    rc = wsh_efa_rails_progress(set);
    return rc < 0 ? rc : moved + rc;
}

/* Answers, acks and what else peers wait for; `idle`: nothing has come. > 0: some were sent; < 0: final. */
static int send_due(struct wsh_efa_set *set, bool idle)
{
    int moved = 0, rc;

    if (wsh_unlikely(set->msgs.unposted) && (rc = wsh_efa_msg_receives(set)))
        return rc;
    if (wsh_unlikely(set->msgs.answers)) {
        moved = wsh_efa_msg_answers(set);
        if (moved < 0)
            return moved;
    }
    if (wsh_unlikely(wsh_efa_ack_request_is_due(set))) {
        rc = wsh_efa_ack_request_progress(set);
        if (rc < 0)
            return rc;
        moved += rc;
    }
    if (set->msgs.ack_pending) {
        rc = wsh_efa_msg_acks(set, idle);
        if (rc < 0)
            return rc;
        moved += rc;
    }
    if (idle && !moved && (rc = wsh_efa_alive_poll(set)))
        return rc;
    return moved;
}

/* What has waited, answers and acks; adds them to *moved. 0 or final. */
static int start_waiting(struct wsh_efa_set *set, int *moved)
{
    int rc;

    if (wsh_unlikely(set->waiting != NULL)) {
        if ((rc = wsh_efa_op_progress(set)) < 0)
            return rc;
        *moved += rc + wsh_efa_ack_request_deferred(set);
    }
    rc = send_due(set, !*moved);
    if (rc < 0)
        return rc;
    *moved += rc;
    return 0;
}

/* A faster PE may send while this one still connects another transport: its message is left unread until connect. */
static int progress_locked(struct wsh_efa_set *set)
{
    int moved, rc, err;

    if (wsh_unlikely(set->failed || !set->joined))
        return set->failed;
    if (wsh_unlikely(set->loss.since) && ((rc = wsh_efa_set_check_lost(set)) || set->deaf))
        return rc;
    if (wsh_unlikely(set->n_held) && (rc = wsh_efa_batch_finish(set)))
        return rc;
    moved = wsh_likely(set->n_rails == 1) ? take_completions(set, &set->rail[0]) : take_from_rails(set);
    if (moved < 0)
        return moved;
    if (wsh_unlikely(set->gone.any) && (rc = wsh_efa_gone_progress(set))) {
        if (rc < 0)
            return rc;
        moved += rc;
    }
    wsh_efa_batch_begin(set);
    rc = start_waiting(set, &moved);
    err = wsh_efa_batch_end(set);
    rc = rc ? rc : err;
    return rc ? rc : moved;
}

/* Who finds the lock taken leaves: its holder moves everything on. */
int wsh_efa_set_progress(struct wsh_efa_set *set)
{
    int rc;

    if (!wsh_efa_set_trylock(set))
        return __atomic_load_n(&set->failed, __ATOMIC_RELAXED);
    rc = progress_locked(set);
    wsh_efa_set_unlock(set);
    return rc;
}

static int try_wait(struct wsh_efa_set *set)
{
    int rc = 0;

    for (uint32_t i = 0; i < set->n_rails && !rc; i++) {
        struct fid *fid = &set->rail[i].cq->fid;

        rc = fi_trywait(set->rail[i].fabric, &fid, 1);
    }
    return rc;
}

/* Nothing may be left that no event announces: what found no room, answers and acks to send. */
int wsh_efa_set_wait_fd(struct wsh_efa_set *set)
{
    int rc;

    if (set->wait_fd < 0)
        return -ENOTSUP;
    if (!wsh_efa_set_trylock(set))
        return -EAGAIN;
    rc = (set->waiting && set->starved) || set->msgs.answers || set->msgs.ack_pending || set->msgs.unposted ||
                 set->rail_loss.again || set->n_held || wsh_efa_ack_request_is_due(set)
             ? -EAGAIN
             : try_wait(set);
    wsh_efa_set_unlock(set);
    return rc ? -EAGAIN : set->wait_fd;
}
