/* SPDX-License-Identifier: BSD-3-Clause */
/* Which addresses of this machine the endpoints of providers over sockets may have. */
#ifndef WSH_EFA_INTERFACE_H
#define WSH_EFA_INTERFACE_H

#include "base/env/env.h"

#include <rdma/fabric.h>

#include <stdbool.h>

struct wsh_efa_where {
    const char *list; /* SHMEM_INTERFACE: names of interfaces, addresses, networks (CIDR); NULL: any */
    bool loopback;    /* all PEs are on this machine */
    bool survives;    /* PEs go on when one has failed */
};

/* -EINVAL after one line: what SHMEM_INTERFACE names is not on this machine, or cannot be read. */
int wsh_efa_where_open(struct wsh_efa_where *where, const struct wsh_env *env, bool loopback);

/* 0: the endpoint has an address as wished, or none of sockets; 1: another one; -1: one that is excluded. */
int wsh_efa_where_rank(const struct wsh_efa_where *where, const struct fi_info *info);

/* The endpoint would listen on sockets that no other machine reaches. */
bool wsh_efa_info_is_loopback(const struct fi_info *info);

#endif
