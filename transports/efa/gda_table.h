/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The efa provider's table of routines about queues that a program writes itself (EFA_GDA_TABLE of fi_open_ops, on a
 * domain of fabric efa-direct), declared here since libfabric's headers may be older. Its layout is the provider's.
 */
#ifndef WSH_EFA_GDA_TABLE_H
#define WSH_EFA_GDA_TABLE_H

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <stdint.h>

#define EFA_GDA_TABLE "efa gda ops"
#define EFA_GDA_TABLE_SINCE FI_VERSION(2, 6)

struct efa_gda_ring {
    uint8_t *at;
    uint32_t entry_bytes, entries;
    uint32_t *doorbell;
    uint32_t max_batch;
    uint16_t caps; /* libfabric 2.6.0 does not fill it: zero it before */
};
#define EFA_GDA_WIDE_ID 1u /* of caps: requests have numbers of 64 bits */

struct efa_gda_completions {
    uint8_t *at;
    uint32_t entry_bytes, entries;
};

/* 0 or a negative error each; the two that are not declared are about memory of the caller's. */
struct efa_gda_table {
    int (*query_addr)(struct fid_ep *ep, fi_addr_t addr, uint16_t *ah, uint16_t *qpn, uint32_t *qkey);
    int (*query_qp_wqs)(struct fid_ep *ep, struct efa_gda_ring *send, struct efa_gda_ring *receive);
    int (*query_cq)(struct fid_cq *cq, struct efa_gda_completions *completions);
    void (*cq_open_ext)(void);
    uint64_t (*get_mr_lkey)(struct fid_mr *mr);
    void (*cntr_open_ext)(void);
};

#endif
