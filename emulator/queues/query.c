/* SPDX-License-Identifier: BSD-3-Clause */
/* The efadv calls about queues in memory. Structures are declared here as newer headers have them. */
#include "emulator/queues/queues.h"

#include <errno.h>
#include <string.h>

#define CAP_WIDE_ID 1u

struct emu_efadv_wq {
    uint64_t comp_mask;
    unsigned char *buffer;
    uint32_t entry_size, num_entries;
    uint32_t *doorbell;
    uint32_t max_batch;
    uint16_t caps;
    uint8_t reserved[2];
};

struct emu_efadv_cq_attr {
    uint64_t comp_mask;
    unsigned char *buffer;
    uint32_t entry_size, num_entries;
    uint32_t *doorbell;
};

struct emu_efadv_sq_depth {
    uint64_t comp_mask;
    uint32_t flags, max_send_sge, max_rdma_sge, max_inline_data;
};

struct emu_efadv_rq_depth {
    uint64_t comp_mask;
    uint32_t max_recv_sge;
};

/* Processing hints change nothing here. */
struct emu_efadv_qp {
    uint64_t comp_mask;
    void (*wr_set_processing_hints)(struct emu_efadv_qp *qp, uint32_t hints);
};

static bool there_are_queues(void)
{
    return emu_fabric_usable() && (emu.settings.profile->caps & EMU_CAP_CQ_MEMORY);
}

static struct emu_efadv_wq wq_of(const struct emu_ring *ring, uint32_t max_batch, uint16_t caps)
{
    return (struct emu_efadv_wq){.buffer = (unsigned char *)ring->words,
                                 .entry_size = ring->entry_words * 8,
                                 .num_entries = ring->entries,
                                 .doorbell = (uint32_t *)(void *)ring->doorbell,
                                 .max_batch = max_batch,
                                 .caps = caps};
}

int efadv_query_qp_wqs(struct ibv_qp *ibv, void *sq, void *rq, uint32_t len)
{
    struct emu_qp *qp = (struct emu_qp *)ibv;
    int error = there_are_queues() ? emu_rings_open(qp) : EOPNOTSUPP;
    struct emu_efadv_wq wq;

    if (error)
        return error;
    memset(sq, 0, len);
    memset(rq, 0, len);
    wq = wq_of(&qp->rings->sq, EMU_MAX_BATCH, CAP_WIDE_ID);
    memcpy(sq, &wq, len < sizeof wq ? len : sizeof wq);
    wq = wq_of(&qp->rings->rq, qp->rings->rq.entries, 0);
    memcpy(rq, &wq, len < sizeof wq ? len : sizeof wq);
    return 0;
}

int efadv_query_cq(struct ibv_cq *ibv, void *attr, uint32_t len)
{
    struct emu_cq *cq = (struct emu_cq *)ibv;
    int error = there_are_queues() ? emu_cq_memory_open(cq, NULL) : EOPNOTSUPP;
    struct emu_efadv_cq_attr full;

    if (error)
        return error;
    full = (struct emu_efadv_cq_attr){.buffer = (unsigned char *)cq->memory->words,
                                      .entry_size = EMU_CQE_BYTES,
                                      .num_entries = cq->memory->entries,
                                      .doorbell = (uint32_t *)(void *)cq->memory->doorbell};
    memset(attr, 0, len);
    memcpy(attr, &full, len < sizeof full ? len : sizeof full);
    return 0;
}

int efadv_get_max_sq_depth(struct ibv_context *context, struct emu_efadv_sq_depth *attr, uint32_t len)
{
    struct emu_efadv_sq_depth full = {0};

    (void)context;
    memcpy(&full, attr, len < sizeof full ? len : sizeof full);
    if (full.comp_mask || full.max_send_sge > EMU_SQ_SGES || full.max_rdma_sge > 1 ||
        full.max_inline_data > (there_are_queues() ? EMU_WIDE_INLINE : EMU_INLINE_MAX))
        return -EINVAL;
    return (int)(full.max_inline_data > EMU_INLINE_MAX ? emu.settings.sq_depth / 2 : emu.settings.sq_depth);
}

int efadv_get_max_rq_depth(struct ibv_context *context, struct emu_efadv_rq_depth *attr, uint32_t len)
{
    struct emu_efadv_rq_depth full = {0};

    (void)context;
    memcpy(&full, attr, len < sizeof full ? len : sizeof full);
    if (full.comp_mask || full.max_recv_sge > EMU_SGES)
        return -EINVAL;
    return (int)(EMU_RQ_DEPTH / (full.max_recv_sge ? full.max_recv_sge : 1));
}

static void hints_ignore(struct emu_efadv_qp *qp, uint32_t hints)
{
    (void)qp;
    (void)hints;
}

struct emu_efadv_qp *efadv_qp_from_ibv_qp_ex(struct ibv_qp_ex *qp)
{
    static struct emu_efadv_qp all = {.wr_set_processing_hints = hints_ignore};

    (void)qp;
    return &all;
}
