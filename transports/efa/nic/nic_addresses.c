/* SPDX-License-Identifier: BSD-3-Clause */
/* Which NICs of peers each NIC of this PE knows already. Pure. */
#include "transports/efa/nic/nic_addresses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Its slot, or the free one where it belongs. */
static struct wsh_efa_nic *slot_of(const struct wsh_efa_nic_addresses *nics, const struct wsh_efa_nic *nic)
{
    uint64_t hash = nic->rail, half[2];
    uint32_t at;

    memcpy(half, nic->gid, sizeof half);
    for (int i = 0; i < 2; i++)
        hash = (hash ^ half[i]) * UINT64_C(0x9e3779b97f4a7c15);
    at = (uint32_t)(hash >> 32) & (nics->room - 1);
    while (nics->nic[at].rail && memcmp(&nics->nic[at], nic, sizeof *nic) != 0)
        at = (at + 1) & (nics->room - 1);
    return &nics->nic[at];
}

static int make_room(struct wsh_efa_nic_addresses *nics)
{
    struct wsh_efa_nic_addresses more = {.room = nics->room ? 2 * nics->room : 64, .n = nics->n};

    if (2 * nics->n < nics->room)
        return 0;
    more.nic = calloc(more.room, sizeof *more.nic);
    if (!more.nic)
        return -ENOMEM;
    for (uint32_t i = 0; i < nics->room; i++)
        if (nics->nic[i].rail)
            *slot_of(&more, &nics->nic[i]) = nics->nic[i];
    free(nics->nic);
    *nics = more;
    return 0;
}

int wsh_efa_nic_addresses_add(struct wsh_efa_nic_addresses *nics, uint32_t rail, const void *gid)
{
    struct wsh_efa_nic nic = {.rail = rail + 1}, *slot;
    int rc = make_room(nics);

    if (rc)
        return rc;
    memcpy(nic.gid, gid, sizeof nic.gid);
    slot = slot_of(nics, &nic);
    if (slot->rail)
        return 0;
    *slot = nic;
    nics->n++;
    return 1;
}

void wsh_efa_nic_addresses_fini(struct wsh_efa_nic_addresses *nics)
{
    free(nics->nic);
    *nics = (struct wsh_efa_nic_addresses){0};
}
