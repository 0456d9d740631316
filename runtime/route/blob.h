/* SPDX-License-Identifier: BSD-3-Clause */
/* The blob that a PE publishes at start and when it adds memory: who and where it is, how its memory is reached. */
#ifndef WSH_ROUTE_BLOB_H
#define WSH_ROUTE_BLOB_H

#include "transports/transport.h"

struct wsh_job;

/* What one transport says of this PE. */
struct wsh_route_key {
    size_t len;
    char bytes[WSH_TP_MEM_MAX];
};

struct wsh_route_keys {
    size_t address_len;
    char address[WSH_TP_ADDRESS_MAX];
    struct wsh_route_key mem[WSH_SEG_MORE + 1]; /* wsh_route_key_of */
};

/* The segments from WSH_SEG_MORE on have one place: they are published one by one. */
static inline struct wsh_route_key *wsh_route_key_of(struct wsh_route_keys *keys, int seg)
{
    return &keys->mem[seg < WSH_SEG_MORE ? seg : WSH_SEG_MORE];
}

/* A peer's blob, checked: every offset in it is inside. */
struct wsh_peer_blob {
    void *bytes; /* malloc'd */
    size_t len;
};

/* Writes this PE's blob; *bytes is malloc'd. `added`: as for wsh_peer_blob_exchange. */
int wsh_peer_blob_pack(const struct wsh_job *job, int added, void **bytes, size_t *len);

/*
 * Checks version, lengths and that PE `pe` fits to this one (library version, heap size). Takes over bytes in
 * any case. 0 or a logged error.
 */
int wsh_peer_blob_open(struct wsh_peer_blob *blob, const struct wsh_job *job, int pe, void *bytes,
                       size_t len);
void wsh_peer_blob_close(struct wsh_peer_blob *blob);

/* Bytes of the blob of a PE with one NIC, nearly. */
size_t wsh_peer_blob_typical(void);

/*
 * Collective, with the segment that the PEs add (from WSH_SEG_MORE on) or 0: publishes this PE's blob and reads those
 * of all PEs ([n_pes], zeroed; to be closed in any case). Serves no peers meanwhile.
 */
int wsh_peer_blob_exchange(struct wsh_job *job, int added, struct wsh_peer_blob *peers);

/* Equal on PEs that share an (emulated) host, and so memory. */
uint64_t wsh_peer_blob_host(const struct wsh_peer_blob *blob);
/* Equal on PEs of one kernel and network name space, 0 where that cannot be known. */
uint64_t wsh_peer_blob_machine(const struct wsh_peer_blob *blob);
/* The PE took it that all are on its machine. */
bool wsh_peer_blob_loopback(const struct wsh_peer_blob *blob);
bool wsh_peer_blob_has(const struct wsh_peer_blob *blob, int seg);
/* Bytes of a segment, 0 = none; PCI address of the GPU that the PE has attached, "" = none. */
size_t wsh_peer_blob_len(const struct wsh_peer_blob *blob, int seg);
size_t wsh_peer_blob_device_limit(const struct wsh_peer_blob *blob); /* that its device heap may grow to */
const char *wsh_peer_blob_gpu(const struct wsh_peer_blob *blob);
bool wsh_peer_blob_by_sockets(
    const struct wsh_peer_blob *blob);                      /* its messages to other hosts are system calls */
bool wsh_peer_blob_stats(const struct wsh_peer_blob *blob); /* it wants the table at the end */
/* NICs of the PE's host, as its transport sees them; 0: there is no network. */
int wsh_peer_blob_nics(const struct wsh_peer_blob *blob);
/* How many processors the PE may use, and the first of them, below CPU_SETSIZE. */
int wsh_peer_blob_cpus(const struct wsh_peer_blob *blob, int *first);
/* The part that transport `name` wrote; NULL and *len = 0 where there is none. */
const void *wsh_peer_blob_address(const struct wsh_peer_blob *blob, const char *name, size_t *len);
const void *wsh_peer_blob_mem(const struct wsh_peer_blob *blob, const char *name, int seg, size_t *len);

#endif
