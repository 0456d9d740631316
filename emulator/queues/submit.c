/* SPDX-License-Identifier: BSD-3-Clause */
/* Serves the rings of a queue pair: checked requests become operations of the network, receives those of the region. */
#include "emulator/queues/counters.h"
#include "emulator/queues/queues.h"

#include "emulator/say.h"
#include "emulator/wire/wire.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define BURST 64u

static const struct {
    enum emu_op_kind kind;
    unsigned count;
    uint32_t cap;
} operations[EMU_IO_OPERATIONS] = {[EMU_IO_SEND] = {EMU_SEND, EMU_COUNT_SEND, 0},
                                   [EMU_IO_READ] = {EMU_READ, EMU_COUNT_READ, EMU_CAP_READ},
                                   [EMU_IO_WRITE] = {EMU_WRITE, EMU_COUNT_WRITE, EMU_CAP_WRITE}};

static void ring_break(struct emu_rings *rings, enum emu_violation violation)
{
    if (!rings->broken)
        emu_violation_say(violation, rings->qp->context->nic, "queue pair", rings->qp->qpn);
    rings->broken = violation;
}

static void op_address(struct emu_op *op, const struct emu_request *request)
{
    uint32_t nic = op->qp->context->nic;
    const struct emu_shared_ah *ah = &emu.mine->ah[nic][request->ahn % EMU_AHS_PER_NIC];

    op->addressed = true;
    if (request->ahn >= emu.mine->nah[nic] || !ah->uses)
        op->status = EMU_INVALID_AH;
    op->dst_slot = ah->slot;
    op->dst_nic = ah->nic;
    op->reachable = ah->slot < EMU_SLOTS_MAX;
    op->dst_qpn = request->dst_qpn;
    op->qkey = request->qkey;
}

static void op_payload(struct emu_op *op, const struct emu_request *request)
{
    struct ibv_sge list[2];

    if (request->is_inline) {
        op->is_inline = true;
        op->len = request->len;
        memcpy(op->data, request->data, request->len);
        return;
    }
    for (unsigned i = 0; i < request->pieces; i++)
        list[i] = (struct ibv_sge){request->piece[i].addr, request->piece[i].len, request->piece[i].key};
    emu_op_set_pieces(op, request->pieces, list);
}

static struct emu_op *op_fresh(struct emu_rings *rings, uint64_t id, enum emu_status status)
{
    struct emu_op *op = calloc(1, sizeof *op);

    if (!op)
        return NULL;
    op->qp = rings->qp;
    op->wr_id = id;
    op->from_ring = true;
    op->status = rings->qp->ibv.state == IBV_QPS_RTS ? status : EMU_FLUSHED;
    return op;
}

static struct emu_op *op_of(struct emu_rings *rings, const struct emu_request *request)
{
    struct emu_op *op = op_fresh(rings, request->id, EMU_OK);
    uint32_t cap = operations[request->operation].cap;

    if (!op)
        return NULL;
    op->kind = operations[request->operation].kind;
    op->has_imm = request->has_imm;
    op->imm = htobe32(request->imm);
    if (cap && (!(emu.settings.profile->caps & cap) || op->qp->is_ud) && !op->status)
        op->status = EMU_UNSUPPORTED_OP;
    op->rkey = request->remote.key;
    op->raddr = request->remote.addr;
    op_address(op, request);
    op_payload(op, request);
    return op;
}

/* Nothing moves: only the rules are checked, and the request is over. */
static void request_retire(struct emu_rings *rings, const struct emu_request *request)
{
    struct emu_qp *qp = rings->qp;
    struct emu_cqe cqe = {.wr_id = request->id,
                          .qpn = qp->qpn,
                          .qp_life = qp->life,
                          .operation = (uint8_t)request->operation,
                          .flags = EMU_CQE_SEND_QUEUE | EMU_CQE_RING};

    /* release: pairs with the acquire of the next take */
    atomic_fetch_add_explicit(&rings->sq.completed, 1, memory_order_release);
    emu_count_add(qp->shared, operations[request->operation].count, request->len, EMU_OK);
    emu_cq_memory_put(qp->send_cq->memory, &cqe);
}

/* The next announced request: an operation for it, or NULL if it is over already. */
static struct emu_op *next_op(struct emu_rings *rings)
{
    struct emu_request request;
    enum emu_violation violation;

    if (rings->broken)
        return op_fresh(rings, emu_send_discard(&rings->sq), EMU_FLUSHED);
    violation = emu_send_take(&rings->sq, &request);
    if (violation) {
        ring_break(rings, violation);
        return op_fresh(rings, request.id, EMU_QP_INTERNAL);
    }
    rings->qp->with_data += request.is_inline;
    rings->qp->data += request.is_inline ? request.len : 0;
    if (emu.settings.null && rings->qp->send_cq->memory) {
        request_retire(rings, &request);
        return NULL;
    }
    return op_of(rings, &request);
}

/* Of a broken queue, one may be over without a doorbell: what is announced is then one less than nothing. */
static bool may_take(const struct emu_rings *rings)
{
    struct emu_cq_memory *memory = rings->qp->send_cq->memory;
    uint32_t announced = emu_ring_announced(&rings->sq);

    if (rings->broken && announced > rings->sq.entries)
        return false;
    return announced && (!emu.settings.null || !memory || emu_cq_memory_has_room(memory));
}

unsigned emu_rings_submit(struct emu_rings *rings, unsigned most)
{
    struct emu_op *first = NULL, **last = &first;
    unsigned n = 0;

    for (; n < most && may_take(rings); n++) {
        struct emu_op *op = next_op(rings);

        if (!op)
            continue;
        *last = op;
        last = &op->next;
    }
    if (first)
        emu_wire_post(first);
    return n;
}

/* A request that nobody will announce ends in the same way as one that breaks a rule. */
static void sends_watch(struct emu_rings *rings)
{
    enum emu_violation violation = emu_send_watch(&rings->sq, emu_now_ns());
    struct emu_op *op;

    if (violation == EMU_WRONG_UNRUNG)
        emu_violation_say(violation, rings->qp->context->nic, "queue pair", rings->qp->qpn);
    if (violation != EMU_WRONG_BATCH)
        return;
    ring_break(rings, violation);
    op = op_fresh(rings, emu_send_discard(&rings->sq), EMU_QP_INTERNAL);
    if (op)
        emu_wire_post(op);
}

static bool sends_serve(struct emu_rings *rings)
{
    uint32_t doorbell = atomic_load_explicit(rings->sq.doorbell, memory_order_relaxed);
    unsigned n = emu_rings_submit(rings, emu.settings.null ? BURST * BURST : BURST);

    if (doorbell != rings->rung)
        rings->qp->doorbells++;
    rings->rung = doorbell;
    rings->qp->posted += n;
    if (n > rings->qp->largest_batch)
        rings->qp->largest_batch = n;
    if (!n && !rings->broken)
        sends_watch(rings);
    return n > 0;
}

static bool receive_serve(struct emu_rings *rings)
{
    struct emu_shared_qp *shared = rings->qp->shared;
    struct emu_buffer buffers[EMU_SGES];
    struct ibv_sge list[EMU_SGES];
    struct ibv_recv_wr wr = {.sg_list = list}, *bad;
    enum emu_violation violation;
    uint32_t used = atomic_load_explicit(&shared->tail, memory_order_relaxed) -
                    atomic_load_explicit(&shared->head, memory_order_relaxed);

    if (used > shared->rq_mask && emu_ring_announced(&rings->rq) <= rings->rq.entries)
        return false;
    wr.num_sge = (int)emu_receive_take(&rings->rq, buffers, EMU_SGES, &violation);
    if (violation)
        ring_break(rings, violation);
    if (!wr.num_sge)
        return false;
    for (int i = 0; i < wr.num_sge; i++)
        list[i] = (struct ibv_sge){buffers[i].piece.addr, buffers[i].piece.len, buffers[i].piece.key};
    wr.wr_id = buffers[0].id;
    return emu_qp_post_recv(&rings->qp->ibv, &wr, &bad) == 0;
}

bool emu_rings_serve(struct emu_rings *rings)
{
    unsigned receives = 0;

    while (!rings->broken && receives < BURST && emu_ring_announced(&rings->rq) && receive_serve(rings))
        receives++;
    return sends_serve(rings) || receives > 0;
}
