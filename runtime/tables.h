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

#endif
