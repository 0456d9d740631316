/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blobs of all PEs, packed by host, in one: for each host a number of bytes (64 bits), then what wsh_host_blob_pack
 * made of its PEs. What is read is another process's: that each PE is there once is checked before any is looked up.
 */
#ifndef WSH_BOOTSTRAP_HOST_BLOBS_H
#define WSH_BOOTSTRAP_HOST_BLOBS_H

#include "bootstrap/blob/host_blob.h"

struct wsh_host_blobs {
    unsigned char *bytes;
    size_t size;
    uint32_t *begin; /* [n_pes] where its host's begin in `bytes` */
    int n_pes;
};

/*
 * parts[n_pes]: of all PEs, by number; host[PE] is from 0 to n_hosts - 1, each of which has a PE. *bytes is malloc'd.
 * 0 or a negative errno after one line.
 */
int wsh_host_blobs_pack(const struct wsh_host_part *parts, const int *host, int n_pes, int n_hosts,
                        void **bytes, size_t *size);

/* Takes over the malloc'd bytes, whatever it returns: 0, -EPROTO or -ENOMEM after one line. */
int wsh_host_blobs_open(struct wsh_host_blobs *blobs, void *bytes, size_t size, int n_pes);
void wsh_host_blobs_close(struct wsh_host_blobs *blobs);

/* The blob of `pe`, below n_pes, malloc'd. 0, -EPROTO or -ENOMEM after one line. By any thread. */
int wsh_host_blobs_find(const struct wsh_host_blobs *blobs, int pe, void **blob, size_t *len);

#endif
