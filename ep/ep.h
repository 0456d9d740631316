/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's own: an instance, and what its files call of each other. */
#ifndef WSH_EP_H
#define WSH_EP_H

#include "layout.h"

#include <shmemx_ep.h>

#include <stdbool.h>

/* What calls keep from one to the next; in memory of who moves the rows: the host, or the GPU. */
struct ep_state {
    uint64_t dispatches, combines; /* that have been begun; halves change it when they end */
    uint64_t received, combined;   /* of those, whose receiving halves have ended */
    uint64_t network_rows, network_puts, near_rows;
    uint32_t arrived[8]; /* kernels: blocks at each of their meetings */
    /* Behind it, by far peer: parts sent, received, results sent, received, since create */
    uint64_t parts[];
};

/* Of a wait, for the report of a hang; pinned memory where kernels write it. */
struct ep_phase {
    int32_t kind; /* 0: outside; else 1 + EP_PHASE_… */
    int32_t handle;
    uint64_t call;
    uint64_t part; /* number since create */
};

struct shmemx_ep {
    shmemx_ep_config_t config;
    struct ep_shape shape;
    shmem_team_t team; /* a duplicate */
    shmem_ctx_t ctx;
    char *arena;                /* symmetric */
    char **near_arena;          /* [near]: the arenas of this host's PEs, as this PE reaches them */
    int *pes;                   /* [n] numbers in the world */
    shmemx_counter_t *counters; /* [shape.counters] */
    struct ep_state *state;
    struct ep_phase *phase;
    /* What the host remembers of halves, to refuse them out of order. */
    int dispatch_half, combine_half; /* 0: none under way; SHMEMX_EP_SEND: sent */
    uint64_t calls;
    struct ep_kernels *kernels; /* device: what ep/device keeps; NULL on the host */
};

/* Fills *shape from a configuration that has been checked, for PE `me` of n, `near` on each host. */
void ep_shape_fill(struct ep_shape *shape, const shmemx_ep_config_t *config, int me, int n, int near);

/* Prints "ROUTINE: …" in the library's form. Returns 1. */
int ep_refuse(const char *routine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The halves of calls on the host (ep/host); arguments have been checked. */
void ep_host_dispatch_send(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call);
void ep_host_dispatch_receive(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call);
void ep_host_combine_send(struct shmemx_ep *ep, const shmemx_ep_combine_t *call);
void ep_host_combine_receive(struct shmemx_ep *ep, const shmemx_ep_combine_t *call);

/* The same on a stream, by kernels (ep/device); 0, or nonzero after a line. NULL where built without nvcc. */
struct ep_device_calls {
    int (*open)(
        struct shmemx_ep *ep); /* device state, phase, arenas for kernels; checks that all blocks fit */
    void (*close)(struct shmemx_ep *ep);
    int (*dispatch)(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call);
    int (*combine)(struct shmemx_ep *ep, const shmemx_ep_combine_t *call);
    int (*counts)(struct shmemx_ep *ep, int handle, int32_t *counts, int32_t *rows);
    int (*statistics)(struct shmemx_ep *ep, shmemx_ep_statistics_t *statistics);
};
extern const struct ep_device_calls *const ep_device_calls;

#endif
