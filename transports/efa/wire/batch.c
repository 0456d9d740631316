/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts requests to the provider in batches: several for one doorbell.
 *
 * A provider whose device moves data alone tells that device of every request by a doorbell, unless FI_MORE says that
 * another request follows. Then two things must never happen: that no doorbell comes (nothing moves, and the queue may
 * be locked meanwhile, so that polling hangs), and that the last one finds the queue full (the whole batch may be taken
 * back, with no error but the last one's). So between wsh_efa_batch_begin and wsh_efa_batch_end
 *   - a request is held, one on a rail, until the next one for that rail comes: only then is it known that FI_MORE is
 *     true. The end of the batch gives what is held, without it. Nobody reads completions meanwhile: both ends stand
 *     in one call under the lock, with no fi_cq_read between them, or the batch is a context's, over several calls, and
 *     progress ends what there is of it before it reads.
 *   - FI_MORE is set only while all that the provider has and has not completed, the next request too, fits into its
 *     queue. Such a device sends no packets for purposes of the provider's own, so this count is exact.
 *   - reads, and what the provider is to inject but is too long to be kept, leave at once and close the batch.
 * Should the provider have no room nevertheless, the request stays held, and progress gives it again.
 */
#include "transports/efa/wire/batch.h"

#include "transports/efa/gda/counters.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/memory.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/set/errors.h"

#include <string.h>

#define WSH_EFA_BATCH 16 /* requests for one doorbell */

static fi_addr_t address_of(const struct wsh_efa_set *set, const struct wsh_efa_req *req, unsigned rail)
{
    const struct wsh_efa_peer *peer = &set->peers[req->pe];

    if (wsh_unlikely(req->wr.counter))
        return wsh_efa_counter_addr(set, req->pe, req->wr.counter - 1u, rail);
    return peer->path ? peer->path[rail].addr : peer->addr;
}

static uint64_t key_of(const struct wsh_efa_set *set, const struct wsh_efa_req *req, unsigned rail)
{
    const struct wsh_efa_path *path = set->peers[req->pe].path;
    const struct wsh_efa_wr *wr = &req->wr;

    if (wsh_unlikely(wr->counter && wr->keys))
        return wr->keys[rail];
    return path ? path[rail].key[wr->key] : wr->key;
}

static ssize_t give_rma(struct wsh_efa_set *set, struct wsh_efa_req *req, unsigned rail, uint64_t imm,
                        uint64_t more)
{
    const struct wsh_efa_wr *wr = &req->wr;
    struct iovec iov = {wr->local, wr->len};
    struct fi_rma_iov remote = {wr->addr, wr->len, key_of(set, req, rail)};
    void *desc = wsh_efa_mr_desc(set, wr->desc, rail);
    const struct fi_msg_rma msg = {.msg_iov = &iov,
                                   .desc = &desc,
                                   .iov_count = 1,
                                   .addr = address_of(set, req, rail),
                                   .rma_iov = &remote,
                                   .rma_iov_count = 1,
                                   .context = req,
                                   .data = imm};

    if (req->kind == WSH_EFA_REQ_WRITE)
        return fi_writemsg(set->rail[rail].ep, &msg, wsh_efa_rma_flags(wr->flags | more));
    return fi_readmsg(set->rail[rail].ep, &msg, wr->flags | FI_COMPLETION);
}

static ssize_t give_message(struct wsh_efa_set *set, struct wsh_efa_req *req, unsigned rail, uint64_t more)
{
    const struct wsh_efa_peer *peer = &set->peers[req->pe];
    struct fid_ep *ep = set->rail[rail].ep;
    fi_addr_t addr = peer->path ? peer->path[rail].addr : peer->addr;
    void *desc = wsh_efa_mr_desc(set, req->desc, rail);
    struct iovec iov = {req->buf, req->len};
    const struct fi_msg msg = {.msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = addr, .context = req};

    if (!more)
        return fi_send(ep, req->buf, req->len, desc, addr, req);
    return fi_sendmsg(ep, &msg, set->rail[rail].info->tx_attr->op_flags | FI_COMPLETION | more);
}

static ssize_t give_req(struct wsh_efa_set *set, struct wsh_efa_req *req, unsigned rail, uint64_t imm,
                        uint64_t more)
{
    return req->kind == WSH_EFA_REQ_SEND ? give_message(set, req, rail, more)
                                         : give_rma(set, req, rail, imm, more);
}

static const char *name_of(const struct wsh_efa_req *req)
{
    static const char *const names[] = {"put", "get", "message"};

    return names[req->kind];
}

#define WSH_EFA_RETRY_S \
    0.01 /* seconds between tries for a PE that has left: each may be a connection that is refused */

/* Nothing else is under way to that peer: is it gone? */
static int held_refused(struct wsh_efa_set *set, int pe)
{
    struct wsh_efa_peer *peer = &set->peers[pe];

    if (set->by_sockets && peer->posted == 1 && set->has_left && set->has_left(set->core, pe))
        peer->retry_at = wsh_efa_now() + WSH_EFA_RETRY_S;
    return -EAGAIN;
}

/* Gives what the rail holds. An error that is not for want of room was logged, and ends the job. */
static int push_held(struct wsh_efa_set *set, unsigned index, bool more)
{
    struct wsh_efa_rail *rail = &set->rail[index];
    struct wsh_efa_req *req = rail->held;
    int rc;

    if (!req)
        return 0;
    if (wsh_unlikely(set->peers[req->pe].retry_at) && wsh_efa_now() < set->peers[req->pe].retry_at)
        return -EAGAIN;
    more = more && rail->batched + 1 < WSH_EFA_BATCH;
    rc = wsh_efa_post_check(set, index, req->pe, name_of(req),
                            give_req(set, req, index, rail->held_imm, more ? FI_MORE : 0));
    if (rc)
        return rc == -EAGAIN ? held_refused(set, req->pe) : rc;
    rail->held = NULL;
    rail->batched = more ? rail->batched + 1 : 0;
    set->shared += more;
    set->n_held--;
    return 0;
}

static bool can_hold(const struct wsh_efa_req *req)
{
    return req->kind != WSH_EFA_REQ_READ && (req->kind == WSH_EFA_REQ_SEND || !(req->wr.flags & FI_INJECT) ||
                                             req->wr.local == req->wr.injected);
}

ssize_t wsh_efa_batch_post(struct wsh_efa_set *set, struct wsh_efa_req *req, unsigned index, uint64_t imm)
{
    struct wsh_efa_rail *rail = &set->rail[index];
    bool hold = set->batching && rail->taken < rail->depth && can_hold(req);
    const struct wsh_efa_req *before = rail->held;
    int rc = push_held(set, index, hold);

    /* What is held for one peer waits for that alone: no other need wait for a process that is gone. */
    if (rc && (rc != -EAGAIN || before->pe == req->pe))
        return -FI_EAGAIN;
    hold = hold && !rc;
    if (!hold)
        return give_req(set, req, index, imm, 0);
    rail->held = req;
    rail->held_imm = imm;
    set->n_held++;
    return 0;
}

int wsh_efa_batch_finish(struct wsh_efa_set *set)
{
    int rc = 0, err;

    set->batching = set->batches;
    for (unsigned i = 0; set->n_held && i < set->n_rails; i++)
        if ((err = push_held(set, i, false)) && err != -EAGAIN)
            rc = err;
    set->aside = set->n_rails > 1 || set->n_held || set->batching || set->gone.any;
    return rc;
}

void wsh_efa_ctx_batch_begin(struct wsh_tctx *tctx)
{
    struct wsh_efa_set *set = wsh_efa_set_of(tctx);

    if (!set->doorbells)
        return;
    wsh_efa_set_lock(set);
    set->batches++;
    wsh_efa_batch_begin(set);
    wsh_efa_set_unlock(set);
}

int wsh_efa_ctx_batch_end(struct wsh_tctx *tctx)
{
    struct wsh_efa_set *set = wsh_efa_set_of(tctx);
    int rc;

    if (!set->doorbells)
        return 0;
    wsh_efa_set_lock(set);
    set->batches--;
    rc = wsh_efa_batch_finish(set);
    wsh_efa_set_unlock(set);
    return rc;
}

void wsh_efa_wr_fill(struct wsh_efa_req *req, const struct wsh_efa_span *span, uint64_t flags)
{
    struct wsh_efa_wr *wr = &req->wr;

    wr->local = span->local;
    wr->desc = span->desc;
    wr->addr = span->addr;
    wr->key = span->key;
    wr->len = span->len;
    wr->flags = flags;
    wr->counter = 0;
    if (flags & FI_INJECT && span->len <= WSH_EFA_INJECTED_MAX)
        wr->local = memcpy(wr->injected, span->local, span->len);
}

int wsh_efa_batch_start(struct wsh_efa_set *set, struct wsh_efa_req *req, uint64_t imm)
{
    ssize_t rc;

    if (wsh_efa_gone_take(set, req))
        return 0;
    rc = wsh_efa_batch_post(set, req, 0, imm);
    if (rc)
        return wsh_efa_post_check(set, 0, req->pe, name_of(req), rc);
    set->n_writes += req->kind == WSH_EFA_REQ_WRITE;
    wsh_efa_req_begin(set, req, req->wr.len);
    return 0;
}

int wsh_efa_batch_rma(struct wsh_efa_set *set, struct wsh_efa_req *req, const struct wsh_efa_span *span,
                      uint64_t flags, uint64_t imm)
{
    wsh_efa_wr_fill(req, span, flags);
    return wsh_efa_batch_start(set, req, imm);
}

int wsh_efa_batch_send(struct wsh_efa_set *set, struct wsh_efa_req *req)
{
    ssize_t rc;

    if (wsh_efa_gone_take(set, req))
        return 0;
    rc = wsh_efa_batch_post(set, req, 0, 0);
    if (rc)
        return wsh_efa_post_check(set, 0, req->pe, name_of(req), rc);
    wsh_efa_req_begin(set, req, req->len);
    return 0;
}
