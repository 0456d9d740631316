/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the machine's parts that placement depends on, as plain data; the only user of hwloc. */
#ifndef WSH_TOPO_H
#define WSH_TOPO_H

#define WSH_TOPO_NICS 64
#define WSH_TOPO_GPUS 32

/* A PCI device and where it hangs. */
struct wsh_topo_dev {
    char name[32]; /* of the operating system, e.g. "rdmap0s6"; "" if it has none */
    char pci[16];  /* "0000:3b:00.0" */
    int numa;      /* NUMA node, or -1 */
};

struct wsh_topo {
    int packages, cores, pus, numa_nodes;
    int n_nics, n_gpus;
    struct wsh_topo_dev nic[WSH_TOPO_NICS]; /* devices of OpenFabrics kind */
    struct wsh_topo_dev gpu[WSH_TOPO_GPUS]; /* NVIDIA 3D and display controllers */
};

/* Reads this machine, or the hwloc XML file `xml` if not NULL. 0 or a logged error. */
int wsh_topo_load(struct wsh_topo *topo, const char *xml);

#endif
