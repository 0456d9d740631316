/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the library, which links no MPI, and the plugin that is built with the program's MPI. */
#ifndef WSH_BOOTSTRAP_MPI_PLUGIN_H
#define WSH_BOOTSTRAP_MPI_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define WSH_MPI_PLUGIN_VERSION 2u
#define WSH_MPI_PLUGIN_SYMBOL \
    "wsh_mpi_plugin" /* the one name that the plugin exports: a struct wsh_mpi_plugin */

/* Results that are not MPI's own, which are above 0. */
enum {
    WSH_MPI_DONE = 0,
    WSH_MPI_NOT_INITIALIZED = -1,
    WSH_MPI_FINALIZED = -2,
    WSH_MPI_OTHER = -3, /* the program's MPI is not the one that the plugin was built with */
    WSH_MPI_NO_COMM = -4,
    WSH_MPI_NO_MEMORY = -5,
    WSH_MPI_TOO_LONG = -6
};

/* This process in a communicator, and among its processes that share memory with this one. */
struct wsh_mpi_ranks {
    int rank, size, local_rank, local_size;
};

/* Every function that returns int returns one of the results above or an error code of MPI. */
struct wsh_mpi_plugin {
    uint32_t version, size; /* WSH_MPI_PLUGIN_VERSION; bytes of this struct */

    /* Collective: duplicates *comm, a pointer to an MPI_Comm. */
    int (*open)(const void *comm, void **handle, struct wsh_mpi_ranks *ranks);

    /* Collective: frees the duplicate, if MPI is still there. */
    void (*close)(void *handle);

    /*
     * Begin a collective, which `test` ends: *done becomes 1. One at a time; the memory stays until then. `local`:
     * among the processes that share memory with this one alone.
     */
    int (*allgather)(void *handle, int local, const void *mine, size_t bytes, void *all);
    int (*barrier)(void *handle);
    int (*test)(void *handle, int *done);

    /* Ends all processes of MPI_COMM_WORLD; returns only if MPI is not there any more. */
    void (*abort)(int status);

    /* The text for a result. */
    void (*explain)(int result, char *text, size_t size);
};

#endif
