/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blobs of a job whose PEs have allgathers, of all and of a host's: those of a host go among its PEs whole, and to
 * all packed, of which each of them carries a slice.
 */
#ifndef WSH_BOOTSTRAP_BLOBS_MPI_H
#define WSH_BOOTSTRAP_BLOBS_MPI_H

#include "bootstrap/blob/host_blobs.h"

#include <stdbool.h>

struct wsh_blobs_mpi {
    int me, n_pes, local_rank, local_size; /* local ranks rise with the PEs */

    /*
     * Collective, over all PEs or those of this host: all[] receives by rank the `bytes` at `mine` of each. 0 or a
     * negative errno after one line.
     */
    int (*allgather)(void *context, bool local, const void *mine, size_t bytes, void *all);
    void *context;
};

/* Collective: *blobs are of all PEs. 0 or a negative errno after one line; *blobs is closed then. */
int wsh_blobs_mpi_gather(const struct wsh_blobs_mpi *group, const void *blob, size_t len,
                         struct wsh_host_blobs *blobs);

#endif
