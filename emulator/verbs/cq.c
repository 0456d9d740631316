/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues: their creation, and reading them by ibv_poll_cq and by the extended calls. */
#include "emulator/queues/queues.h"

#include "emulator/verbs/status.h"
#include "emulator/wire/wire.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* After so many empty polls in a row the processor is offered to others: they may have what is waited for. */
#define POLLS_BEFORE_YIELD 16

static struct emu_cq *cq_of(struct ibv_cq_ex *cq)
{
    return (struct emu_cq *)cq;
}

static enum ibv_wc_status verbs_status(enum emu_status status)
{
    switch (status) {
    case EMU_OK: return IBV_WC_SUCCESS;
    case EMU_FLUSHED: return IBV_WC_WR_FLUSH_ERR;
    case EMU_QP_INTERNAL:
    case EMU_UNSUPPORTED_OP:
    case EMU_INVALID_AH: return IBV_WC_LOC_QP_OP_ERR;
    case EMU_INVALID_LKEY: return IBV_WC_LOC_PROT_ERR;
    case EMU_BAD_LENGTH: return IBV_WC_LOC_LEN_ERR;
    case EMU_REMOTE_BAD_ADDRESS: return IBV_WC_REM_ACCESS_ERR;
    case EMU_REMOTE_ABORT: return IBV_WC_REM_ABORT_ERR;
    case EMU_REMOTE_BAD_QPN: return IBV_WC_REM_INV_RD_REQ_ERR;
    case EMU_REMOTE_RNR: return IBV_WC_RNR_RETRY_EXC_ERR;
    case EMU_REMOTE_BAD_LENGTH: return IBV_WC_REM_INV_REQ_ERR;
    case EMU_REMOTE_BAD_STATUS: return IBV_WC_BAD_RESP_ERR;
    case EMU_UNKNOWN_PEER: return IBV_WC_REM_OP_ERR;
    case EMU_UNRESPONSIVE:
    case EMU_UNREACHABLE: return IBV_WC_RESP_TIMEOUT_ERR;
    }
    return IBV_WC_GENERAL_ERR;
}

/* The queue pair of a completion; NULL if it has been destroyed since. */
static struct emu_qp *completed_qp(const struct emu_cq *cq, const struct emu_cqe *cqe)
{
    struct emu_context *context = emu_context_of(cq->ibv.context);
    /* acquire: pairs with the release of emu_qp_create */
    struct emu_qp *qp = atomic_load_explicit(&context->qp[cqe->qpn], memory_order_acquire);

    return qp && qp->life == cqe->qp_life ? qp : NULL;
}

/* As in rdma-core under the queue's lock, which a batch that has no doorbell yet holds: polling then is a deadlock. */
static void request_give_back(struct emu_qp *qp)
{
    pthread_mutex_lock(&qp->mutex);
    atomic_fetch_sub_explicit(&qp->sq_used, 1, memory_order_relaxed);
    pthread_mutex_unlock(&qp->mutex);
}

bool emu_cq_take(struct emu_cq *cq)
{
    uint32_t cons = atomic_load_explicit(&cq->shared->cons, memory_order_relaxed);
    struct emu_qp *qp = NULL;

    /* acquire: pairs with the release of complete() in wire/deliver.c, for the entry's contents */
    while (!qp && cons != atomic_load_explicit(&cq->shared->prod, memory_order_acquire)) {
        cq->current = cq->ring[cons++ & cq->shared->mask];
        /* release: pairs with the acquire of complete(), which may now overwrite the slot */
        atomic_store_explicit(&cq->shared->cons, cons, memory_order_release);
        qp = completed_qp(cq, &cq->current);
    }
    if (!qp)
        return false;
    if ((cq->current.flags & EMU_CQE_SEND_QUEUE) && !(cq->current.flags & EMU_CQE_RING))
        request_give_back(qp);
    return true;
}

/* Returns 0, ENOENT, or EIO once completions have been lost. */
static int cqe_take(struct emu_cq *cq)
{
    if (cq->memory || !emu_cq_take(cq)) {
        emu_wire_pump();
        if (cq->memory || !emu_cq_take(cq)) {
            if (++cq->idle_polls % POLLS_BEFORE_YIELD == 0)
                sched_yield();
            cq->current = (struct emu_cqe){.status = EMU_QP_INTERNAL};
            return atomic_load_explicit(&cq->shared->overrun, memory_order_relaxed) ? EIO : ENOENT;
        }
    }
    cq->idle_polls = 0;
    emu_wire_busy();
    return 0;
}

static int cqe_take_ex(struct emu_cq *cq)
{
    int rc = cqe_take(cq);

    if (rc)
        return rc;
    cq->ex.wr_id = cq->current.wr_id;
    cq->ex.status = verbs_status(cq->current.status);
    return 0;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
    struct emu_cq *cq = cq_of(ex);
    int rc;

    if (attr->comp_mask)
        return EINVAL;
    if (!emu_fabric_usable())
        return ENOENT;
    pthread_mutex_lock(&cq->mutex);
    rc = cqe_take_ex(cq);
    if (rc)
        pthread_mutex_unlock(&cq->mutex);
    return rc;
}

static int next_poll(struct ibv_cq_ex *ex)
{
    return cqe_take_ex(cq_of(ex));
}

static void end_poll(struct ibv_cq_ex *ex)
{
    pthread_mutex_unlock(&cq_of(ex)->mutex);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
    return cq_of(ex)->current.opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
    return cq_of(ex)->current.status;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
    return cq_of(ex)->current.len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ex)
{
    return cq_of(ex)->current.imm;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ex)
{
    return cq_of(ex)->current.qpn;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ex)
{
    return cq_of(ex)->current.src_qpn;
}

static unsigned read_wc_flags(struct ibv_cq_ex *ex)
{
    return cq_of(ex)->current.flags & EMU_CQE_IMM ? IBV_WC_WITH_IMM : 0;
}

static uint32_t read_slid(struct ibv_cq_ex *ex)
{
    return cq_of(ex)->current.ahn;
}

static uint8_t read_zero(struct ibv_cq_ex *ex)
{
    (void)ex;
    return 0;
}

static struct emu_cq *cq_of_dv(struct emu_efadv_cq *dv)
{
    return (struct emu_cq *)((char *)dv - offsetof(struct emu_cq, dv));
}

/* The address of a sender that this NIC has no handle for. */
static int wc_read_sgid(struct emu_efadv_cq *dv, union ibv_gid *gid)
{
    const struct emu_cqe *cqe = &cq_of_dv(dv)->current;

    if (cqe->ahn != EMU_AH_UNKNOWN)
        return -ENOENT;
    emu_gid_make(cqe->src_slot, cqe->src_nic, gid);
    return 0;
}

static bool wc_is_unsolicited(struct emu_efadv_cq *dv)
{
    return cq_of_dv(dv)->current.flags & EMU_CQE_UNSOLICITED;
}

static void fill_ops(struct emu_cq *cq)
{
    cq->ex.start_poll = start_poll;
    cq->ex.next_poll = next_poll;
    cq->ex.end_poll = end_poll;
    cq->ex.read_opcode = read_opcode;
    cq->ex.read_vendor_err = read_vendor_err;
    cq->ex.read_byte_len = read_byte_len;
    cq->ex.read_imm_data = read_imm_data;
    cq->ex.read_qp_num = read_qp_num;
    cq->ex.read_src_qp = read_src_qp;
    cq->ex.read_wc_flags = read_wc_flags;
    cq->ex.read_slid = read_slid;
    cq->ex.read_sl = read_zero;
    cq->ex.read_dlid_path_bits = read_zero;
    cq->dv.wc_read_sgid = wc_read_sgid;
    cq->dv.wc_is_unsolicited = wc_is_unsolicited;
}

/* A slot in the region's table; EMU_CQS_MAX if all are taken. */
static uint32_t open_shared(struct emu_cq *cq, uint32_t entries, uint64_t ring_at)
{
    uint32_t index = 0;

    emu_region_lock(emu.mine);
    while (index < EMU_CQS_MAX && atomic_load_explicit(&emu.mine->cq[index].open, memory_order_relaxed))
        index++;
    if (index < EMU_CQS_MAX) {
        cq->shared = &emu.mine->cq[index];
        memset(cq->shared, 0, sizeof *cq->shared);
        cq->shared->mask = entries - 1;
        cq->shared->ring_at = ring_at;
        atomic_store_explicit(&cq->shared->open, 1, memory_order_relaxed); /* the lock publishes it */
    }
    emu_region_unlock(emu.mine);
    return index;
}

static struct ibv_cq_ex *cq_refuse(struct emu_cq *cq, int error)
{
    free(cq);
    errno = error;
    return NULL;
}

struct ibv_cq_ex *emu_cq_create(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    uint32_t entries = emu_ring_entries(attr->cqe);
    struct emu_cq *cq = emu_fabric_usable() ? calloc(1, sizeof *cq) : NULL;
    uint64_t at;

    if (!cq || !attr->cqe || attr->cqe > EMU_CQ_DEPTH)
        return cq_refuse(cq, cq ? EINVAL : ENOMEM);
    cq->ring_bytes = (uint64_t)emu_ring_entries(entries * (uint32_t)sizeof(struct emu_cqe));
    at = emu_region_ring(cq->ring_bytes);
    if (!at)
        return cq_refuse(cq, ENOMEM);
    cq->index = open_shared(cq, entries, at);
    if (cq->index == EMU_CQS_MAX) {
        emu_region_ring_free(at, cq->ring_bytes);
        return cq_refuse(cq, ENOMEM);
    }
    cq->ring = emu_region_at(emu.mine, at);
    cq->ex.context = context;
    cq->ex.channel = attr->channel;
    cq->ex.cq_context = attr->cq_context;
    cq->ex.cqe = (int)entries;
    pthread_mutex_init(&cq->mutex, NULL);
    pthread_mutex_init(&cq->ex.mutex, NULL);
    pthread_cond_init(&cq->ex.cond, NULL);
    fill_ops(cq);
    emu_cq_watch(cq);
    return &cq->ex;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                             struct ibv_comp_channel *channel, int comp_vector)
{
    struct ibv_cq_init_attr_ex attr = {.cqe = (uint32_t)cqe,
                                       .cq_context = cq_context,
                                       .channel = channel,
                                       .comp_vector = (uint32_t)comp_vector};

    return (struct ibv_cq *)emu_cq_create(context, &attr);
}

int ibv_destroy_cq(struct ibv_cq *ibv)
{
    struct emu_cq *cq = (struct emu_cq *)ibv;

    if (!emu_fabric_usable())
        return 0;
    emu_cq_unwatch(cq);
    emu_cq_memory_close(cq);
    emu_region_lock(emu.mine);
    atomic_store_explicit(&cq->shared->open, 0, memory_order_relaxed);
    emu_region_unlock(emu.mine);
    emu_region_ring_free(cq->shared->ring_at, cq->ring_bytes);
    free(cq);
    return 0;
}

int emu_cq_poll(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
    struct emu_cq *cq = (struct emu_cq *)ibv;
    int taken = 0, rc = 0;

    if (!emu_fabric_usable())
        return 0;
    pthread_mutex_lock(&cq->mutex);
    for (; taken < n && !(rc = cqe_take(cq)); taken++) {
        const struct emu_cqe *cqe = &cq->current;

        wc[taken] = (struct ibv_wc){.wr_id = cqe->wr_id,
                                    .status = verbs_status(cqe->status),
                                    .opcode = cqe->opcode,
                                    .vendor_err = cqe->status,
                                    .byte_len = cqe->len,
                                    .imm_data = cqe->imm,
                                    .qp_num = cqe->qpn,
                                    .src_qp = cqe->src_qpn,
                                    .slid = cqe->ahn,
                                    .wc_flags = cqe->flags & EMU_CQE_IMM ? IBV_WC_WITH_IMM : 0};
    }
    pthread_mutex_unlock(&cq->mutex);
    return taken || rc != EIO ? taken : -EIO;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
    switch (status) {
    case IBV_WC_SUCCESS: return "success";
    case IBV_WC_WR_FLUSH_ERR: return "work request flushed";
    case IBV_WC_LOC_QP_OP_ERR: return "local queue pair operation error";
    case IBV_WC_LOC_PROT_ERR: return "local protection error";
    case IBV_WC_LOC_LEN_ERR: return "local length error";
    case IBV_WC_REM_ACCESS_ERR: return "remote access error";
    case IBV_WC_RNR_RETRY_EXC_ERR: return "receiver not ready, retries exceeded";
    case IBV_WC_RESP_TIMEOUT_ERR: return "response time-out";
    default: return "completion with error";
    }
}
