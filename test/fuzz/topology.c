/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever SHMEM_TOPOLOGY names: NICs are chosen from what hwloc reads of it, or it is refused. What happens inside
 * libhwloc itself, or what it calls, is not ours: a PE reads such files in a process of its own, as this target is one.
 */
#define _GNU_SOURCE
#include "topo/read.h"

#include "test/fuzz/common/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int file_make(const uint8_t *data, size_t size, char *path, size_t path_size)
{
    int fd = memfd_create("topology", MFD_CLOEXEC);

    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, path_size, "/proc/self/fd/%d", fd);
    return fd;
}

static void locations_check(const struct wsh_topo_dev *dev, int n)
{
    for (int i = 0; i < n; i++) {
        fuzz_read(dev[i].name, strlen(dev[i].name) + 1);
        FUZZ_CHECK(dev[i].location.n_bridges >= 0 && dev[i].location.n_bridges <= WSH_TOPO_BRIDGES);
        FUZZ_CHECK(strlen(dev[i].pci) < WSH_TOPO_PCI);
    }
}

/* For each PE of a host, by guesses and by reports. */
static void nics_choose(const struct wsh_topo *topo)
{
    struct wsh_env env = {.nics_per_pe = 0};
    struct wsh_topo_pe pe[3];
    struct wsh_topo_rails rails;
    cpu_set_t near;
    char text[512];

    for (int rank = 0; rank < 3; rank++) {
        struct wsh_topo_local local = {.rank = rank, .n = 3};

        FUZZ_CHECK(!wsh_topo_pe_fill(topo, &env, &local, &pe[rank]));
        FUZZ_CHECK(!wsh_topo_choose(topo, &env, &local, topo->nic, topo->n_nics, &rails));
        FUZZ_CHECK(rails.n >= 0 && rails.n <= WSH_TOPO_RAILS && (rails.n > 0) == (topo->n_nics > 0));
        wsh_topo_near(topo, &rails, topo->nic, &near);
        wsh_topo_rails_text(topo, &rails, topo->nic, topo->n_nics, text, sizeof text);
        fuzz_read(text, strlen(text) + 1);
        wsh_topo_cpus_text(&near, text, sizeof text);
    }
    FUZZ_CHECK(!wsh_topo_choose(topo, &env, &(struct wsh_topo_local){.n = 3, .pe = pe}, topo->nic,
                                topo->n_nics, &rails));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wsh_topo topo;
    char path[64];
    int fd = file_make(data, size, path, sizeof path), rc = wsh_topo_read(&topo, path);

    FUZZ_CHECK(rc == 0 || rc == -EINVAL);
    if (!rc) {
        locations_check(topo.nic, topo.n_nics);
        locations_check(topo.gpu, topo.n_gpus);
        nics_choose(&topo);
    }
    close(fd);
    return 0;
}
