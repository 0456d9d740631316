/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of this PE as the provider sees it: registration, descriptors, host or device. */
#ifndef WSH_EFA_MEM_H
#define WSH_EFA_MEM_H

#include "transports/efa/set/set.h"

struct wsh_efa_lmem {
    struct wsh_lmem base;
    struct wsh_efa_mr mr;
};

int wsh_efa_mem_register(struct wsh_efa_set *set, const struct wsh_mem *mem, struct wsh_lmem **lmem,
                         void *blob, size_t *blob_len);
void wsh_efa_mem_release(struct wsh_efa_set *set, struct wsh_lmem *lmem);
int wsh_efa_mem_attach(struct wsh_efa_set *set, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                       struct wsh_rmem *rmem);
/* Registers the pools where the provider wants local memory registered. */
int wsh_efa_mem_pools(struct wsh_efa_set *set);
bool wsh_efa_mem_find(const struct wsh_efa_set *set, const void *addr, size_t len, void **desc);
/* `addr` is in registered device memory, which no CPU touches. */
bool wsh_efa_mem_is_device(const struct wsh_efa_set *set, const void *addr);

/* CPUs may copy what goes between the two: neither is device memory. */
static inline bool wsh_efa_mem_is_host(const struct wsh_efa_set *set, const struct wsh_rmem *rmem,
                                       const void *addr)
{
    return rmem->seg < WSH_SEG_DEVICE && !(set->n_device && wsh_efa_mem_is_device(set, addr));
}

/*
 * Descriptors stand for registered memory in spans and requests: with one rail the provider's own, with several the
 * struct wsh_efa_mr, from which this takes that of the rail.
 */
static inline void *wsh_efa_mr_desc(const struct wsh_efa_set *set, void *desc, unsigned rail)
{
    return set->n_rails > 1 && desc ? ((struct wsh_efa_mr *)desc)->desc[rail] : desc;
}

/* Descriptor of user memory; false: it must go through a buffer of ours. Device memory always has one. */
static inline bool wsh_efa_mem_desc(const struct wsh_efa_set *set, const void *addr, size_t len, void **desc)
{
    *desc = NULL;
    if (!set->mr_local && wsh_likely(!set->n_device))
        return true;
    return wsh_efa_mem_find(set, addr, len, desc) || !set->mr_local;
}

#endif
