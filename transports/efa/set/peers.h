/* SPDX-License-Identifier: BSD-3-Clause */
/* The peers of an endpoint set: their addresses and keys, what they have granted, and connecting to them. */
#ifndef WSH_EFA_PEERS_H
#define WSH_EFA_PEERS_H

#include "transports/efa/set/flow.h"
#include "transports/efa/srd/flow.h"
#include "transports/efa/ops/imm_count.h"
#include "transports/transport.h"

#include <rdma/fabric.h>

struct wsh_efa_set;

/* From a rail of this PE to the one of a peer that works with it. */
struct wsh_efa_path {
    fi_addr_t addr;
    uint64_t *key; /* [n_keys], by segment: of the peer's memory, there; under the set's lock */
    uint32_t n_keys;
    uint32_t posted;   /* requests posted on this path that have not completed */
    double lost_since; /* or 0 */
};

struct wsh_efa_peer {
    uint64_t tag_in, tag_out;  /* that its messages must carry, and those to it do */
    fi_addr_t addr;            /* with one rail; with several: path */
    struct wsh_efa_path *path; /* [set->n_rails], or NULL */
    uint8_t paths;             /* bits of those that are not lost */
    uint8_t lost;              /* rails that are lost */
    uint8_t unacked;           /* lost rails, while nothing has come back by another */
    uint8_t n_rails;           /* the peer's own */
    bool notice;               /* it does not know yet of a path that was lost */
    struct wsh_srd_link link;  /* what it granted */
    struct wsh_efa_imm_count imm_count;
    struct wsh_efa_rx_flow **rx_flow;
    uint32_t n_rx_flows;
    uint32_t window;                     /* messages that a flow to it may have under way */
    uint64_t operations, bytes, retries; /* wsh_tp_ops.traffic */
    uint32_t posted;                     /* requests that the provider has for this peer */
    uint32_t acks;                       /* acks from it that said something new */
    uint32_t polled_acks;                /* the same at the last poll for silent peers */
    double lost_since;                   /* when the provider first found no connection any more, or 0 */
    double retry_at; /* before that nothing held is given to it: it has left. 0: at any time */
    bool gone;       /* it has failed (gone.h) */
    bool heard;      /* something has come back from it */
    bool connected;
    uint16_t msg_max;                        /* bytes of the largest message it takes */
    struct wsh_efa_remote_counter **counter; /* [n_counters] that its NICs keep, or NULL each */
    uint32_t n_counters;
};

/* What connecting takes. */
struct wsh_efa_connecting {
    struct wsh_secret secret; /* of the job, for tags */
    uint32_t generation;      /* calls of shmem_init, for tags too */
    int (*look_up)(void *core, int pe, const char *name, void **address,
                   size_t *len); /* wsh_tp_peers.fetch */
    char rxm_buffers[24];        /* bytes of one, as ofi_rxm was told; "": another provider */
};

/* Frees what the peer's record holds of its paths. */
void wsh_efa_peer_fini(const struct wsh_efa_set *set, struct wsh_efa_peer *peer);

/*
 * Connects to a peer at its first use, under the lock. 0 or a logged error; -EHOSTUNREACH, unlogged: it has not opened
 * this transport.
 */
int wsh_efa_peer_join(struct wsh_efa_set *set, int pe);
/* The same when something has come from there. 1: it is connected, 0: it cannot have sent that, or the final error. */
int wsh_efa_peer_accept(struct wsh_efa_set *set, int pe);
/* Whether a message with that tag is from PE `pe`, which is connected then; or the final error. */
int wsh_efa_peer_knows(struct wsh_efa_set *set, int pe, uint64_t tag);

int wsh_efa_peers_address(struct wsh_efa_set *set, void *blob, size_t *len);
int wsh_efa_peers_connect(struct wsh_efa_set *set, const struct wsh_tp_peers *peers);
unsigned wsh_efa_peers_reach(struct wsh_efa_set *set, int pe, enum wsh_mem_kind kind);

#endif
