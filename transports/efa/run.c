/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows how requests are given to the provider in runs: several for one doorbell.
 *
 * A provider whose device moves data alone tells that device of every request by a doorbell, unless FI_MORE says that
 * another request follows. Then two things must never happen: that no doorbell comes (nothing moves, and the queue may
 * be locked meanwhile, so that polling hangs), and that the last one finds the queue full (the whole run may be taken
 * back, with no error but the last one's). So between wsh_efa_run_begin and wsh_efa_run_end
 *   - a request is held, one on a rail, until the next one for that rail comes: only then is it known that FI_MORE is
 *     true. The end of the run gives what is held, without it. Nobody can read completions meanwhile: both ends stand
 *     in one call under the lock, with no fi_cq_read between them.
 *   - FI_MORE is set only while all that the provider has and has not completed, the next request too, fits into its
 *     queue. Such a device sends no packets for purposes of the provider's own, so this count is exact.
 *   - reads, and what the provider is to inject but is too long to be kept, leave at once and close the run.
 * Should the provider have no room nevertheless, the request stays held, and progress gives it again.
 */
#include "transports/efa/run.h"
#include "transports/efa/mem.h"

#include <string.h>

#define EFA_RUN 16 /* requests for one doorbell */

static ssize_t give_rma(struct wsh_efa_tp *tp, struct wsh_efa_req *req, unsigned rail, uint64_t imm,
                        uint64_t more)
{
    const struct wsh_efa_peer *peer = &tp->peers[req->pe];
    const struct wsh_efa_path *path = peer->path ? &peer->path[rail] : NULL;
    const struct wsh_efa_way *way = &req->way;
    struct iovec iov = {way->local, way->len};
    struct fi_rma_iov remote = {way->addr, way->len, path ? path->key[way->key] : way->key};
    void *desc = wsh_efa_desc(tp, way->desc, rail);
    const struct fi_msg_rma msg = {.msg_iov = &iov,
                                   .desc = &desc,
                                   .iov_count = 1,
                                   .addr = path ? path->addr : peer->addr,
                                   .rma_iov = &remote,
                                   .rma_iov_count = 1,
                                   .context = req,
                                   .data = imm};

    if (req->kind == EFA_REQ_WRITE)
        return fi_writemsg(tp->rail[rail].ep, &msg, way->flags | more | FI_COMPLETION | FI_DELIVERY_COMPLETE);
    return fi_readmsg(tp->rail[rail].ep, &msg, way->flags | FI_COMPLETION);
}

static ssize_t give_message(struct wsh_efa_tp *tp, struct wsh_efa_req *req, unsigned rail, uint64_t more)
{
    const struct wsh_efa_peer *peer = &tp->peers[req->pe];
    struct fid_ep *ep = tp->rail[rail].ep;
    fi_addr_t addr = peer->path ? peer->path[rail].addr : peer->addr;
    void *desc = wsh_efa_desc(tp, req->desc, rail);
    struct iovec iov = {req->buf, req->len};
    const struct fi_msg msg = {.msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = addr, .context = req};

    if (!more)
        return fi_send(ep, req->buf, req->len, desc, addr, req);
    return fi_sendmsg(ep, &msg, tp->rail[rail].info->tx_attr->op_flags | FI_COMPLETION | more);
}

static ssize_t give(struct wsh_efa_tp *tp, struct wsh_efa_req *req, unsigned rail, uint64_t imm,
                    uint64_t more)
{
    return req->kind == EFA_REQ_SEND ? give_message(tp, req, rail, more) : give_rma(tp, req, rail, imm, more);
}

static const char *name_of(const struct wsh_efa_req *req)
{
    static const char *const names[] = {"put", "get", "message"};

    return names[req->kind];
}

/* Gives what the rail holds. An error that is not for want of room was logged, and ends the job. */
static int push(struct wsh_efa_tp *tp, unsigned index, bool more)
{
    struct wsh_efa_rail *rail = &tp->rail[index];
    struct wsh_efa_req *req = rail->held;
    int rc;

    if (!req)
        return 0;
    more = more && rail->run + 1 < EFA_RUN;
    rc = wsh_efa_posted(tp, index, req->pe, name_of(req),
                        give(tp, req, index, rail->held_imm, more ? FI_MORE : 0));
    if (rc)
        return rc;
    rail->held = NULL;
    rail->run = more ? rail->run + 1 : 0;
    tp->n_held--;
    return 0;
}

static bool can_hold(const struct wsh_efa_req *req)
{
    return req->kind != EFA_REQ_READ && (req->kind == EFA_REQ_SEND || !(req->way.flags & FI_INJECT) ||
                                         req->way.local == req->way.injected);
}

ssize_t wsh_efa_run_give(struct wsh_efa_tp *tp, struct wsh_efa_req *req, unsigned index, uint64_t imm)
{
    struct wsh_efa_rail *rail = &tp->rail[index];
    bool hold = tp->running && rail->taken < rail->depth && can_hold(req);

    if (push(tp, index, hold))
        return -FI_EAGAIN;
    if (!hold)
        return give(tp, req, index, imm, 0);
    rail->held = req;
    rail->held_imm = imm;
    tp->n_held++;
    return 0;
}

int wsh_efa_run_finish(struct wsh_efa_tp *tp)
{
    int rc = 0, err;

    tp->running = false;
    for (unsigned i = 0; tp->n_held && i < tp->n_rails; i++)
        if ((err = push(tp, i, false)) && err != -EAGAIN)
            rc = err;
    tp->aside = tp->n_rails > 1 || tp->n_held;
    return rc;
}

void wsh_efa_way_fill(struct wsh_efa_req *req, const struct wsh_efa_span *span, uint64_t flags)
{
    struct wsh_efa_way *way = &req->way;

    way->local = span->local;
    way->desc = span->desc;
    way->addr = span->addr;
    way->key = span->key;
    way->len = span->len;
    way->flags = flags;
    if (flags & FI_INJECT && span->len <= EFA_INJECTED_MAX)
        way->local = memcpy(way->injected, span->local, span->len);
}

int wsh_efa_run_post(struct wsh_efa_tp *tp, struct wsh_efa_req *req, const struct wsh_efa_span *span,
                     uint64_t flags, uint64_t imm)
{
    ssize_t rc;

    wsh_efa_way_fill(req, span, flags);
    rc = wsh_efa_run_give(tp, req, 0, imm);
    if (rc)
        return wsh_efa_posted(tp, 0, req->pe, name_of(req), rc);
    tp->n_writes += req->kind == EFA_REQ_WRITE;
    wsh_efa_took(tp, req);
    return 0;
}

int wsh_efa_run_send(struct wsh_efa_tp *tp, struct wsh_efa_req *req)
{
    ssize_t rc = wsh_efa_run_give(tp, req, 0, 0);

    if (rc)
        return wsh_efa_posted(tp, 0, req->pe, name_of(req), rc);
    wsh_efa_took(tp, req);
    return 0;
}
