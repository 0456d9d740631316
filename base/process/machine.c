/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers by which processes see whether they are on one machine, and whether they share its memory. */
#define _GNU_SOURCE
#include "base/process/machine.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t hash_mix(uint64_t hash, const void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

uint64_t wsh_machine_id(void)
{
    char boot[64] = "";
    struct stat net = {0};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    bool known = fd >= 0 && read(fd, boot, sizeof boot - 1) > 0 && !stat("/proc/self/ns/net", &net);

    if (fd >= 0)
        close(fd);
    if (!known)
        return 0;
    return hash_mix(hash_mix(0xcbf29ce484222325u, boot, sizeof boot), &net.st_ino, sizeof net.st_ino);
}

uint64_t wsh_host_id(long node_emulated)
{
    char host[HOST_NAME_MAX + 1] = "";
    uint64_t hash = wsh_machine_id();

    gethostname(host, sizeof host - 1);
    hash = hash_mix(hash, host, strlen(host));
    return hash_mix(hash, &node_emulated, sizeof node_emulated);
}
