/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame around a PE's blob, by which a reader sees that the blob is whole, current, and of its own version. */
#ifndef WSH_BOOTSTRAP_BLOB_H
#define WSH_BOOTSTRAP_BLOB_H

#include <stddef.h>
#include <stdint.h>

/* Whose blob of which exchange. */
struct wsh_blob_id {
    uint32_t generation; /* counts shmem_init */
    uint32_t round, pe;
};

/* Frames `len` bytes; *bytes is malloc'd. 0 or -ENOMEM after one line. */
int wsh_blob_wrap(const struct wsh_blob_id *id, const void *blob, size_t len, void **bytes, size_t *size);

/* Checks the frame and copies what is inside; *blob is malloc'd. 0, -EPROTO or -ENOMEM after one line. */
int wsh_blob_unwrap(const struct wsh_blob_id *id, const void *bytes, size_t size, void **blob, size_t *len);

#endif
