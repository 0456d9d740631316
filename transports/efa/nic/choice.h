/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the rail of an operation, and the pieces into which a large one is cut over several rails. Pure. */
#ifndef WSH_EFA_CHOICE_H
#define WSH_EFA_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#define WSH_EFA_RAILS 8
#define WSH_EFA_STRIPE ((size_t)128 << 10)     /* least bytes of a piece; an operation of two is cut */
#define WSH_EFA_STRIPE_MAX ((size_t)512 << 10) /* most, where rails differ in speed */
#define WSH_EFA_ROOM ((uint64_t)1 << 20) /* under way on a rail, a piece waits for another one or for room */
#define WSH_EFA_SLACK ((uint64_t)64 << 10) /* rails so near to the least loaded one take their turns */

/* In the order of the words of SHMEM_NICS_POLICY. */
enum wsh_efa_policy { WSH_EFA_ADAPTIVE, WSH_EFA_FIXED, WSH_EFA_ROUND_ROBIN };

struct wsh_efa_choice {
    uint64_t bytes[WSH_EFA_RAILS]; /* under way */
    uint32_t n, next;              /* rails; whose turn it is */
    enum wsh_efa_policy policy;
};

/*
 * Bytes of the pieces of an operation of `len`, of which each takes at most `most`. Adaptive: so many that every rail
 * gets several, as it has room; fixed: one a rail.
 */
size_t wsh_efa_choice_part(const struct wsh_efa_choice *choice, size_t len, size_t most);

/*
 * The rail (a bit of `usable`, which is not 0) for `len` bytes; -1: they should wait until one has room, which only
 * pieces do. The caller adds what it starts to `bytes`, and takes it off when it ends.
 */
int wsh_efa_choice_rail(struct wsh_efa_choice *choice, unsigned usable, size_t len);

#endif
