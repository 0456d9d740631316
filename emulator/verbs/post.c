/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds and posts work requests: the extended calls, and ibv_post_send on top of them. */
#include "emulator/wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct emu_qp *qp_of(struct ibv_qp_ex *qp)
{
    return (struct emu_qp *)qp;
}

static void forget_batch(struct emu_qp *qp)
{
    while (qp->batch) {
        struct emu_op *op = qp->batch;

        qp->batch = op->next;
        free(op);
    }
    qp->batch_last = NULL;
    qp->batch_ops = 0;
}

static void fail_batch(struct emu_qp *qp, int error)
{
    if (!qp->batch_error)
        qp->batch_error = error;
}

static void wr_start(struct ibv_qp_ex *ex)
{
    struct emu_qp *qp = qp_of(ex);

    pthread_mutex_lock(&qp->mutex);
    qp->batch_error = 0;
}

/* A new request at the end of the batch; NULL (and the batch fails) if it cannot be taken. */
static struct emu_op *op_add(struct ibv_qp_ex *ex, enum emu_op_kind kind)
{
    struct emu_qp *qp = qp_of(ex);
    uint32_t used = atomic_load_explicit(&qp->sq_used, memory_order_relaxed);
    struct emu_op *op;

    if (qp->batch_error)
        return NULL;
    op = used + qp->batch_ops < qp->sq_depth ? calloc(1, sizeof *op) : NULL;
    if (!op) {
        fail_batch(qp, ENOMEM);
        return NULL;
    }
    op->qp = qp;
    op->wr_id = ex->wr_id;
    op->kind = kind;
    if (qp->batch_last)
        qp->batch_last->next = op;
    else
        qp->batch = op;
    qp->batch_last = op;
    qp->batch_ops++;
    return op;
}

/* The request under construction; NULL if the batch has failed. */
static struct emu_op *op_current(struct ibv_qp_ex *ex)
{
    return qp_of(ex)->batch_error ? NULL : qp_of(ex)->batch_last;
}

static void wr_send(struct ibv_qp_ex *ex)
{
    op_add(ex, EMU_SEND);
}

static void set_imm(struct emu_op *op, uint32_t imm)
{
    if (!op)
        return;
    op->has_imm = true;
    op->imm = imm;
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
    set_imm(op_add(ex, EMU_SEND), imm);
}

static struct emu_op *add_rdma(struct ibv_qp_ex *ex, enum emu_op_kind kind, uint32_t cap, uint32_t rkey,
                               uint64_t raddr)
{
    struct emu_op *op = op_add(ex, kind);

    if (!op)
        return NULL;
    if (!(emu.settings.profile->caps & cap) || qp_of(ex)->is_ud)
        op->status = EMU_UNSUPPORTED_OP;
    op->rkey = rkey;
    op->raddr = raddr;
    return op;
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr)
{
    add_rdma(ex, EMU_WRITE, EMU_CAP_WRITE, rkey, raddr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr, __be32 imm)
{
    set_imm(add_rdma(ex, EMU_WRITE, EMU_CAP_WRITE, rkey, raddr), imm);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr)
{
    add_rdma(ex, EMU_READ, EMU_CAP_READ, rkey, raddr);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ibv, uint32_t qpn, uint32_t qkey)
{
    struct emu_op *op = op_current(ex);
    struct emu_ah *ah = (struct emu_ah *)ibv;

    if (!op)
        return;
    op->dst_slot = ah->dst_slot;
    op->dst_nic = ah->dst_nic;
    op->reachable = ah->reachable;
    op->dst_qpn = qpn;
    op->qkey = qkey;
    op->addressed = true;
}

static void check_length(struct emu_op *op)
{
    uint32_t most = op->kind == EMU_SEND ? EMU_MESSAGE_MAX : EMU_RDMA_MAX;

    if (op->len > most && !op->status)
        op->status = EMU_BAD_LENGTH;
}

void emu_op_set_pieces(struct emu_op *op, size_t n, const struct ibv_sge *list)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t access = op->kind == EMU_READ ? IBV_ACCESS_LOCAL_WRITE : 0;
        const struct emu_shared_mr *mr =
            emu_mr_find(emu.mine, op->qp->context->nic, list[i].lkey, list[i].addr, list[i].length, access);

        if (!mr && list[i].length && !op->status)
            op->status = EMU_INVALID_LKEY;
        op->sge[i] =
            (struct emu_sge){mr ? mr->addr + (list[i].addr - mr->iova) : 0, list[i].length, list[i].lkey};
        op->gpu[i] = mr ? mr->gpu : 0;
        op->len += list[i].length;
    }
    op->nsge = (uint32_t)n;
    check_length(op);
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
    struct emu_op *op = op_current(ex);

    if (op && (n > EMU_SQ_SGES || (op->kind != EMU_SEND && n > 1)))
        fail_batch(qp_of(ex), EINVAL);
    else if (op)
        emu_op_set_pieces(op, n, list);
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t len)
{
    struct ibv_sge sge = {addr, len, lkey};

    wr_set_sge_list(ex, 1, &sge);
}

static bool may_be_inline(const struct emu_op *op)
{
    return op->kind == EMU_SEND || (op->kind == EMU_WRITE && (op->qp->shared->flags & EMU_QP_INLINE_WRITE));
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_data_buf *list)
{
    struct emu_op *op = op_current(ex);

    if (!op)
        return;
    for (size_t i = 0; i < n; i++) {
        if (list[i].length > qp_of(ex)->max_inline - op->len || !may_be_inline(op)) {
            fail_batch(qp_of(ex), EINVAL);
            return;
        }
        memcpy(op->data + op->len, list[i].addr, list[i].length);
        op->len += (uint32_t)list[i].length;
    }
    op->is_inline = true;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t len)
{
    struct ibv_data_buf buf = {addr, len};

    wr_set_inline_data_list(ex, 1, &buf);
}

/* What a doorbell finds wrong with the batch as a whole. */
static int check_batch(struct emu_qp *qp)
{
    if (!emu_fabric_usable())
        return EOPNOTSUPP;
    for (struct emu_op *op = qp->batch; op; op = op->next)
        if (!op->addressed)
            return EINVAL;
    if (qp->ibv.state != IBV_QPS_RTS)
        return EINVAL;
    /*
     * Whatever the fault script says, an empty queue is never full, since callers wait for a completion, nor is one for
     * several requests: who posts so has counted them, and a refusal would take all of them back.
     */
    if (qp->batch_ops > 1 || !atomic_load_explicit(&qp->sq_used, memory_order_relaxed))
        return 0;
    return emu_wire_refuses(qp) ? ENOMEM : 0;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
    struct emu_qp *qp = qp_of(ex);
    int rc = qp->batch_error ? qp->batch_error : check_batch(qp);
    struct emu_op *ops = qp->batch;

    if (rc || !ops) {
        forget_batch(qp);
    } else {
        atomic_fetch_add_explicit(&qp->sq_used, qp->batch_ops, memory_order_relaxed);
        qp->posted += qp->batch_ops;
        qp->doorbells++;
        if (qp->batch_ops > qp->largest_batch)
            qp->largest_batch = qp->batch_ops;
        qp->batch = qp->batch_last = NULL;
        qp->batch_ops = 0;
        emu_wire_post(ops);
    }
    pthread_mutex_unlock(&qp->mutex);
    return rc;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
    forget_batch(qp_of(ex));
    pthread_mutex_unlock(&qp_of(ex)->mutex);
}

void emu_qp_fill_ops(struct emu_qp *qp)
{
    qp->ex.wr_start = wr_start;
    qp->ex.wr_complete = wr_complete;
    qp->ex.wr_abort = wr_abort;
    qp->ex.wr_send = wr_send;
    qp->ex.wr_send_imm = wr_send_imm;
    qp->ex.wr_rdma_write = wr_rdma_write;
    qp->ex.wr_rdma_write_imm = wr_rdma_write_imm;
    qp->ex.wr_rdma_read = wr_rdma_read;
    qp->ex.wr_set_ud_addr = wr_set_ud_addr;
    qp->ex.wr_set_sge = wr_set_sge;
    qp->ex.wr_set_sge_list = wr_set_sge_list;
    qp->ex.wr_set_inline_data = wr_set_inline_data;
    qp->ex.wr_set_inline_data_list = wr_set_inline_data_list;
}

static void post_inline(struct ibv_qp_ex *ex, const struct ibv_send_wr *wr)
{
    struct ibv_data_buf list[EMU_SQ_SGES];

    if (wr->num_sge > EMU_SQ_SGES) {
        fail_batch(qp_of(ex), EINVAL);
        return;
    }
    for (int i = 0; i < wr->num_sge; i++)
        list[i] = (struct ibv_data_buf){(void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length};
    wr_set_inline_data_list(ex, (size_t)wr->num_sge, list);
}

static int post_one(struct ibv_qp_ex *ex, const struct ibv_send_wr *wr)
{
    wr_start(ex);
    ex->wr_id = wr->wr_id;
    if (wr->opcode == IBV_WR_SEND)
        wr_send(ex);
    else if (wr->opcode == IBV_WR_SEND_WITH_IMM)
        wr_send_imm(ex, wr->imm_data);
    else
        fail_batch(qp_of(ex), EINVAL);
    if (wr->send_flags & IBV_SEND_INLINE)
        post_inline(ex, wr);
    else
        wr_set_sge_list(ex, (size_t)wr->num_sge, wr->sg_list);
    wr_set_ud_addr(ex, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
    return wr_complete(ex);
}

int emu_qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    for (; wr; wr = wr->next) {
        int rc = post_one((struct ibv_qp_ex *)qp, wr);

        if (rc) {
            *bad = wr;
            return rc;
        }
    }
    return 0;
}
