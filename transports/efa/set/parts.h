/* SPDX-License-Identifier: BSD-3-Clause */
/* Blobs with a part for each endpoint set of a PE: addresses, and keys of memory. */
#ifndef WSH_EFA_PARTS_H
#define WSH_EFA_PARTS_H

#include "transports/efa/efa.h"

/* The head of a blob in which a PE describes its endpoint sets; a part of len[i] bytes for each follows. */
struct wsh_efa_parts {
    uint32_t n, len[WSH_EFA_SETS_MAX];
};

/* The part of endpoint set i of a blob that wsh_efa_parts_check has passed. */
const void *wsh_efa_parts_get(const void *blob, unsigned i, size_t *len);
/* The number of endpoint sets in it; 0: it is none (logged). */
uint32_t wsh_efa_parts_check(int pe, const void *blob, size_t len);

#endif
