/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of emulated machines. */
#include "emulator/wire/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPS_P4 (EMU_CAP_READ | EMU_CAP_RNR_RETRY | EMU_CAP_SGID)
#define CAPS_P5 (CAPS_P4 | EMU_CAP_WRITE | EMU_CAP_UNSOLICITED)
#define CAPS_P5EN (CAPS_P5 | EMU_CAP_CQ_MEMORY | EMU_CAP_COUNTERS)

static const struct emu_profile profiles[] = {
    {"p4d", EMU_P4D, 0xefa0, CAPS_P4, 100, 40, 8},     {"p5", EMU_P5, 0xefa2, CAPS_P5, 100, 40, 6},
    {"p5en", EMU_P5EN, 0xefa3, CAPS_P5EN, 200, 40, 5}, {"p6", EMU_P6, 0xefa3, CAPS_P5EN, 400, 40, 5},
    {"minimal", EMU_MINIMAL, 0xefa0, 0, 25, 40, 10},
};
#define PROFILES (sizeof profiles / sizeof profiles[0])

#define p4d EMU_P4D
#define p5 EMU_P5
#define p5en EMU_P5EN
#define p6 EMU_P6
#define minimal EMU_MINIMAL
#define EMU_NIC(profile, bus, device) {profile, bus, device},
static const struct {
    enum emu_machine machine;
    uint8_t bus, device;
} rows[] = {
#include "emulator/nic_defs.h"
};
#undef EMU_NIC
#undef p4d
#undef p5
#undef p5en
#undef p6
#undef minimal

const struct emu_profile *emu_profile_find(const char *name)
{
    for (size_t i = 0; i < PROFILES; i++)
        if (!strcmp(profiles[i].name, name))
            return &profiles[i];
    return NULL;
}

const char *emu_profile_names(void)
{
    static char text[80];
    size_t used = 0;

    for (size_t i = 0; i < PROFILES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", profiles[i].name);
    return text;
}

unsigned emu_profile_nics(const struct emu_profile *profile, struct emu_nic *nics)
{
    unsigned n = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].machine != profile->machine)
            continue;
        nics[n].bus = rows[i].bus;
        nics[n].device = rows[i].device;
        snprintf(nics[n].name, sizeof nics[n].name, "rdmap%us%u", rows[i].bus, rows[i].device);
        n++;
    }
    return n;
}

void emu_nic_address(const struct emu_nic *nic, char *text, size_t size)
{
    snprintf(text, size, "0000:%02x:%02x.0", nic->bus, nic->device);
}

static int find_nic(const char *word, const struct emu_nic *nics, unsigned n)
{
    char *end;
    unsigned long index = strtoul(word, &end, 10);

    if (*word && !*end)
        return index < n ? (int)index : -1;
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(nics[i].name, word))
            return (int)i;
    return -1;
}

int emu_nic_select(const char *list, const struct emu_nic *nics, unsigned n, uint32_t *mask, char *bad,
                   size_t size)
{
    *mask = n >= 32 ? UINT32_MAX : (1u << n) - 1;
    if (!list || !*list)
        return 0;
    *mask = 0;
    while (*list) {
        size_t len = strcspn(list, ",");
        int index;

        snprintf(bad, size, "%.*s", (int)len, list);
        index = find_nic(bad, nics, n);
        if (index < 0)
            return -EINVAL;
        *mask |= 1u << index;
        list += len + (list[len] == ',');
    }
    return 0;
}
