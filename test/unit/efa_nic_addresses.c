/* SPDX-License-Identifier: BSD-3-Clause */
/* Which NICs of peers are known: each once for each rail, however many there are; short of memory nothing is lost. */
#include "transports/efa/nic/nic_addresses.h"

#include "test/common/unit.h"

#include <string.h>

enum { NICS = 5000, RAILS = 4 };

static void gid_make(unsigned char *gid, uint32_t i)
{
    memset(gid, 0, WSH_EFA_GID);
    gid[0] = 0xfe;
    gid[1] = 0x80;
    memcpy(gid + 10, &i, sizeof i); /* as those of EFA differ: in a few bytes of the second half */
}

static void each_once(void)
{
    struct wsh_efa_nic_addresses seen = {0};
    unsigned char gid[WSH_EFA_GID];
    int wrong = 0;

    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < NICS; i++)
            for (uint32_t rail = 0; rail < RAILS; rail++) {
                gid_make(gid, i);
                wrong += wsh_efa_nic_addresses_add(&seen, rail, gid) != !round;
            }
    CU_ASSERT(wrong == 0);
    CU_ASSERT(seen.n == NICS * RAILS);
    CU_ASSERT(seen.room >= 2 * seen.n && seen.room < 8 * seen.n);
    wsh_efa_nic_addresses_fini(&seen);
    CU_ASSERT(!seen.nic && !seen.n);
}

/* The name of an endpoint goes on behind the NIC's; that is not looked at. */
static void by_nic_alone(void)
{
    unsigned char name[2][32] = {{1, 2, 3}, {1, 2, 3}};
    struct wsh_efa_nic_addresses seen = {0};

    name[1][WSH_EFA_GID] = 7;
    CU_ASSERT(wsh_efa_nic_addresses_add(&seen, 0, name[0]) == 1);
    CU_ASSERT(wsh_efa_nic_addresses_add(&seen, 0, name[1]) == 0);
    name[1][WSH_EFA_GID - 1] = 7;
    CU_ASSERT(wsh_efa_nic_addresses_add(&seen, 0, name[1]) == 1);
    wsh_efa_nic_addresses_fini(&seen);
}

/* Those that all have the same hash by their low bits, and the empty name. */
static void alike(void)
{
    struct wsh_efa_nic_addresses seen = {0};
    unsigned char gid[WSH_EFA_GID] = {0};
    int added = 0;

    for (uint32_t rail = 0; rail < 256; rail++)
        added += wsh_efa_nic_addresses_add(&seen, rail, gid);
    CU_ASSERT(added == 256);
    for (uint32_t rail = 0; rail < 256; rail++)
        added += wsh_efa_nic_addresses_add(&seen, rail, gid);
    CU_ASSERT(added == 256);
    wsh_efa_nic_addresses_fini(&seen);
}

const struct unit_test unit_tests[] = {
    {"every NIC is new once for each rail", each_once},
    {"an address is known by its NIC", by_nic_alone},
    {"NICs that are alike but for the rail", alike},
    {NULL, NULL},
};
