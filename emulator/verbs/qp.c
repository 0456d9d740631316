/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: a device's limits, creation, states, receives, destruction. */
#include "emulator/queues/queues.h"
#include "emulator/say.h"

#include "emulator/wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct emu_qp *open_qps; /* with the region's lock */

static struct ibv_qp *qp_refuse(struct emu_qp *qp, int error)
{
    free(qp);
    errno = error;
    return NULL;
}

/* Entries of 128 bytes, half as many: for more inline data than the others hold, and for inline writes. */
static bool is_wide(const struct ibv_qp_init_attr_ex *attr, uint32_t flags)
{
    return attr->cap.max_inline_data > EMU_INLINE_MAX || (flags & EMU_QP_INLINE_WRITE);
}

static int check_attr(const struct ibv_qp_init_attr_ex *attr, uint32_t flags)
{
    const uint32_t caps = emu.settings.profile->caps;
    uint64_t ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;

    if (attr->qp_type != IBV_QPT_UD && attr->qp_type != IBV_QPT_DRIVER)
        return EOPNOTSUPP;
    if (attr->qp_type == IBV_QPT_DRIVER && (caps & EMU_CAP_READ))
        ops |= IBV_QP_EX_WITH_RDMA_READ;
    if (attr->qp_type == IBV_QPT_DRIVER && (caps & EMU_CAP_WRITE))
        ops |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) && (attr->send_ops_flags & ~ops))
        return EOPNOTSUPP;
    if ((flags & EMU_QP_INLINE_WRITE) && (!(caps & EMU_CAP_CQ_MEMORY) || !(caps & EMU_CAP_WRITE)))
        return EOPNOTSUPP;
    if ((flags & ~(EMU_QP_UNSOLICITED | EMU_QP_INLINE_WRITE)) ||
        ((flags & EMU_QP_UNSOLICITED) && !(caps & EMU_CAP_UNSOLICITED)))
        return EOPNOTSUPP;
    if (attr->srq || !attr->send_cq || !attr->recv_cq)
        return EINVAL;
    if (attr->cap.max_send_sge > EMU_SQ_SGES || attr->cap.max_recv_sge > EMU_SGES ||
        attr->cap.max_send_wr > emu.settings.sq_depth / (is_wide(attr, flags) ? 2 : 1) ||
        attr->cap.max_recv_wr > EMU_RQ_DEPTH ||
        attr->cap.max_inline_data > (caps & EMU_CAP_CQ_MEMORY ? EMU_WIDE_INLINE : EMU_INLINE_MAX))
        return EINVAL;
    return 0;
}

/* With the region's lock: the lowest number whose last owner is gone; 0 if none is left. */
static uint32_t take_number(const struct emu_context *context)
{
    static uint32_t last[EMU_NICS_MAX];

    for (uint32_t tries = 1; tries < EMU_QPS_PER_NIC; tries++) {
        uint32_t qpn = (last[context->nic] + tries) % EMU_QPS_PER_NIC;

        if (qpn && !emu.mine->qp[emu_qp_index(context->nic, qpn)].rq_at) {
            last[context->nic] = qpn;
            return qpn;
        }
    }
    return 0;
}

static bool open_shared(struct emu_qp *qp, const struct ibv_qp_init_attr_ex *attr, uint32_t flags,
                        uint64_t rq_at, uint32_t entries)
{
    emu_region_lock(emu.mine);
    qp->qpn = take_number(qp->context);
    if (qp->qpn) {
        qp->shared = &emu.mine->qp[emu_qp_index(qp->context->nic, qp->qpn)];
        qp->life = ++qp->shared->life;
        qp->shared->flags = flags;
        qp->shared->is_ud = qp->is_ud;
        qp->shared->recv_cq = ((struct emu_cq *)attr->recv_cq)->index;
        qp->shared->rq_mask = entries - 1;
        qp->shared->rq_at = rq_at;
        atomic_store_explicit(&qp->shared->head, 0, memory_order_relaxed);
        atomic_store_explicit(&qp->shared->tail, 0, memory_order_relaxed);
        qp->next = open_qps;
        open_qps = qp;
    }
    emu_region_unlock(emu.mine);
    return qp->qpn != 0;
}

/* Fills the public and the private fields, and publishes the queue pair to the poll of its completion queues. */
static void qp_fill(struct emu_qp *qp, struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    qp->ibv = (struct ibv_qp){.context = context,
                              .qp_context = attr->qp_context,
                              .pd = attr->pd,
                              .send_cq = attr->send_cq,
                              .recv_cq = attr->recv_cq,
                              .handle = qp->qpn,
                              .qp_num = qp->qpn,
                              .state = IBV_QPS_RESET,
                              .qp_type = attr->qp_type};
    qp->send_cq = (struct emu_cq *)attr->send_cq;
    qp->sq_depth = attr->cap.max_send_wr ? attr->cap.max_send_wr : 1;
    qp->max_inline = is_wide(attr, qp->shared->flags) ? EMU_WIDE_INLINE : EMU_INLINE_MAX;
    qp->rq_descriptors = attr->cap.max_recv_wr * (attr->cap.max_recv_sge ? attr->cap.max_recv_sge : 1);
    qp->rnr_retry = 7;
    attr->cap.max_inline_data = qp->max_inline;
    pthread_mutex_init(&qp->mutex, NULL);
    pthread_mutex_init(&qp->rq_mutex, NULL);
    emu_qp_fill_ops(qp);
    /* release: pairs with the acquire of the poll */
    atomic_store_explicit(&qp->context->qp[qp->qpn], qp, memory_order_release);
}

struct ibv_qp *emu_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr, uint32_t flags)
{
    int error = emu_fabric_usable() ? check_attr(attr, flags) : EOPNOTSUPP;
    struct emu_qp *qp = error ? NULL : calloc(1, sizeof *qp);
    uint32_t entries = emu_ring_entries(attr->cap.max_recv_wr);
    uint64_t at;

    if (error || !qp || emu_wire_start())
        return qp_refuse(qp, error ? error : ENOMEM);
    qp->context = emu_context_of(context);
    qp->is_ud = attr->qp_type == IBV_QPT_UD;
    qp->rq_bytes = emu_ring_entries(entries * (uint32_t)sizeof(struct emu_rqe));
    at = emu_region_ring(qp->rq_bytes);
    if (!at)
        return qp_refuse(qp, ENOMEM);
    qp->rq = emu_region_at(emu.mine, at);
    if (!open_shared(qp, attr, flags, at, entries)) {
        emu_region_ring_free(at, qp->rq_bytes);
        return qp_refuse(qp, ENOMEM);
    }
    qp_fill(qp, context, attr);
    return &qp->ibv;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp_init_attr_ex ex = {.qp_context = attr->qp_context,
                                     .send_cq = attr->send_cq,
                                     .recv_cq = attr->recv_cq,
                                     .srq = attr->srq,
                                     .cap = attr->cap,
                                     .qp_type = attr->qp_type,
                                     .sq_sig_all = attr->sq_sig_all,
                                     .comp_mask = IBV_QP_INIT_ATTR_PD,
                                     .pd = pd};
    struct ibv_qp *qp;

    if (attr->qp_type != IBV_QPT_UD)
        return qp_refuse(NULL, EOPNOTSUPP);
    qp = emu_qp_create(pd->context, &ex, 0);
    if (qp)
        attr->cap = ex.cap;
    return qp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
    return (struct ibv_qp_ex *)qp;
}

/* EFA goes RESET, INIT, RTR, RTS; any state may go to RESET or ERR. */
static bool may_become(enum ibv_qp_state from, enum ibv_qp_state to)
{
    return to == from || to == IBV_QPS_RESET || to == IBV_QPS_ERR || (to == from + 1 && to <= IBV_QPS_RTS);
}

int ibv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
    struct emu_qp *qp = (struct emu_qp *)ibv;

    if (!emu_fabric_usable())
        return EOPNOTSUPP;
    if ((mask & IBV_QP_STATE) && !may_become(ibv->state, attr->qp_state))
        return EINVAL;
    if ((mask & IBV_QP_RNR_RETRY) && !(emu.settings.profile->caps & EMU_CAP_RNR_RETRY))
        return EOPNOTSUPP;
    emu_region_lock(emu.mine);
    if (mask & IBV_QP_QKEY)
        qp->shared->qkey = attr->qkey;
    if (mask & IBV_QP_RNR_RETRY)
        qp->rnr_retry = attr->rnr_retry;
    if (mask & IBV_QP_STATE) {
        ibv->state = attr->qp_state;
        /* the lock publishes it */
        atomic_store_explicit(&qp->shared->open, ibv->state == IBV_QPS_RTR || ibv->state == IBV_QPS_RTS,
                              memory_order_relaxed);
    }
    emu_region_unlock(emu.mine);
    return 0;
}

int ibv_query_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
    struct emu_qp *qp = (struct emu_qp *)ibv;

    (void)mask;
    *attr = (struct ibv_qp_attr){.qp_state = ibv->state,
                                 .cur_qp_state = ibv->state,
                                 .qkey = qp->shared->qkey,
                                 .rnr_retry = (uint8_t)qp->rnr_retry};
    *init =
        (struct ibv_qp_init_attr){.send_cq = ibv->send_cq, .recv_cq = ibv->recv_cq, .qp_type = ibv->qp_type};
    return 0;
}

/* At the process' end the context may be gone. */
static void say_counts(const struct emu_qp *qp)
{
    ptrdiff_t nic = (qp->shared - emu.mine->qp) / EMU_QPS_PER_NIC;

    if (emu.settings.count && qp->posted)
        emu_say("process %d, %s: %llu requests %sby %llu doorbells, at most %u at a time; %llu had data, "
                "%llu bytes; immediate data take %s receive",
                emu.mine->rank, emu.settings.nic[nic].name, (unsigned long long)qp->posted,
                qp->rings ? "through a queue in memory " : "", (unsigned long long)qp->doorbells,
                qp->largest_batch, (unsigned long long)qp->with_data, (unsigned long long)qp->data,
                qp->shared->flags & EMU_QP_UNSOLICITED ? "no" : "a");
}

/* Of the queue pairs that the process has not destroyed: its end is theirs. */
static void say_open(int status, void *arg)
{
    (void)status, (void)arg;
    for (const struct emu_qp *qp = emu.pid == getpid() ? open_qps : NULL; qp; qp = qp->next)
        say_counts(qp);
}

__attribute__((constructor)) static void say_last(void)
{
    on_exit(say_open, NULL);
}

int ibv_destroy_qp(struct ibv_qp *ibv)
{
    struct emu_qp *qp = (struct emu_qp *)ibv, **link = &open_qps;
    uint64_t at;

    if (!emu_fabric_usable())
        return 0;
    emu_rings_close(qp);
    say_counts(qp);
    emu_wire_cancel(qp);
    emu_region_lock(emu.mine);
    atomic_store_explicit(&qp->shared->open, 0, memory_order_relaxed);
    at = qp->shared->rq_at;
    qp->shared->rq_at = 0;
    while (*link != qp)
        link = &(*link)->next;
    *link = qp->next;
    emu_region_unlock(emu.mine);
    emu_region_ring_free(at, qp->rq_bytes);
    emu_rings_free(qp);
    free(qp);
    return 0;
}

int emu_qp_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct emu_qp *qp = (struct emu_qp *)ibv;
    uint32_t mask = qp->shared->rq_mask, tail;
    int rc = emu_fabric_usable() ? 0 : EOPNOTSUPP;

    pthread_mutex_lock(&qp->rq_mutex);
    tail = atomic_load_explicit(&qp->shared->tail, memory_order_relaxed);
    for (; wr && !rc; wr = wr->next) {
        struct emu_rqe *rqe = &qp->rq[tail & mask];

        if (wr->num_sge > EMU_SGES)
            rc = EINVAL;
        /* acquire: pairs with the release of complete() in wire/deliver.c: a consumed entry has been read */
        else if (tail - atomic_load_explicit(&qp->shared->head, memory_order_acquire) > mask)
            rc = ENOMEM;
        if (rc)
            break;
        rqe->wr_id = wr->wr_id;
        rqe->num_sge = (uint64_t)wr->num_sge;
        for (int i = 0; i < wr->num_sge; i++)
            rqe->sge[i] = (struct emu_sge){wr->sg_list[i].addr, wr->sg_list[i].length, wr->sg_list[i].lkey};
        tail++;
        /* release: pairs with the acquire of next_receive() in wire/deliver.c */
        atomic_store_explicit(&qp->shared->tail, tail, memory_order_release);
    }
    pthread_mutex_unlock(&qp->rq_mutex);
    if (rc)
        *bad = wr;
    return rc;
}

/* EFA has none. */
struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    (void)pd;
    (void)attr;
    errno = EOPNOTSUPP;
    return NULL;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
    (void)srq;
    return EINVAL;
}

/* Nothing is promised: every segment may come before the one in front of it. */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
    (void)qp;
    (void)op;
    (void)flags;
    return 0;
}
