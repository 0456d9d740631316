/* SPDX-License-Identifier: BSD-3-Clause */
/* On which of this machine's interfaces the root of a unique id listens. */
#ifndef WSH_BOOTSTRAP_UID_ADDR_H
#define WSH_BOOTSTRAP_UID_ADDR_H

#include "base/env/env.h"
#include "bootstrap/uid/id.h"

#include <net/if.h>

/* One address of an interface. */
struct wsh_uid_nic {
    char name[IF_NAMESIZE];
    bool up, routed; /* routed: the default route of its family leaves by this interface */
    struct wsh_uid_address address;
};

/* What the user asks for. */
struct wsh_uid_wish {
    const char *names; /* SHMEM_BOOTSTRAP_UID_IFNAME; NULL: any */
    int family;        /* 4, 6, or 0 for both */
};

/*
 * Chooses of n addresses those to listen on, at most WSH_UID_ADDRESSES, best first: loopback, then those that other
 * hosts may reach. Returns how many.
 */
int wsh_uid_addr_choose(const struct wsh_uid_nic *nics, int n, const struct wsh_uid_wish *wish,
                        struct wsh_uid_address *chosen);

/* The same for this machine. Returns how many, or -EINVAL or -ENODEV after one line. */
int wsh_uid_addr_find(const struct wsh_env *env, struct wsh_uid_address *chosen);

/* The interface by which packets to the address leave, or a reason why there is none. */
void wsh_uid_addr_route(const struct wsh_uid_address *address, char *text, size_t size);

#endif
