/* SPDX-License-Identifier: BSD-3-Clause */
/* How much an endpoint set holds: requests, buffers, receives, and what it grants its peers of them. */
#ifndef WSH_EFA_SIZES_H
#define WSH_EFA_SIZES_H

#define WSH_EFA_MANY 64     /* PEs beyond which each has fewer buffers */
#define WSH_EFA_ANSWERS 64  /* requests for replies and acks */
#define WSH_EFA_LARGE 65536 /* bytes of a buffer for unregistered user memory */
/* Bytes of a message over ofi_rxm, and of ofi_rxm's buffers, which hold one with the provider's head. */
#define WSH_EFA_RXM_MESSAGE 2176
#define WSH_EFA_RXM_BUFFER 2304

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fi_info;
struct wsh_efa_set;

struct wsh_efa_limits {
    size_t inject_max;  /* bytes that a write or message may inject */
    size_t copy_max;    /* bytes of a put that a buffer of `small` holds */
    size_t copy_always; /* bytes of a put whose source is reusable at once, even when nobody waits for that */
    size_t part_max;    /* bytes of one write or read */
    size_t whole_max;   /* the longest that is one operation: longer ones are cut */
    size_t msg_max;     /* bytes of the largest message */
    uint32_t window;    /* messages that a peer may have under way to this PE */
    uint32_t imms;      /* counted writes that it may */
    bool shared_rx;     /* all these may be more than there are receives */
    uint32_t n_tx, n_small, n_large, n_rx; /* requests in the pools */
};

/* Whether the target can count writes in a job of so many PEs; says so once where it cannot. */
bool wsh_efa_sizes_may_count(int my_pe, uint32_t n_pes);

/* Of an endpoint set whose NICs are like `info`. */
void wsh_efa_sizes_set(struct wsh_efa_set *set, const struct fi_info *info);
/* What to ask of the provider for one NIC; after it. */
void wsh_efa_sizes_limit(const struct wsh_efa_set *set, struct fi_info *info);

/*
 * For estimates, rounded up from jobs of 64 PEs on emulated NICs with libfabric's main of 2026-08, and over sockets: a
 * process with all its libraries. What the provider keeps of a NIC's address, but for the first: 316 bytes on
 * 2026-11-26 by perftest/av_bytes, with efa-direct and without. Of a PE over sockets: 64 KiB.
 */
#define WSH_EFA_PROCESS (6u << 20)
#define WSH_EFA_PROCESS_TCP (20u << 20)
#define WSH_EFA_PROVIDER_NIC 320
#define WSH_EFA_PROVIDER_SOCKET (64u << 10)

/* Bytes of the requests of an endpoint set with their buffers, of a job of so many PEs. */
size_t wsh_efa_sizes_pools(uint32_t n_pes, bool tcp);
/* Bytes of a peer that is connected and talked to by its contexts; of one that is not they stay untouched. */
size_t wsh_efa_sizes_peer(uint32_t n_pes, bool tcp);
size_t wsh_efa_sizes_reserved(void);

#endif
