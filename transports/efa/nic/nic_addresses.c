/* SPDX-License-Identifier: BSD-3-Clause */
/* Which NICs of peers each NIC of this PE knows already. Pure. */
#include "transports/efa/nic/nic_addresses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Its place, or the free one where it belongs. */
static struct wsh_efa_nic *place_of(const struct wsh_efa_seen *seen, const struct wsh_efa_nic *nic)
{
    uint64_t hash = nic->rail, half[2];
    uint32_t at;

    memcpy(half, nic->gid, sizeof half);
    for (int i = 0; i < 2; i++)
        hash = (hash ^ half[i]) * UINT64_C(0x9e3779b97f4a7c15);
    at = (uint32_t)(hash >> 32) & (seen->room - 1);
    while (seen->nic[at].rail && memcmp(&seen->nic[at], nic, sizeof *nic) != 0)
        at = (at + 1) & (seen->room - 1);
    return &seen->nic[at];
}

static int make_room(struct wsh_efa_seen *seen)
{
    struct wsh_efa_seen more = {.room = seen->room ? 2 * seen->room : 64, .n = seen->n};

    if (2 * seen->n < seen->room)
        return 0;
    more.nic = calloc(more.room, sizeof *more.nic);
    if (!more.nic)
        return -ENOMEM;
    for (uint32_t i = 0; i < seen->room; i++)
        if (seen->nic[i].rail)
            *place_of(&more, &seen->nic[i]) = seen->nic[i];
    free(seen->nic);
    *seen = more;
    return 0;
}

int wsh_efa_seen_add(struct wsh_efa_seen *seen, uint32_t rail, const void *gid)
{
    struct wsh_efa_nic nic = {.rail = rail + 1}, *place;
    int rc = make_room(seen);

    if (rc)
        return rc;
    memcpy(nic.gid, gid, sizeof nic.gid);
    place = place_of(seen, &nic);
    if (place->rail)
        return 0;
    *place = nic;
    seen->n++;
    return 1;
}

void wsh_efa_seen_fini(struct wsh_efa_seen *seen)
{
    free(seen->nic);
    *seen = (struct wsh_efa_seen){0};
}
