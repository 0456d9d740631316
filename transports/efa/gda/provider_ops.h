/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the efa provider offers beyond libfabric's own interface, under the name WSH_EFA_GDA_OPS of fi_open_ops on a
 * domain of fabric efa-direct: how queues lie in memory, and completion counters that the NIC keeps in memory of the
 * caller (libfabric 2.6 and later). Declared here, since libfabric's headers of this build may be older; the order of
 * members is the provider's interface. A library that is older than 2.6 has a shorter table, or none: see the version
 * first.
 */
#ifndef WSH_EFA_GDA_OPS_H
#define WSH_EFA_GDA_OPS_H

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <stdint.h>

#define WSH_EFA_GDA_OPS "efa gda ops"
#define WSH_EFA_GDA_OPS_SINCE FI_VERSION(2, 6) /* with counters */

/* A send or receive queue; wide requests have entries of 128 bytes. */
struct wsh_efa_gda_wq {
    uint8_t *buffer;
    uint32_t entry_size, n_entries; /* bytes of an entry; a power of 2 */
    uint32_t *doorbell;
    uint32_t max_batch; /* entries that may be written before the doorbell is rung */
    uint16_t caps;      /* bit 0: requests carry a number of 64 bits (not filled by 2.6.0: clear it first) */
};
#define WSH_EFA_GDA_WQ_LONG_ID 1u

struct wsh_efa_gda_cq {
    uint8_t *buffer;
    uint32_t entry_size, n_entries;
};

/* Memory for a completion queue: `length` bytes from `offset` of the descriptor; `buffer` may be NULL. */
struct wsh_efa_gda_cq_location {
    uint64_t flags; /* bit 0: what follows holds */
    uint8_t *buffer;
    uint64_t length, offset;
    uint32_t fd;
};
#define WSH_EFA_GDA_CQ_BY_DESCRIPTOR 1u

/* A word: at an address, or `offset` bytes from the start of a descriptor's memory, then with an address or NULL. */
struct wsh_efa_gda_location {
    uint8_t *at;
    uint64_t offset;
    int32_t fd;
    uint32_t unused;
    uint8_t type;
    uint8_t unused2[7];
};
#define WSH_EFA_GDA_BY_ADDRESS 0
#define WSH_EFA_GDA_BY_DESCRIPTOR 1

/* Where a counter's words lie; those that are not given are the provider's own. */
struct wsh_efa_gda_counter {
    uint64_t unused;
    uint32_t given; /* bits */
    uint32_t unused2;
    struct wsh_efa_gda_location count, errors;
};
#define WSH_EFA_GDA_COUNT_GIVEN 1u
#define WSH_EFA_GDA_ERRORS_GIVEN 2u
#define WSH_EFA_GDA_COUNT_MASK 0x7fffffffu /* a NIC's word wraps at 2^31 */

/* 0 or a negative errno each. */
struct wsh_efa_gda_ops {
    int (*query_addr)(struct fid_ep *ep, fi_addr_t addr, uint16_t *ah, uint16_t *qpn, uint32_t *qkey);
    int (*query_qp_wqs)(struct fid_ep *ep, struct wsh_efa_gda_wq *sq, struct wsh_efa_gda_wq *rq);
    int (*query_cq)(struct fid_cq *cq, struct wsh_efa_gda_cq *attr);
    int (*cq_open_ext)(struct fid_domain *domain, struct fi_cq_attr *attr,
                       struct wsh_efa_gda_cq_location *location, struct fid_cq **cq, void *context);
    uint64_t (*get_mr_lkey)(struct fid_mr *mr);
    int (*cntr_open_ext)(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **counter,
                         void *context, struct wsh_efa_gda_counter *location);
};

#endif
