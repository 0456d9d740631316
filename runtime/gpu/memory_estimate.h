/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory a PE takes to know where the device memory of others is. */
#ifndef WSH_TABLES_H
#define WSH_TABLES_H

#include <stddef.h>

/* Buffers: all of one size, or pieces by which device heaps have grown. Rails: NICs of a PE. */
struct wsh_tables_shape {
    size_t n_pes, n_buffers, n_rails, n_local; /* n_local: PEs of a host */
};

/* What is asked about: more than it is no figure for. */
#define WSH_TABLES_LARGE ((struct wsh_tables_shape){256, 1024, 4, 8})

/* Bytes of host memory, at the most: two entries for each PE and piece, keys by NIC, and what kernels are told. */
size_t wsh_tables_host(const struct wsh_tables_shape *shape);

/* Bytes of device memory. */
size_t wsh_tables_device(const struct wsh_tables_shape *shape);

/* A job of many PEs, which are alike; further teams of all of them. */
struct wsh_tables_job {
    size_t n_pes, n_local, n_teams;
};

/*
 * Bytes that a PE touches, beside its heap: which PEs share a host; teams; route entries, with those of `known` PEs of
 * other hosts; the sync areas of the teams. While shmem_init runs, for the peers' blobs.
 */
size_t wsh_tables_hosts(const struct wsh_tables_job *job);
size_t wsh_tables_teams(const struct wsh_tables_job *job);
size_t wsh_tables_routes(const struct wsh_tables_job *job, size_t known);
size_t wsh_tables_sync_areas(const struct wsh_tables_job *job);
size_t wsh_tables_start(const struct wsh_tables_job *job);
/* Bytes that it reserves without touching them, for each PE that it does not address. */
size_t wsh_tables_reserved(void);

/* Bytes that a PE which is never addressed costs each other PE: its host, its domain, its place in the world team. */
#define WSH_TABLES_PEER_MAX 64
size_t wsh_tables_peer(void);

#endif
