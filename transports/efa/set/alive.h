/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that are gone or silent: when an operation without an end becomes an error. */
#ifndef WSH_EFA_ALIVE_H
#define WSH_EFA_ALIVE_H

#include "transports/efa/nic/rail.h"

struct wsh_efa_set;

struct wsh_efa_alive {
    double next_poll; /* when silent peers are polled for again */
};

/* The provider could not send something of its own on a rail. */
void wsh_efa_alive_note(struct wsh_efa_set *set, const struct wsh_efa_rail *rail, const char *text);
/* Now and then: finds silent peers and the provider's events. 0 or final. */
int wsh_efa_alive_poll(struct wsh_efa_set *set);

#endif
