/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the machine on which placement depends, as plain data, and the NICs that a PE should use. */
#ifndef WSH_TOPO_H
#define WSH_TOPO_H

#include "base/env/env.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#define WSH_TOPO_NICS 64
#define WSH_TOPO_GPUS 32
#define WSH_TOPO_NODES 64
#define WSH_TOPO_BRIDGES 8 /* above one device */
#define WSH_TOPO_PCI 20    /* room for a PCI address, "0000:3b:00.0" */
#define WSH_TOPO_RAILS 8   /* NICs of one PE */

/* The location of a device or process; the numbers are valid within one topology only. */
struct wsh_topo_location {
    int numa, package; /* operating system's and hwloc's number; -1: none in particular, or unknown */
    int root;          /* host bridge, or -1 */
    int n_bridges;
    int bridge[WSH_TOPO_BRIDGES]; /* PCI bridges above, nearest first */
};

/* A PCI device. */
struct wsh_topo_dev {
    char name[64]; /* of the operating system, e.g. "rdmap0s6", or a GPU's model; "" if it has none */
    char pci[WSH_TOPO_PCI];
    char uuid[48]; /* of a GPU of this machine, "GPU-…", or "" */
    struct wsh_topo_location location;
};

struct wsh_topo {
    int packages, cores, pus, numa_nodes;
    int n_nics, n_gpus;
    struct wsh_topo_dev nic[WSH_TOPO_NICS];        /* devices of OpenFabrics kind, by PCI address */
    struct wsh_topo_dev gpu[WSH_TOPO_GPUS];        /* NVIDIA 3D and display controllers, by PCI address */
    struct wsh_topo_location node[WSH_TOPO_NODES]; /* the NUMA nodes */
    cpu_set_t cpus[WSH_TOPO_NODES];                /* processors of each NUMA node */
    struct wsh_topo_location here; /* where this process is bound; all -1 in another machine's topology */
};

/*
 * Reads this machine, or the hwloc XML file `xml` if not NULL. 0 or a logged error. Where hwloc is not installed (see
 * wsh_topo_lacks) a file is an error, and of this machine nothing is known.
 */
int wsh_topo_load(struct wsh_topo *topo, const char *xml);

/* NULL, or why there is no hwloc here, with the cure. */
const char *wsh_topo_lacks(void);

/* Loads hwloc: `text` says which one was found, or why none was. 0 or -1. */
int wsh_topo_library(char *text, size_t size);

/*
 * Fills the location of a NIC whose name and PCI address came from elsewhere (libfabric): that of the NIC with the
 * same address, or, where it has none, of the same name; else unknown.
 */
void wsh_topo_locate(const struct wsh_topo *topo, struct wsh_topo_dev *nic);

/* What the PEs of a host exchange, so that each knows where the others run. */
struct wsh_topo_pe {
    char gpu[WSH_TOPO_PCI]; /* its GPU, or "" */
    int numa, package;      /* where it is bound; numbers of the topology */
};

/* A PE among those of its host. */
struct wsh_topo_local {
    int rank, n;     /* 0 <= rank < n */
    const char *gpu; /* PCI address of its GPU where that is certain; NULL: found by the settings */
    const struct wsh_topo_pe *pe; /* [n] of all PEs; NULL: guessed from this PE's own location */
};

/* Nearest first. */
enum wsh_distance {
    WSH_DISTANCE_SWITCH,   /* below one PCIe switch */
    WSH_DISTANCE_SWITCHES, /* several switches between */
    WSH_DISTANCE_BRIDGE,   /* the host bridge between */
    WSH_DISTANCE_NODE,     /* same NUMA node */
    WSH_DISTANCE_PACKAGE,  /* same package */
    WSH_DISTANCE_MACHINE,  /* another package */
    WSH_DISTANCE_UNKNOWN,
    WSH_DISTANCES
};

/* The NICs of one PE: position k works with position wsh_topo_pair(k, …) of a peer. Position 0 is the nearest. */
struct wsh_topo_rails {
    int n;
    struct {
        int nic; /* index into the list of NICs that was given */
        enum wsh_distance distance;
    } rail[WSH_TOPO_RAILS];
    int gpu; /* index into topo->gpu, or -1 */
};

/*
 * Chooses among nic[n_nics <= WSH_TOPO_NICS] (located) for the PE `local->rank`, considering all PEs of the host
 * together and the settings SHMEM_NICS, SHMEM_NICS_EXCLUDE, SHMEM_NICS_PER_PE and SHMEM_PE_GPU. rails->n is 0 only if
 * there is no NIC. 0 or a logged error.
 */
int wsh_topo_choose(const struct wsh_topo *topo, const struct wsh_env *env,
                    const struct wsh_topo_local *local, const struct wsh_topo_dev *nic, int n_nics,
                    struct wsh_topo_rails *rails);

/* Fills *pe with what this PE sends to the others of its host (local->pe is not read). 0 or a logged error. */
int wsh_topo_pe_fill(const struct wsh_topo *topo, const struct wsh_env *env,
                     const struct wsh_topo_local *local, struct wsh_topo_pe *pe);

/* The processors at the NUMA nodes (or, where a NIC is at none, packages) of these rails; none where unknown. */
void wsh_topo_near(const struct wsh_topo *topo, const struct wsh_topo_rails *rails,
                   const struct wsh_topo_dev *nic, cpu_set_t *near);

/*
 * True if a thread that may run on `allowed` should be bound; *pin is where: those of `allowed` that are `near`.
 * False if these are none or all of `allowed`; unless `narrow`, also if the process is already restricted to a part
 * of `near`.
 */
bool wsh_topo_pin(const cpu_set_t *allowed, const cpu_set_t *near, bool narrow, cpu_set_t *pin);

/* "0-23,48-71" */
void wsh_topo_cpus_text(const cpu_set_t *cpus, char *text, size_t size);

/* The position at a peer with n_peer >= 1 NICs that works with this PE's position `rail`. */
static inline int wsh_topo_pair(int rail, int n_peer)
{
    return rail % n_peer;
}

/* "one word", and what it means, e.g. "switch" and "below the same PCIe switch". */
const char *wsh_topo_distance_word(enum wsh_distance distance);
const char *wsh_topo_distance_help(enum wsh_distance distance);

/* One line: "2 of 32 NICs for the GPU at 0000:53:00.0: rdmap79s0 (switch), rdmap80s0 (switch)". */
void wsh_topo_rails_text(const struct wsh_topo *topo, const struct wsh_topo_rails *rails,
                         const struct wsh_topo_dev *nic, int n_nics, char *text, size_t size);

#endif
