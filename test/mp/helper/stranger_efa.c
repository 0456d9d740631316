/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses of a process's endpoints on the emulated EFA device, as libfabric's efa provider writes them. */
#include "test/mp/helper/stranger.h"

#include "emulator/fabric/shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The provider's `struct efa_ep_addr`, whose last word it keeps for itself. */
struct name {
    unsigned char gid[16];
    uint16_t qpn, pad;
    uint32_t qkey;
    uint64_t unused;
};

static const struct emu_region *region_map(const char *folder, unsigned slot)
{
    char path[512];
    void *at;
    int fd;

    snprintf(path, sizeof path, "%s/process.%u", folder, slot);
    fd = open(path, O_RDONLY);
    if (fd < 0)
        return NULL;
    at = mmap(NULL, sizeof(struct emu_region), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

static void name_print(const struct emu_region *region, unsigned nic, unsigned qpn)
{
    const struct emu_shared_qp *qp = &region->qp[nic * EMU_QPS_PER_NIC + qpn];
    const unsigned char gid[16] = {0xfe,
                                   0x80,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0x02,
                                   0xef,
                                   0xa0,
                                   0xff,
                                   0xfe,
                                   (unsigned char)(region->slot >> 8),
                                   (unsigned char)region->slot,
                                   (unsigned char)nic};
    struct name name = {.qpn = (uint16_t)qpn, .qkey = qp->qkey};
    unsigned char bytes[sizeof name];

    if (!qp->open || qp->is_ud)
        return;
    memcpy(name.gid, gid, sizeof gid);
    memcpy(bytes, &name, sizeof name);
    for (size_t i = 0; i < sizeof bytes; i++)
        printf("%02x", bytes[i]);
    printf(" %u\n", qpn);
}

int stranger_list(const char *folder, int pid)
{
    const struct emu_region *region;

    for (unsigned slot = 0; (region = region_map(folder, slot)); slot++)
        for (unsigned nic = 0; region->pid == pid && nic < EMU_NICS_MAX; nic++)
            for (unsigned qpn = 1; qpn < EMU_QPS_PER_NIC; qpn++)
                name_print(region, nic, qpn);
    return 0;
}

size_t stranger_name_parse(const char *text, unsigned char *bytes, size_t room)
{
    size_t n = 0;

    for (; n < room && sscanf(text + 2 * n, "%2hhx", &bytes[n]) == 1; n++)
        continue;
    return n;
}
