/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how completions are taken from the provider, and what a failed one means. */
#include "transports/efa/rails.h"
#include "transports/efa/run.h"

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * With each read tcp;ofi_rxm takes all that a connection has brought, into buffers of its own without a bound: with 16
 * entries a read a flood of 10^6 messages took 3 GB. No more than there are requests for answers.
 */
#define EFA_CQ_BATCH 64
#define EFA_FULL_S 2 /* seconds for which a queue may be full although nothing is under way, or ends */

int wsh_efa_fail(struct wsh_efa_tp *tp, int err, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    if (tp->failed)
        return tp->failed;
    err =
        err > 0 ? -err : err; /* libfabric 1.17 returns some errors, and reports some, with the wrong sign */
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!__atomic_exchange_n(&tp->lanes->failed, err, __ATOMIC_RELAXED)) /* one line, of the first lane */
        wsh_error("%s", text);
    __atomic_store_n(&tp->failed, err, __ATOMIC_RELAXED);
    return err;
}

/* In the words of different providers. */
bool wsh_efa_is_gone(int err)
{
    return err == FI_ENOTCONN || err == FI_ECONNRESET || err == FI_ECONNABORTED || err == FI_ECONNREFUSED ||
           err == FI_ESHUTDOWN || err == EPIPE || err == FI_EHOSTUNREACH || err == FI_ETIMEDOUT ||
           err == FI_EIO || err == FI_ECANCELED;
}

ssize_t wsh_efa_refusal(struct wsh_efa_tp *tp, unsigned index, ssize_t rc)
{
    struct wsh_efa_rail *rail = &tp->rail[index];
    double now;

    rc = rc > 0 ? -rc : rc;
    if (rc != -FI_ENOMEM)
        return rc;
    now = wsh_efa_now();
    if (rail->taken || rail->full_at != rail->ended || !rail->full_since) {
        rail->full_at = rail->ended;
        rail->full_since = now;
    }
    return now - rail->full_since < EFA_FULL_S ? -FI_EAGAIN : rc;
}

int wsh_efa_posted(struct wsh_efa_tp *tp, unsigned rail, int pe, const char *what, ssize_t rc)
{
    static const char fmt[] =
        "%s of PE %d to PE %d over %s cannot start: %s; is PE %d alive and its host reachable?";
    const char *text;

    if (!rc)
        return 0;
    rc = wsh_efa_refusal(tp, rail, rc);
    if (rc == -FI_EAGAIN)
        return wsh_efa_no_room(tp, pe);
    text = tp->lib.strerror((int)-rc);
    if (!wsh_efa_is_gone((int)-rc))
        return wsh_efa_fail(tp, (int)rc, fmt, what, tp->my_pe, pe, tp->rail[rail].name, text, pe);
    wsh_efa_lose(tp, fmt, what, tp->my_pe, pe, tp->rail[rail].name, text, pe);
    return -EAGAIN;
}

static void read_done(struct wsh_efa_tp *tp, struct wsh_efa_req *req)
{
    if (req->copy_to)
        memcpy(req->copy_to, req->buf, req->len);
    if (req->op) {
        wsh_efa_op_part_done(tp, req->op);
    } else {
        wsh_efa_direct_end(req->flow, EFA_REQ_READ);
        wsh_efa_done_sub(req->done);
    }
    wsh_efa_req_put(req);
}

static void write_done(struct wsh_efa_tp *tp, struct wsh_efa_req *req)
{
    struct wsh_efa_flow *flow = req->flow;

    tp->n_writes--;
    if (req->op) {
        wsh_efa_op_part_done(tp, req->op);
    } else {
        if (tp->native)
            wsh_efa_direct_end(flow, EFA_REQ_WRITE);
        else
            wsh_srd_put_ended(&flow->ctx->srd, &flow->srd, 1);
        wsh_efa_done_sub(req->done);
    }
    wsh_efa_req_put(req);
}

/* Where the provider spends a receive on it, that is given back. */
static int counted(struct wsh_efa_tp *tp, const struct fi_cq_data_entry *entry)
{
    int rc = tp->imm_receives && entry->op_context ? wsh_efa_msg_post(tp, entry->op_context) : 0;

    return rc ? rc : wsh_efa_serve_write(tp, entry->data);
}

static int complete(struct wsh_efa_tp *tp, const struct fi_cq_data_entry *entry)
{
    struct wsh_efa_req *req = entry->op_context;

    if (wsh_unlikely(entry->flags & FI_REMOTE_CQ_DATA))
        return counted(tp, entry);
    if (req->kind < EFA_REQ_RECV) {
        wsh_efa_gave_back(tp, req);
        tp->peers[req->pe].heard = true;
    }
    switch (req->kind) {
    case EFA_REQ_WRITE: write_done(tp, req); return 0;
    case EFA_REQ_READ: read_done(tp, req); return 0;
    case EFA_REQ_SEND: wsh_efa_req_put(req); return 0;
    case EFA_REQ_RECV: return wsh_efa_serve(tp, req, entry->len);
    default: return 0; /* of a failed one */
    }
}

/* The request stays out of its pool, since more may be reported of it. */
static int operation_failed(struct wsh_efa_tp *tp, const struct wsh_efa_rail *rail, struct wsh_efa_req *req,
                            const struct fi_cq_err_entry *err)
{
    static const char *const names[] = {"put to", "get from", "message to", "receive from"};
    const char *vendor;
    char room[256] = "", text[EFA_TEXT_MAX - 64];

    vendor = fi_cq_strerror(rail->cq, err->prov_errno, err->err_data, room, sizeof room);
    snprintf(text, sizeof text, "%s PE %d over %s failed: %s (%s, code %d)", names[req->kind], req->pe,
             rail->name, tp->lib.strerror(err->err), vendor ? vendor : "no more words", err->prov_errno);
    if (tp->n_rails > 1 && wsh_efa_is_gone(err->err) && wsh_efa_rails_again(tp, req, text))
        return 0;
    if (wsh_efa_is_harmless(tp, req)) {
        wsh_info(WSH_SUB_TRANSPORT, "%s", text);
        wsh_efa_req_put(req);
        return 0;
    }
    req->kind = EFA_REQ_OVER;
    if (!wsh_efa_is_gone(err->err))
        return wsh_efa_fail(tp, -err->err, "%s; is PE %d alive and its host reachable?", text, req->pe);
    if (tp->peers[req->pe].paths)
        wsh_efa_lose(tp, "%s; the target counts this put, so that it cannot go by another NIC", text);
    else
        wsh_efa_lose(tp, "%s; is PE %d alive and its host reachable?", text, req->pe);
    return 0;
}

/*
 * No PE of this job sends more than a receive takes (peers.c), so that what is longer comes from a stranger. So may a
 * connection that breaks off within a message. Either way the receive goes back: strangers must not use them up.
 */
static int receive_failed(struct wsh_efa_tp *tp, const struct wsh_efa_rail *rail, struct wsh_efa_req *req,
                          const struct fi_cq_err_entry *err)
{
    if (err->err == FI_ETRUNC)
        wsh_efa_stranger_note(tp, EFA_STRANGE_MESSAGE);
    else
        wsh_info(WSH_SUB_TRANSPORT, "receive on %s: %s", rail->name, tp->lib.strerror(err->err));
    if (err->err != FI_ETRUNC && (!tp->by_sockets || err->err == FI_ECANCELED))
        return 0;
    return wsh_efa_msg_post(tp, req);
}

/* A failed telling does no harm where nothing is awaited from its peer, which may have left. */
bool wsh_efa_is_harmless(const struct wsh_efa_tp *tp, const struct wsh_efa_req *req)
{
    const struct wsh_srd_link *link = &tp->peers[req->pe].link;

    return req->kind == EFA_REQ_SEND && ((const struct wsh_efa_head *)req->buf)->type == EFA_WIRE_TELL &&
           !link->msgs && !link->fetches;
}

/*
 * It failed for the provider's own purposes, such as a peer's write that it copies here: with one NIC, what that peer
 * sends after it must not be taken. The end comes later, since the launcher may know more: which PE has died.
 */
static int no_operation(struct wsh_efa_tp *tp, const struct wsh_efa_rail *rail,
                        const struct fi_cq_err_entry *err)
{
    char text[EFA_TEXT_MAX];

    snprintf(text, sizeof text, "%s reports: %s (code %d)", rail->name, tp->lib.strerror(err->err),
             err->prov_errno);
    if (!wsh_efa_is_gone(err->err))
        return wsh_efa_fail(tp, -err->err, "%s", text);
    tp->deaf = tp->n_rails == 1;
    wsh_efa_note_event(tp, rail, text);
    return 0;
}

static int take_error(struct wsh_efa_tp *tp, const struct wsh_efa_rail *rail)
{
    struct fi_cq_err_entry err = {0};
    ssize_t rc = fi_cq_readerr(rail->cq, &err, 0);
    struct wsh_efa_req *req = err.op_context;

    err.err = abs(err.err);
    if (rc == -FI_EAGAIN)
        return 0;
    if (rc < 0)
        return wsh_efa_fail(tp, (int)rc, "fi_cq_readerr on %s: %s", rail->name, tp->lib.strerror((int)-rc));
    if (!req)
        return no_operation(tp, rail, &err);
    if (req->kind == EFA_REQ_RECV)
        return receive_failed(tp, rail, req, &err);
    if (req->kind == EFA_REQ_OVER)
        return 0;
    wsh_efa_gave_back(tp, req);
    if (tp->n_rails > 1)
        wsh_efa_rails_ended(tp, req, false);
    return operation_failed(tp, rail, req, &err);
}

static void ended(struct wsh_efa_tp *tp, const struct fi_cq_data_entry *entries, ssize_t n)
{
    for (ssize_t i = 0; i < n; i++) {
        struct wsh_efa_req *req = entries[i].op_context;

        if (!(entries[i].flags & FI_REMOTE_CQ_DATA) && req->kind < EFA_REQ_RECV)
            wsh_efa_rails_ended(tp, req, true);
    }
}

/* Answers leave in one run. */
static int complete_all(struct wsh_efa_tp *tp, const struct fi_cq_data_entry *entries, ssize_t n)
{
    int rc = 0, err;

    wsh_efa_run_begin(tp);
    for (ssize_t i = 0; i < n && !rc; i++)
        rc = complete(tp, &entries[i]);
    err = wsh_efa_run_end(tp);
    return rc ? rc : err;
}

static int take_completions(struct wsh_efa_tp *tp, struct wsh_efa_rail *rail)
{
    struct fi_cq_data_entry entries[EFA_CQ_BATCH];
    ssize_t n = fi_cq_read(rail->cq, entries, EFA_CQ_BATCH);
    int rc;

    if (n == -FI_EAGAIN)
        return 0;
    rail->ended++;
    if (n == -FI_EAVAIL) {
        rc = take_error(tp, rail);
        return rc ? rc : 1;
    }
    if (n < 0)
        return wsh_efa_fail(tp, (int)n, "fi_cq_read on %s: %s", rail->name, tp->lib.strerror((int)-n));
    if (wsh_unlikely(tp->n_rails > 1))
        ended(tp, entries, n);
    rc = complete_all(tp, entries, n);
    return rc ? rc : (int)n;
}

static int take_all(struct wsh_efa_tp *tp)
{
    int moved = 0, rc;

    for (uint32_t i = 0; i < tp->n_rails; i++) {
        rc = take_completions(tp, &tp->rail[i]);
        if (rc < 0)
            return rc;
        moved += rc;
    }
    rc = wsh_efa_rails_progress(tp);
    return rc < 0 ? rc : moved + rc;
}

/* What has waited, answers and tellings; adds them to *moved. 0 or final. */
static int start_more(struct wsh_efa_tp *tp, int *moved)
{
    int rc;

    if (wsh_unlikely(tp->waiting != NULL)) {
        if ((rc = wsh_efa_op_progress(tp)) < 0)
            return rc;
        *moved += rc;
    }
    rc = wsh_efa_msg_progress(tp, !*moved);
    if (rc < 0)
        return rc;
    *moved += rc;
    return 0;
}

/* A faster PE may send while this one still connects another transport: its message is left unread until connect. */
static int progress_locked(struct wsh_efa_tp *tp)
{
    int moved, rc, err;

    if (wsh_unlikely(tp->failed || !tp->joined))
        return tp->failed;
    if (wsh_unlikely(tp->lost_since) && ((rc = wsh_efa_check_lost(tp)) || tp->deaf))
        return rc;
    moved = wsh_likely(tp->n_rails == 1) ? take_completions(tp, &tp->rail[0]) : take_all(tp);
    if (moved < 0)
        return moved;
    wsh_efa_run_begin(tp);
    rc = start_more(tp, &moved);
    err = wsh_efa_run_end(tp);
    rc = rc ? rc : err;
    return rc ? rc : moved;
}

/* Who finds the lock taken leaves: its holder moves everything on. */
int wsh_efa_progress(struct wsh_efa_tp *tp)
{
    int rc;

    if (!wsh_efa_trylock(tp))
        return __atomic_load_n(&tp->failed, __ATOMIC_RELAXED);
    rc = progress_locked(tp);
    wsh_efa_unlock(tp);
    return rc;
}

static int try_wait(struct wsh_efa_tp *tp)
{
    int rc = 0;

    for (uint32_t i = 0; i < tp->n_rails && !rc; i++) {
        struct fid *fid = &tp->rail[i].cq->fid;

        rc = fi_trywait(tp->rail[i].fabric, &fid, 1);
    }
    return rc;
}

/* Nothing may be left that no event announces: what found no room, answers and tellings to send. */
int wsh_efa_wait_fd(struct wsh_efa_tp *tp)
{
    int rc;

    if (tp->wait_fd < 0)
        return -ENOTSUP;
    if (!wsh_efa_trylock(tp))
        return -EAGAIN;
    rc = (tp->waiting && tp->starved) || tp->answers || tp->owing || tp->unposted || tp->again || tp->n_held
             ? -EAGAIN
             : try_wait(tp);
    wsh_efa_unlock(tp);
    return rc ? -EAGAIN : tp->wait_fd;
}
