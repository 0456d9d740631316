/* SPDX-License-Identifier: BSD-3-Clause */
/* Which NICs of peers each NIC of this PE knows already. Pure. */
#ifndef WSH_EFA_NIC_ADDRESSES_H
#define WSH_EFA_NIC_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WSH_EFA_GID 16 /* bytes that name a NIC: an address of EFA begins with them */

struct wsh_efa_nic {
    unsigned char gid[WSH_EFA_GID];
    uint32_t rail; /* 1 + the rail of this PE; 0: the slot is free */
};

struct wsh_efa_nic_addresses {
    struct wsh_efa_nic *nic; /* [room], open addressing */
    uint32_t room, n;        /* room: a power of two, or 0 */
};

/* 1: it is new; 0: it is not; -ENOMEM. */
int wsh_efa_nic_addresses_add(struct wsh_efa_nic_addresses *nics, uint32_t rail, const void *gid);
void wsh_efa_nic_addresses_fini(struct wsh_efa_nic_addresses *nics);

#endif
