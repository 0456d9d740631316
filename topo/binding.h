/* SPDX-License-Identifier: BSD-3-Clause */
/* Where each PE of a host runs: its GPU, or else its processors. Pure, but for reading one variable. */
#ifndef WSH_BINDING_H
#define WSH_BINDING_H

#include "topo/topo.h"

/*
 * The PE's own GPU is given by local->gpu or SHMEM_PE_GPU, else by CUDA_VISIBLE_DEVICES and the local rank. A PE
 * that sees all GPUs takes the one with the number of its rank, modulo their number; a PE that sees a single GPU
 * assumes that the other PEs see the other GPUs, in order.
 */
struct wsh_binding {
    const struct wsh_topo *topo;
    const struct wsh_topo_local *local;
    int list[WSH_TOPO_GPUS]; /* GPUs that PEs take in turn */
    int n_list;              /* GPUs in it; 0: no PE uses a GPU */
    int own;                 /* of this PE, or -1 */
};

/* `hint` is SHMEM_PE_GPU or NULL. 0 or -EINVAL after one line. */
int wsh_binding_find(struct wsh_binding *w, const struct wsh_topo *topo, const char *hint,
                     const struct wsh_topo_local *local);

/* The GPU of PE `rank` of this host, or -1; *location is where that PE runs. */
int wsh_binding_of(const struct wsh_binding *w, int rank, struct wsh_topo_location *location);

#endif
