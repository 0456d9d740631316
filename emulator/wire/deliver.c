/* SPDX-License-Identifier: BSD-3-Clause */
/* Delivers a segment at its target: checks, payload, receives, completions, errors. */
#include "emulator/wire/wire.h"

#include "emulator/fabric/copy.h"
#include "emulator/queues/counters.h"
#include "emulator/queues/queues.h"
#include "emulator/say.h"

#include <errno.h>
#include <stdlib.h>

#define RETRY_NS 1000000ull /* between two tries at a peer that does not answer */
#define SHOWN_NS 2000ull    /* between two checks of a counter's word */
#define NO_QP UINT32_MAX

/* One delivery: a segment at a queue pair of a locked region. */
struct delivery {
    struct emu_segment *segment;
    struct emu_op *op;
    struct emu_peer *peer;
    struct emu_region *region;
    struct emu_shared_qp *qp;
    uint32_t qp_index;
    uint32_t ahn; /* the target's number for the sender, or EMU_AH_UNKNOWN */
    bool silent;  /* the target is dying: it has no memory any more, and says nothing */
};

static void ring_if_armed(struct emu_region *region, struct emu_shared_cq *cq)
{
    /* Orders the entry's publication before the look at `armed`; pairs with the fence of emu_cq_arm. */
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&cq->armed, memory_order_relaxed))
        return;
    atomic_store_explicit(&cq->armed, 0, memory_order_relaxed);
    atomic_store_explicit(&cq->fired, 1, memory_order_relaxed);
    emu_region_wake(region);
}

static void wake_queues(struct emu_region *region, struct emu_shared_cq *cq)
{
    if (atomic_load_explicit(&cq->in_memory, memory_order_relaxed))
        emu_region_wake_engine(region);
}

/* With the region's lock: takes a receive of `qp_index` (or none) and adds the completion, both or neither. */
static void completion_post(struct emu_region *region, uint32_t qp_index, uint32_t cq_index,
                            const struct emu_cqe *cqe)
{
    struct emu_shared_cq *cq = &region->cq[cq_index];
    struct emu_journal *journal = &region->journal;
    uint32_t prod = atomic_load_explicit(&cq->prod, memory_order_relaxed);
    struct emu_cqe *ring = emu_region_at(region, cq->ring_at);

    if (!atomic_load_explicit(&cq->open, memory_order_relaxed))
        return;
    /* acquire: pairs with the owner's release, so that the slot is free to be overwritten */
    if (prod - atomic_load_explicit(&cq->cons, memory_order_acquire) > cq->mask) {
        if (!atomic_exchange_explicit(&cq->overrun, 1, memory_order_relaxed))
            emu_say("overrun of a completion queue of %u entries of rank %d: completions are lost",
                    cq->mask + 1, region->rank);
        return;
    }
    ring[prod & cq->mask] = *cqe;
    journal->qp = qp_index;
    journal->head =
        qp_index == NO_QP ? 0 : atomic_load_explicit(&region->qp[qp_index].head, memory_order_relaxed) + 1;
    journal->cq = cq_index;
    journal->prod = prod + 1;
    /* Signal fences: only the death of this process can come between these stores, and then the lock orders them. */
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&journal->valid, 1,
                          memory_order_release); /* with finish_journal, by way of the lock */
    atomic_signal_fence(memory_order_seq_cst);
    if (qp_index != NO_QP)
        atomic_store_explicit(&region->qp[qp_index].head, journal->head,
                              memory_order_release);                  /* with post_recv */
    atomic_store_explicit(&cq->prod, prod + 1, memory_order_release); /* with the poll */
    atomic_store_explicit(&journal->valid, 0, memory_order_release);
    ring_if_armed(region, cq);
    wake_queues(region, cq);
}

static const struct {
    uint8_t operation, count, opcode;
} kinds[] = {[EMU_SEND] = {EMU_IO_SEND, EMU_COUNT_SEND, IBV_WC_SEND},
             [EMU_WRITE] = {EMU_IO_WRITE, EMU_COUNT_WRITE, IBV_WC_RDMA_WRITE},
             [EMU_READ] = {EMU_IO_READ, EMU_COUNT_READ, IBV_WC_SEND}};

/* The operation is over: its completion, and its end. */
static void op_finish(struct emu_op *op)
{
    struct emu_qp *qp = op->qp;
    struct emu_cqe cqe = {.wr_id = op->wr_id,
                          .qpn = qp->qpn,
                          .qp_life = qp->life,
                          .status = (uint8_t)op->status,
                          .opcode = kinds[op->kind].opcode,
                          .operation = kinds[op->kind].operation,
                          .flags = EMU_CQE_SEND_QUEUE | (op->from_ring ? EMU_CQE_RING : 0)};

    if (op->from_ring)
        /* release: pairs with the acquire of the ring's next take */
        atomic_fetch_add_explicit(&qp->rings->sq.completed, 1, memory_order_release);
    emu_count_add(qp->shared, kinds[op->kind].count, op->len, op->status);
    emu_region_lock(emu.mine);
    completion_post(emu.mine, NO_QP, qp->send_cq->index, &cqe);
    emu_region_unlock(emu.mine);
    free(op);
}

static uint64_t segment_done(struct emu_op *op)
{
    op->left--;
    return 0;
}

static uint64_t segment_failed(struct emu_op *op, enum emu_status status)
{
    if (!op->status)
        op->status = status;
    return segment_done(op);
}

/* Nobody answers: tries again until the time-out. */
static uint64_t peer_silence(struct emu_op *op, const struct emu_link *link, const struct emu_peer *peer,
                             uint64_t now)
{
    if (!op->silent_ns)
        op->silent_ns = now ? now : 1;
    if (now < op->silent_ns + link->timeout_ns) {
        uint64_t end = op->silent_ns + link->timeout_ns;

        return end < now + RETRY_NS ? end : now + RETRY_NS;
    }
    return segment_failed(op, peer && peer->responded ? EMU_UNRESPONSIVE : EMU_UNREACHABLE);
}

static uint32_t sender_number(const struct delivery *d)
{
    const struct emu_shared_ah *ah = d->region->ah[d->op->dst_nic];

    for (uint32_t i = 0; i < d->region->nah[d->op->dst_nic]; i++)
        if (ah[i].uses && ah[i].slot == emu.mine->slot && ah[i].nic == d->op->qp->context->nic)
            return i;
    return EMU_AH_UNKNOWN;
}

static bool find_target(struct delivery *d)
{
    const struct emu_op *op = d->op;

    if (atomic_load_explicit(&d->region->closed, memory_order_relaxed) || op->dst_qpn >= EMU_QPS_PER_NIC)
        return false;
    d->qp_index = emu_qp_index(op->dst_nic, op->dst_qpn);
    d->qp = &d->region->qp[d->qp_index];
    d->ahn = sender_number(d);
    return atomic_load_explicit(&d->qp->open, memory_order_relaxed) && d->qp->qkey == op->qkey;
}

/* The receive that comes next; NULL if there is none. */
static struct emu_rqe *next_receive(const struct delivery *d)
{
    uint32_t head = atomic_load_explicit(&d->qp->head, memory_order_relaxed);
    struct emu_rqe *ring = emu_region_at(d->region, d->qp->rq_at);

    /* acquire: pairs with the release of emu_qp_post_recv, for the entry's contents */
    if (head == atomic_load_explicit(&d->qp->tail, memory_order_acquire))
        return NULL;
    return &ring[head & d->qp->rq_mask];
}

static uint64_t receiver_not_ready(struct delivery *d, uint64_t now)
{
    struct emu_op *op = d->op;
    struct emu_link link;

    emu_link_now(op, now, &link);
    if (op->qp->rnr_retry != 7 && op->rnr_tries++ >= op->qp->rnr_retry)
        return segment_failed(op, EMU_REMOTE_RNR);
    return now + link.rnr_ns;
}

static struct emu_cqe receive_completion(const struct delivery *d, enum ibv_wc_opcode opcode)
{
    return (struct emu_cqe){.len = d->op->len,
                            .imm = d->op->imm,
                            .qpn = d->op->dst_qpn,
                            .qp_life = d->qp->life,
                            .src_qpn = d->op->qp->qpn,
                            .ahn = (uint16_t)d->ahn,
                            .opcode = (uint8_t)opcode,
                            .operation = opcode == IBV_WC_RECV ? EMU_IO_SEND : EMU_IO_WRITE,
                            .flags = d->op->has_imm ? EMU_CQE_IMM : 0,
                            .src_slot = emu.mine->slot,
                            .src_nic = d->op->qp->context->nic};
}

/* The payload of a send, into the buffers of a receive; a datagram leaves room for the header in front. */
static enum emu_status payload_scatter(struct delivery *d, const struct emu_rqe *rqe, bool *local_error)
{
    uint32_t skip = d->qp->is_ud ? EMU_GRH_BYTES : 0, offset = 0;

    for (uint32_t i = 0; i < rqe->num_sge && offset < d->op->len; i++) {
        const struct emu_sge *sge = &rqe->sge[i];
        uint32_t room = sge->len > skip ? sge->len - skip : 0;
        uint32_t len = room < d->op->len - offset ? room : d->op->len - offset;
        const struct emu_shared_mr *mr =
            emu_mr_find(d->region, d->op->dst_nic, sge->lkey, sge->addr, sge->len, IBV_ACCESS_LOCAL_WRITE);
        int rc;

        if (!mr) {
            *local_error = true;
            return EMU_REMOTE_BAD_STATUS;
        }
        rc = len ? emu_copy(d->op, offset, len, d->peer, mr->addr + (sge->addr - mr->iova) + skip, mr->gpu)
                 : 0;
        d->silent = rc == -ESRCH;
        if (rc)
            return EMU_REMOTE_BAD_ADDRESS;
        skip -= sge->len < skip ? sge->len : skip;
        offset += len;
    }
    return offset < d->op->len ? EMU_REMOTE_BAD_LENGTH : EMU_OK;
}

static uint64_t land_send(struct delivery *d, uint64_t now)
{
    struct emu_cqe cqe = receive_completion(d, IBV_WC_RECV);
    struct emu_rqe *rqe = next_receive(d);
    bool local_error = false;
    enum emu_status status;

    if (!rqe)
        return receiver_not_ready(d, now);
    status = payload_scatter(d, rqe, &local_error);
    if (d->silent)
        return 0;
    if (status && !local_error)
        return segment_failed(d->op, status);
    cqe.wr_id = rqe->wr_id;
    cqe.status = local_error ? EMU_INVALID_LKEY : EMU_OK;
    cqe.len += d->qp->is_ud ? EMU_GRH_BYTES : 0;
    emu_count_add(d->qp, EMU_COUNT_RECEIVE, cqe.len, cqe.status);
    completion_post(d->region, d->qp_index, d->qp->recv_cq, &cqe);
    return status ? segment_failed(d->op, status) : segment_done(d->op);
}

/* All of the write is there. */
static uint64_t land_immediate(struct delivery *d, uint64_t now)
{
    struct emu_cqe cqe = receive_completion(d, IBV_WC_RECV_RDMA_WITH_IMM);
    struct emu_rqe *rqe;

    if (d->qp->flags & EMU_QP_UNSOLICITED) {
        cqe.flags |= EMU_CQE_UNSOLICITED;
        completion_post(d->region, NO_QP, d->qp->recv_cq, &cqe);
        return segment_done(d->op);
    }
    rqe = next_receive(d);
    if (!rqe) {
        d->segment->kind = EMU_SEGMENT_IMM;
        return receiver_not_ready(d, now);
    }
    cqe.wr_id = rqe->wr_id;
    completion_post(d->region, d->qp_index, d->qp->recv_cq, &cqe);
    return segment_done(d->op);
}

/* A number that has gone through the counter's word, or for which no counter is there any more. */
static bool is_shown(const struct delivery *d, unsigned what)
{
    /* acquire: pairs with the releases of watch and note_shown in counters.c */
    return !(atomic_load_explicit(&d->qp->watched, memory_order_acquire) >> what & 1) ||
           atomic_load_explicit(&d->qp->shown[what], memory_order_acquire) >= d->segment->count;
}

/* All of the operation is there: it is counted, and not over before the target's word shows that. 0: it does. */
static uint64_t land_count(struct delivery *d, uint64_t now)
{
    unsigned what = d->op->kind == EMU_WRITE ? EMU_COUNT_WRITTEN : EMU_COUNT_WAS_READ;

    if (d->segment->kind == EMU_SEGMENT_IMM)
        return 0;
    if (d->segment->kind != EMU_SEGMENT_COUNTED) {
        emu_count_add(d->qp, what, d->op->len, EMU_OK);
        d->segment->count = atomic_load_explicit(&d->qp->done[what], memory_order_relaxed);
        d->segment->kind = EMU_SEGMENT_COUNTED;
    }
    if (is_shown(d, what))
        return 0;
    emu_region_wake_engine(d->region);
    return now + SHOWN_NS;
}

static uint64_t land_rdma(struct delivery *d, uint64_t now)
{
    struct emu_segment *s = d->segment;
    struct emu_op *op = d->op;
    uint32_t access = op->kind == EMU_WRITE ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ;
    uint64_t again;

    if (d->ahn == EMU_AH_UNKNOWN)
        return segment_failed(op, EMU_UNKNOWN_PEER);
    if (s->len && s->kind < EMU_SEGMENT_COUNTED) {
        uint64_t raddr = op->raddr + s->offset;
        const struct emu_shared_mr *mr = emu_mr_find(d->region, op->dst_nic, op->rkey, raddr, s->len, access);
        int rc =
            mr ? emu_copy(op, s->offset, s->len, d->peer, mr->addr + (raddr - mr->iova), mr->gpu) : -EFAULT;

        d->silent = rc == -ESRCH;
        if (rc)
            return d->silent ? 0 : segment_failed(op, EMU_REMOTE_BAD_ADDRESS);
    }
    if (op->left != op->late + 1)
        return segment_done(op);
    again = land_count(d, now);
    if (again)
        return again;
    return op->has_imm ? land_immediate(d, now) : segment_done(op);
}

/* A duplicate that nobody waits for but the sender's completion: what it cannot reach is no error. */
static uint64_t land_late(struct delivery *d)
{
    struct emu_segment *s = d->segment;
    struct emu_op kept = *d->op;
    uint64_t raddr = kept.raddr + s->offset;
    const struct emu_shared_mr *mr =
        emu_mr_find(d->region, kept.dst_nic, kept.rkey, raddr, s->len, IBV_ACCESS_REMOTE_WRITE);

    kept.is_inline = false;
    kept.nsge = 1;
    kept.sge[0] = (struct emu_sge){.addr = (uintptr_t)s->data, .len = s->len};
    kept.gpu[0] = 0;
    if (mr)
        emu_copy(&kept, 0, s->len, d->peer, mr->addr + (raddr - mr->iova), mr->gpu);
    return segment_done(d->op);
}

static uint64_t segment_deliver(struct emu_segment *segment, const struct emu_link *link,
                                struct emu_peer *peer, uint64_t now)
{
    struct delivery d = {.segment = segment, .op = segment->op, .peer = peer, .region = peer->region};
    uint64_t again;

    emu_region_lock(d.region);
    if (segment->kind == EMU_SEGMENT_LATE)
        again = land_late(&d);
    else if (!find_target(&d))
        again = segment_failed(d.op, EMU_REMOTE_BAD_QPN);
    else
        again = d.op->kind == EMU_SEND ? land_send(&d, now) : land_rdma(&d, now);
    emu_region_unlock(d.region);
    return d.silent ? peer_silence(d.op, link, peer, now) : again;
}

static uint64_t segment_land(struct emu_segment *segment, uint64_t now)
{
    struct emu_op *op = segment->op;
    struct emu_peer *peer;
    struct emu_link link;
    uint64_t again;

    emu_link_now(op, now, &link);
    if (op->status)
        return segment_done(op);
    if (link.removed)
        return segment_failed(op, EMU_FLUSHED);
    if (link.stalled_until_ns > now)
        return link.stalled_until_ns;
    peer = op->reachable ? emu_fabric_peer(op->dst_slot) : NULL;
    if (segment->kind == EMU_SEGMENT_LATE && (!peer || link.down || !emu_peer_alive(peer)))
        return segment_done(op);
    if (!peer || link.down || !emu_peer_alive(peer))
        return peer_silence(op, &link, peer, now);
    op->silent_ns = 0;
    again = segment_deliver(segment, &link, peer, now);
    peer->responded = true;
    return again;
}

/* The sender's completion waits until the target's region is unlocked: nobody holds two locks. */
uint64_t emu_segment_land(struct emu_segment *segment, uint64_t now)
{
    struct emu_op *op = segment->op;
    uint64_t again = segment_land(segment, now);

    if (!again && segment->kind == EMU_SEGMENT_LATE) {
        op->late--;
        free(segment->data);
    }
    if (!again && op->left == 0)
        op_finish(op);
    return again;
}
