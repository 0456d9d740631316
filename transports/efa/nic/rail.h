/* SPDX-License-Identifier: BSD-3-Clause */
/* The libfabric objects of one NIC: fabric, domain, queues, address vector, endpoint. */
#ifndef WSH_EFA_RAIL_H
#define WSH_EFA_RAIL_H

#include "transports/efa/nic/choice.h"
#include "transports/efa/nic/libfabric_load.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <stdbool.h>

struct wsh_efa_req;

/* One piece of memory, registered with every rail. */
struct wsh_efa_mr {
    struct fid_mr *mr[WSH_EFA_RAILS];
    void *desc[WSH_EFA_RAILS];
};

struct wsh_efa_rail {
    struct fi_info *info; /* owned */
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_cq *cq;
    struct fid_eq *eq; /* errors of what the provider sends for itself; NULL: it has none */
    struct fid_av *av;
    struct fid_ep *ep;
    uint32_t depth;           /* requests that the provider takes at a time */
    uint32_t taken;           /* requests given to it or held, that have not ended */
    uint32_t ended;           /* times that the queue had something */
    uint32_t full_at;         /* `ended` when a request last found no room */
    double full_since;        /* since when it has been full; 0: never */
    uint32_t batched;         /* requests given to it without a doorbell (batch.c) */
    struct wsh_efa_req *held; /* to be given next */
    uint64_t held_imm;        /* its immediate data */
    uint32_t entered;         /* addresses in the vector */
    bool hmem;                /* takes device memory */
    int wait_fd;              /* becomes readable when the queue has something; -1: the provider has none */
    char name[160];           /* "tcp;ofi_rxm (eth0)", for messages */
};

/* Takes `info` over. The queue holds cq_size completions. Errors are logged. */
int wsh_efa_rail_open(struct wsh_efa_rail *rail, const struct wsh_efa_lib *lib, struct fi_info *info,
                      size_t cq_size);
/* Closes the endpoint, before memory regions, where the provider allows that; wsh_efa_rail_close the rest. */
void wsh_efa_rail_stop(struct wsh_efa_rail *rail);
/* Says so where libfabric refuses. */
void wsh_efa_fid_close(struct fid *fid, const char *what, const struct wsh_efa_rail *rail);
void wsh_efa_rail_close(struct wsh_efa_rail *rail, const struct wsh_efa_lib *lib);

/* Bytes of a write that the endpoint may inject; `known` where the library is too old to tell, or knows of more. */
size_t wsh_efa_inject_size(struct fid_ep *ep, size_t known);

/* The endpoint's name as peers need it; *len in: room, out: bytes. */
int wsh_efa_rail_name(struct wsh_efa_rail *rail, const struct wsh_efa_lib *lib, void *name, size_t *len);
int wsh_efa_rail_insert(struct wsh_efa_rail *rail, const struct wsh_efa_lib *lib, const void *name, int pe,
                        fi_addr_t *addr);

#endif
