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

#define WSH_EFA_LATELY 8 /* counted puts, by whose peers is judged how many share the rails */

/* In the order of the words of SHMEM_NICS_POLICY. */
enum wsh_efa_policy { WSH_EFA_ADAPTIVE, WSH_EFA_FIXED, WSH_EFA_ROUND_ROBIN };

struct wsh_efa_choice {
    uint64_t bytes[WSH_EFA_RAILS]; /* under way */
    uint32_t n, next;              /* rails; whose turn it is */
    enum wsh_efa_policy policy;
    int lately[WSH_EFA_LATELY]; /* 1 + PE that a long counted put went to; 0: none; < 0: supposed */
    uint32_t oldest;            /* of these */
};

/*
 * Bytes of the pieces of an operation of `len`, of which each takes at most `most`. Adaptive: so many that every rail
 * gets several, as it has room, so that a slow one gets fewer; fixed: one a rail.
 */
size_t wsh_efa_choice_part(const struct wsh_efa_choice *choice, size_t len, size_t most);

/*
 * The rail (a bit of `usable`, which is not 0) for `len` bytes; -1: they should wait until one has room, which only
 * pieces do. The caller adds what it starts to `bytes`, and takes it off when it ends.
 */
int wsh_efa_choice_rail(struct wsh_efa_choice *choice, unsigned usable, size_t len);

/*
 * Counted puts are cut less, since each piece costs the target as much as a put: into `rails` / peers, where peers are
 * those of the last long ones, this one to `pe` too. So each of few peers has pieces for all rails, one a rail, and
 * with as many peers as rails, whole puts go to the rails that have least to do. At the start all the hosts are
 * supposed to be such peers.
 */
uint32_t wsh_efa_choice_pieces(const struct wsh_efa_choice *choice, uint32_t rails, int pe, size_t len);
void wsh_efa_choice_suppose(struct wsh_efa_choice *choice, uint32_t other_hosts);
/* A counted put of `len` bytes has been given to the rails. */
void wsh_efa_choice_note(struct wsh_efa_choice *choice, int pe, size_t len);
/* Bytes of a piece of so many, of which each takes at most `most`. */
size_t wsh_efa_choice_piece(size_t len, uint32_t pieces, size_t most);

#endif
