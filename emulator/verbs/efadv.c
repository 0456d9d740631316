/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The EFA-specific (efadv) calls. Structures are declared here as newer headers have them; a caller built with older
 * ones says so by the length it passes.
 */
#include "emulator/queues/queues.h"

#include <errno.h>
#include <string.h>

struct emu_efadv_device_attr {
    uint64_t comp_mask;
    uint32_t max_sq_wr, max_rq_wr;
    uint16_t max_sq_sge, max_rq_sge;
    uint16_t inline_buf_size, inline_buf_size_ex; /* ex: in wide entries */
    uint32_t device_caps, max_rdma_size;
};

struct emu_efadv_qp_init_attr {
    uint64_t comp_mask;
    uint32_t driver_qp_type;
    uint16_t flags;
    uint8_t sl;
    uint8_t reserved;
    uint64_t wr_flags;
};

struct emu_efadv_ah_attr {
    uint64_t comp_mask;
    uint16_t ahn;
    uint8_t reserved[6];
};

struct emu_efadv_cq_init_attr {
    uint64_t comp_mask;
    uint64_t wc_flags;
    uint64_t flags;
    struct {
        unsigned char *buffer;
        uint64_t length, offset;
        int32_t fd;
        uint8_t reserved[4];
    } location;
};

enum { EMU_WC_SGID = 1, EMU_WC_UNSOLICITED = 2, EMU_QP_TYPE_SRD = 0, EMU_WR_HINTS = 1, EMU_CQ_LOCATION = 1 };

static int attr_copy_out(void *to, uint32_t room, const void *from, size_t len)
{
    memset(to, 0, room);
    memcpy(to, from, room < len ? room : len);
    return 0;
}

int efadv_query_device(struct ibv_context *context, struct emu_efadv_device_attr *attr, uint32_t len)
{
    const struct emu_efadv_device_attr full = {
        .max_sq_wr = emu.settings.sq_depth,
        .max_rq_wr = EMU_RQ_DEPTH,
        .max_sq_sge = EMU_SQ_SGES,
        .max_rq_sge = EMU_SGES,
        .inline_buf_size = EMU_INLINE_MAX,
        .inline_buf_size_ex =
            emu.settings.profile->caps & EMU_CAP_CQ_MEMORY ? EMU_WIDE_INLINE : EMU_INLINE_MAX,
        .device_caps = emu.settings.profile->caps,
        .max_rdma_size = emu.settings.profile->caps & EMU_CAP_READ ? EMU_RDMA_MAX : 0};

    (void)context;
    return attr_copy_out(attr, len, &full, sizeof full);
}

int efadv_query_ah(struct ibv_ah *ah, struct emu_efadv_ah_attr *attr, uint32_t len)
{
    const struct emu_efadv_ah_attr full = {.ahn = (uint16_t)((struct emu_ah *)ah)->number};

    return attr_copy_out(attr, len, &full, sizeof full);
}

/* No interconnect is known: nothing is marked valid. */
int efadv_query_mr(struct ibv_mr *mr, void *attr, uint32_t len)
{
    (void)mr;
    memset(attr, 0, len);
    return 0;
}

struct ibv_qp *efadv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
                                  struct emu_efadv_qp_init_attr *efa, uint32_t len)
{
    struct emu_efadv_qp_init_attr full = {0};

    memcpy(&full, efa, len < sizeof full ? len : sizeof full);
    if (full.comp_mask || full.driver_qp_type != EMU_QP_TYPE_SRD || attr->qp_type != IBV_QPT_DRIVER ||
        (full.wr_flags & ~(uint64_t)EMU_WR_HINTS)) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return emu_qp_create(context, attr, full.flags);
}

struct ibv_qp *efadv_create_driver_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, uint32_t type)
{
    struct ibv_qp_init_attr_ex ex = {.qp_context = attr->qp_context,
                                     .send_cq = attr->send_cq,
                                     .recv_cq = attr->recv_cq,
                                     .srq = attr->srq,
                                     .cap = attr->cap,
                                     .qp_type = attr->qp_type,
                                     .comp_mask = IBV_QP_INIT_ATTR_PD,
                                     .pd = pd};

    if (type != EMU_QP_TYPE_SRD || attr->qp_type != IBV_QPT_DRIVER) {
        errno = EINVAL;
        return NULL;
    }
    return emu_qp_create(pd->context, &ex, 0);
}

static struct ibv_cq_ex *cq_at_location(struct ibv_cq_ex *cq, const struct emu_efadv_cq_init_attr *efa)
{
    struct emu_cq_location location = {efa->location.buffer, efa->location.length, efa->location.offset,
                                       efa->location.fd};
    int error = emu_cq_memory_open((struct emu_cq *)cq, &location);

    if (!error)
        return cq;
    ibv_destroy_cq((struct ibv_cq *)cq);
    errno = error;
    return NULL;
}

struct ibv_cq_ex *efadv_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr,
                                  struct emu_efadv_cq_init_attr *efa, uint32_t len)
{
    uint32_t caps = emu.settings.profile->caps;
    uint64_t can =
        (caps & EMU_CAP_SGID ? EMU_WC_SGID : 0) | (caps & EMU_CAP_UNSOLICITED ? EMU_WC_UNSOLICITED : 0);
    struct emu_efadv_cq_init_attr full = {0};
    struct ibv_cq_ex *cq;

    memcpy(&full, efa, len < sizeof full ? len : sizeof full);
    if (full.comp_mask || (full.wc_flags & ~can) || (full.flags & ~(uint64_t)EMU_CQ_LOCATION) ||
        (full.flags && !(caps & EMU_CAP_CQ_MEMORY))) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    cq = emu_cq_create(context, attr);
    return cq && full.flags ? cq_at_location(cq, &full) : cq;
}

struct emu_efadv_cq *efadv_cq_from_ibv_cq_ex(struct ibv_cq_ex *cq)
{
    return &((struct emu_cq *)cq)->dv;
}
