/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of the program that NICs keep: for each, every rail of the first endpoint set has a queue pair whose remote
 * writes the NIC counts in a word of memory. A counted put to such a counter, from any endpoint set, is one write to
 * that queue pair: no immediate data, no credit, no acknowledgement, and nothing for the target's CPU. Ordinary
 * operations never go there.
 *
 * The queue pairs of a counter are opened once and stay: the NIC cannot set a word back, and peers know their names.
 */
#ifndef WSH_EFA_COUNTERS_H
#define WSH_EFA_COUNTERS_H

#include "transports/efa/wire/batch.h"
#include "transports/efa/gda/provider_ops.h"
#include "transports/transport.h"

/* Of this PE's counter: the queue pair and the NIC's counter, by rail. */
struct wsh_efa_counter {
    struct fid_ep *ep[WSH_EFA_RAILS]; /* NULL: none was opened */
    struct fid_cntr *count[WSH_EFA_RAILS];
};

/* With the endpoint set's lock. */
struct wsh_efa_counters {
    const struct wsh_efa_gda_ops *ops[WSH_EFA_RAILS]; /* of the rails' domains */
    struct fid_cq *cq[WSH_EFA_RAILS];                 /* of their queue pairs, in which nothing arrives */
    uint32_t most, n;                                 /* queue pairs that a rail may have so, and has */
    struct wsh_efa_counter own[WSH_TP_COUNTERS];
};

/* A peer's counter, as the rails of this PE address it. */
struct wsh_efa_remote_counter {
    fi_addr_t addr[WSH_EFA_RAILS]; /* where `entered` */
    bool entered;                  /* in the address vectors: at the first put */
    uint8_t n_rails, name_len;
    unsigned char name[]; /* [n_rails] of name_len bytes */
};

/* What peers need of a counter (wsh_tp_ops.counter_open). */
#define WSH_EFA_COUNTER_NAME_MAX 32 /* bytes of a queue pair's name */
struct wsh_efa_counter_blob {
    uint8_t n_rails, name_len;
    unsigned char name[WSH_EFA_RAILS * WSH_EFA_COUNTER_NAME_MAX]; /* [n_rails] of name_len bytes */
};

#define WSH_EFA_COUNTER_BLOB_LEN(names_len) (offsetof(struct wsh_efa_counter_blob, name) + (names_len))

_Static_assert(sizeof(struct wsh_efa_counter_blob) <= WSH_TP_COUNTER_MAX, "the names of all rails fit");

/*
 * After the rails are open: how many counters their NICs keep for this PE; `nics` are those that PEs of this host
 * share. 0 or a logged error: more were asked for than there can be.
 */
int wsh_efa_counters_open(struct wsh_efa_set *set, const struct wsh_tp_params *params,
                          const struct fi_info *nics);
/* Before the rails are; the first says how many puts went to those of peers. */
void wsh_efa_counters_stop(struct wsh_efa_set *set);
void wsh_efa_counters_close(struct wsh_efa_set *set);
void wsh_efa_counters_forget(struct wsh_efa_peer *peer);

/* Slots of struct wsh_tp_ops: open for the first endpoint set, attach for each. */
int wsh_efa_counter_open(struct wsh_efa_set *set, uint32_t counter, uint64_t *words, enum wsh_mem_kind kind,
                         void *blob, size_t *len);
int wsh_efa_counter_attach(struct wsh_efa_set *set, int pe, uint32_t counter, const void *blob, size_t len);

/*
 * The peer's queue pair for that counter as rail `rail` of this PE posts to it: for kernels that post themselves. Takes
 * the lock. 0, -ENOENT (unlogged): it has none; or final.
 */
int wsh_efa_counter_query(struct wsh_efa_set *set, int pe, uint32_t counter, unsigned rail, uint16_t *ah,
                          uint16_t *qpn, uint32_t *qkey);

/* Whether the peer's NICs keep that counter. */
static inline bool wsh_efa_counter_is_kept(const struct wsh_efa_set *set, int pe, uint32_t counter)
{
    const struct wsh_efa_peer *peer = &set->peers[pe];

    return counter < peer->n_counters && peer->counter[counter];
}

/* Its address; after wsh_efa_counter_enter. */
static inline fi_addr_t wsh_efa_counter_addr(const struct wsh_efa_set *set, int pe, uint32_t counter,
                                             unsigned rail)
{
    return set->peers[pe].counter[counter]->addr[rail];
}

/* Enters it where that was not done. 0 or final. */
int wsh_efa_counter_enter(struct wsh_efa_set *set, int pe, uint32_t counter);
/* True: one write of the flow may start now, and counts as started. */
bool wsh_efa_counter_begin(struct wsh_efa_flow *flow);
/* A put that has begun, to a counter that is kept and entered; `keys`: wsh_efa_rmem_first_keys of where it goes. */
int wsh_efa_counter_put(struct wsh_efa_set *set, struct wsh_efa_flow *flow, const struct wsh_efa_span *span,
                        const uint64_t *keys, uint32_t counter, struct wsh_done *done);

#endif
