/* SPDX-License-Identifier: BSD-3-Clause */
/* Lost NICs: notices to peers, finding out whom they do not reach, and operations that never end; see rails.c. */
#ifndef WSH_EFA_RAIL_LOSS_H
#define WSH_EFA_RAIL_LOSS_H

#include "transports/efa/nic/choice.h"
#include "transports/efa/set/errors.h"

#include <stdbool.h>

struct wsh_efa_req;
struct wsh_efa_set;

struct wsh_efa_rail_loss {
    bool any, any_notice;                       /* some path was lost; a notice to some peer is to be sent */
    struct wsh_efa_req *again, **again_end;     /* failed on a rail, to go by another */
    char text[WSH_EFA_RAILS][WSH_EFA_TEXT_MAX]; /* why a rail is left out */
};

/* Tells the peers that do not know yet of a path that was lost. 0 or final. */
int wsh_efa_rail_loss_notify(struct wsh_efa_set *set);
/* The provider could not send something of its own on that rail: finds out to whom. */
void wsh_efa_rail_loss_probe(struct wsh_efa_set *set, unsigned rail);
/* Now and then: something that went by a lost path may never end. */
void wsh_efa_rail_loss_poll(struct wsh_efa_set *set);

#endif
