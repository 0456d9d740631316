/* SPDX-License-Identifier: BSD-3-Clause */
/* Lost NICs: notices to peers, finding out whom they do not reach, and operations that never end; see rails.c. */
#include "transports/efa/wire/rail_loss.h"

#include "transports/efa/set/errors.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/wire/msg.h"

#define WSH_EFA_ENDLESS_S 10

int wsh_efa_rail_loss_notify(struct wsh_efa_set *set)
{
    int rc = 0;

    set->rail_loss.any_notice = false;
    for (int i = 0; i < set->n_known && !rc; i++) {
        int pe = set->known[i];
        struct wsh_efa_peer *peer = &set->peers[pe];

        if (!peer->notice || !peer->paths)
            continue;
        rc = wsh_efa_msg_probe(set, pe);
        peer->notice = rc != 0;
        set->rail_loss.any_notice |= peer->notice;
    }
    return rc == -EAGAIN ? 0 : rc;
}

void wsh_efa_rail_loss_probe(struct wsh_efa_set *set, unsigned rail)
{
    for (int i = 0; i < set->n_known; i++) {
        int pe = set->known[i];
        struct wsh_efa_peer *peer = &set->peers[pe];
        uint8_t paths = peer->paths;

        if (pe == set->my_pe || !(paths >> rail & 1))
            continue;
        peer->paths = (uint8_t)(1u << rail);
        (void)wsh_efa_msg_probe(set, pe); /* no room: there will be another event, or none is needed */
        peer->paths = paths;
    }
}

void wsh_efa_rail_loss_poll(struct wsh_efa_set *set)
{
    double now = wsh_efa_now();

    for (int i = 0; i < set->n_known; i++)
        for (unsigned rail = 0; set->peers[set->known[i]].path && rail < set->n_rails; rail++) {
            int pe = set->known[i];
            const struct wsh_efa_path *path = &set->peers[pe].path[rail];

            if (path->lost_since && path->posted && now - path->lost_since >= WSH_EFA_ENDLESS_S)
                wsh_efa_set_fail_later(
                    set,
                    "%u operation%s to PE %d over %s not ended %d s after that NIC was lost (%s), and "
                    "cannot be repeated while they might",
                    path->posted, path->posted == 1 ? "" : "s", pe, set->rail[rail].name, WSH_EFA_ENDLESS_S,
                    set->rail_loss.text[rail]);
        }
}
