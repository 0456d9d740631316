/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The endpoint sets of a PE. A set is all that a put needs: endpoints on every NIC of the PE, the memory registered
 * with them, the ordering engine, and one lock over these. Contexts are dealt out to the sets, and what a context
 * starts arrives at the same set of its target, so that threads whose contexts have different sets share nothing.
 */
#ifndef WSH_EFA_H
#define WSH_EFA_H

#include "transports/transport.h"

#define WSH_EFA_SETS_MAX 4

struct wsh_efa_set;
struct wsh_efa_gda;

struct wsh_efa {
    struct wsh_tp base;
    uint32_t n;      /* open here */
    uint32_t in_use; /* the first ones, open at all PEs */
    struct wsh_efa_set *set[WSH_EFA_SETS_MAX];
    uint32_t users[WSH_EFA_SETS_MAX]; /* contexts */
    int wait_fd; /* readable when one of the endpoint sets' is; -1: there is none, or one endpoint set */
    int failed;  /* of any endpoint set: the first final error, which has been logged */
    unsigned noticed_rails; /* bits of rails that were said to be left out */
    uint64_t foreign[2];    /* messages and writes that were dropped, not being of this job */
    uint64_t foreign_due;   /* the second before which nothing is said of them */
    int noted_ctxs; /* it was said what does not go on many contexts: 1, or that there are no more: 2 */
    char label[64]; /* "libfabric's tcp;ofi_rxm" */
    bool weak_keys; /* it was said that keys of this provider can be guessed */
    struct wsh_efa_gda *gda; /* queues that kernels write, or NULL */
};

/* efa_mem.c: slots of struct wsh_tp_ops */
unsigned wsh_efa_all_reach(struct wsh_tp *tp, int pe, enum wsh_mem_kind kind);
int wsh_efa_all_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem, void *blob,
                             size_t *blob_len);
void wsh_efa_all_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem);
int wsh_efa_all_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                           struct wsh_rmem *rmem);
void wsh_efa_all_mem_detach(struct wsh_tp *tp, struct wsh_rmem *rmem);
/* As the first endpoint set has registered it, or NULL. */
const struct wsh_lmem *wsh_efa_all_mem_first(const struct wsh_lmem *lmem);

extern const struct wsh_tp_ops wsh_efa_ops;

#endif
