/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blobs of a host's PEs in one: the first without its zeros, each other one as its difference from the first,
 * so that a reader of one PE's decodes two. What is read is another process's: each number in it is checked.
 */
#ifndef WSH_BOOTSTRAP_HOST_BLOB_H
#define WSH_BOOTSTRAP_HOST_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WSH_HOST_BLOB_PART ((size_t)4 << 20) /* bytes of one PE's blob at most */

struct wsh_host_part {
    uint32_t pe;
    const void *blob;
    size_t len;
};

/* `n` parts (at least 1) by rising PE; *bytes is malloc'd. 0 or a negative errno after one line. */
int wsh_host_blob_pack(const struct wsh_host_part *parts, int n, void **bytes, size_t *size);

/* The PE of part `i`. False: there are not so many, or this is none. */
bool wsh_host_blob_pe(const void *bytes, size_t size, size_t i, uint32_t *pe);

/* The blob of `pe`, malloc'd. 0, -EPROTO or -ENOMEM after one line. */
int wsh_host_blob_find(const void *bytes, size_t size, uint32_t pe, void **blob, size_t *len);

#endif
