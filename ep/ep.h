/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's own: an instance, and what its files call of each other. */
#ifndef WSH_EP_H
#define WSH_EP_H

#include "ep/interface.h"
#include "ep/layout.h"
#include "ep/masks.h"
#include "ep/print.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What calls keep from one to the next; in memory of who moves the rows: the host, or the GPU. */
struct ep_state {
    uint64_t dispatches, combines; /* whose sending halves have ended */
    uint64_t received, combined;   /* whose receiving halves have ended */
    uint64_t network_rows, network_puts, near_rows;
    uint64_t weighed;       /* combines whose weights went to far peers */
    uint64_t sent, results; /* parts sent to each far peer, result parts received from each, since create */
    uint64_t forwarded;     /* the dispatch that has forwarded part 0, and had no room for its rows */
    uint64_t come[2], back[2]; /* ep/low: parts, and results, received from each far peer, by parity */
    uint32_t x_turn, y_turn;   /* of the last call */
    uint32_t turn;             /* in one host: the next item of a call of high throughput */
    uint32_t told;             /* the same: whether its numbers are kept */
    uint32_t arrived[8]; /* kernels: blocks at each of their barriers; lanes that have found a wrong part */
#ifdef EP_CLOCKS
    uint64_t clocks[16];
#endif
    /*
     * Since create: [n] parts received of each far origin, then [far] result parts sent to each far peer. ep/low: what
     * each counter has come to, as the worker that watches has seen, then what is stored of each far peer's image
     */
    uint64_t parts[];
};

EP_FN size_t ep_state_bytes(const struct ep_shape *shape)
{
    size_t first = (size_t)(shape->pushes ? shape->counters : shape->n);

    return sizeof(struct ep_state) + (first + (size_t)shape->far) * sizeof(uint64_t);
}

/* What kernels have of masks lies behind it, where an instance pushes. */
EP_FN struct ep_live *ep_live_of(const struct ep_shape *shape, struct ep_state *state)
{
    return (struct ep_live *)((char *)state + ep_align(ep_state_bytes(shape), 16));
}

/* [counters], as ep_masks.missed. */
EP_FN uint64_t *ep_live_missed(const struct ep_shape *shape, struct ep_live *live)
{
    return (uint64_t *)((char *)live +
                        ep_align(sizeof *live + EP_LIVE_ROWS * (size_t)shape->n * sizeof(int32_t), 16));
}

/* [n], as ep_masks.sent. */
EP_FN struct ep_told *ep_live_sent(const struct ep_shape *shape, struct ep_live *live)
{
    return (struct ep_told *)(ep_live_missed(shape, live) + shape->counters);
}

EP_FN size_t ep_live_bytes(const struct ep_shape *shape)
{
    size_t n = (size_t)shape->n;

    return ep_align(sizeof(struct ep_live) + EP_LIVE_ROWS * n * sizeof(int32_t), 16) +
           (size_t)shape->counters * sizeof(uint64_t) + n * sizeof(struct ep_told);
}

/* Of both. */
EP_FN size_t ep_states_bytes(const struct ep_shape *shape)
{
    return ep_align(ep_state_bytes(shape), 16) + (shape->pushes ? ep_live_bytes(shape) : 0);
}

/* Counters that a call waits for: NAME, and what they say of the PE that is waited for. */
#define EP_PHASES(X)                                   \
    X(PART, "its part has come")                       \
    X(CREDIT, "it has taken a part out of its window") \
    X(FORWARD, "it has forwarded a part")              \
    X(TAKEN, "it has taken what was forwarded")        \
    X(COUNTS, "its counts have come")                  \
    X(ROWS, "its rows have come")                      \
    X(RESULT, "its results have come")                 \
    X(RESULT_CREDIT, "it has added up results")        \
    X(WEIGHTS, "its weights have come")                \
    X(BEGUN, "it is in this combine")                  \
    X(WEIGHT, "its weights are here")                  \
    X(RESULTS, "its rows have come back")

#define EP_PHASE_NAME(name, text) EP_PHASE_##name,
enum ep_phase_kind { EP_PHASES(EP_PHASE_NAME) EP_PHASES_N };

/* A part that is another one than its counter has announced. */
struct ep_wrong_part {
    int32_t pe; /* in the world */
    int32_t part, found_part;
    int32_t there; /* last, when the rest is there: 1 */
    int64_t call, found_call;
};

/* Of a wait, for the report of a hang; pinned memory where kernels write it. */
struct ep_phase {
    int32_t kind; /* 0: outside; else 1 + its EP_PHASE number */
    int32_t unused;
    int64_t call; /* its number */
    struct ep_wrong_part wrong;
    uint64_t needs
        []; /* of the counters of that kind: what each is waited to reach; kernels: 0 when it has. Of near
                         PEs' words and flags, by PE: not 0 */
};

/* No kind has more counters. */
EP_FN size_t ep_phase_bytes(const struct ep_shape *shape)
{
    size_t needs = (size_t)(shape->counters > shape->near ? shape->counters : shape->near);

    return sizeof(struct ep_phase) + needs * sizeof(uint64_t);
}

struct shmemx_ep {
    shmemx_ep_config_t config;
    struct ep_shape shape;
    shmem_team_t team; /* a duplicate */
    shmem_ctx_t ctx;
    char *arena;                /* symmetric, or NULL */
    char **near_arena;          /* [near]: the arenas of this host's PEs, as this PE reaches them */
    int *pes;                   /* [n] numbers in the world */
    bool hosts_alike;           /* all have equally many PEs of the team, that follow each other */
    shmemx_counter_t *counters; /* [shape.counters] */
    struct ep_state *state;
    struct ep_phase *phase;
    struct ep_masks *masks; /* or NULL */
    char *group;            /* on the host: memory of the one group */
    void *buffers[2];       /* low latency among near PEs: X and Y, from when they are asked for */
    /* What the host remembers of calls, to refuse what is out of order. */
    struct ep_half {
        bool sent; /* the sending half was called, the receiving one not yet */
        int handle, tokens;
        int64_t most;            /* rows that there is room for; 0: all */
        int64_t agreed;          /* of a dispatch */
        int64_t room, alignment; /* of expanded rows, with `most`; 0: there are none */
    } dispatch, combine;
    int *handle_tokens;         /* [handles]: of the routing that each has; -1: none */
    int turn[2];                /* of X and Y: which buffer was given last */
    struct ep_kernels *kernels; /* device: what ep/device keeps; NULL on the host */
    struct shmemx_ep *next;     /* of those that are there (live.c) */
};

/* Notes an instance from the end of its making to the beginning of its end. Any thread. */
void ep_live_add(struct shmemx_ep *ep);
void ep_live_remove(const struct shmemx_ep *ep);

/* Whether `ep` is such an instance; 0, or nonzero after a line that names the routine. */
int ep_check_live(const char *routine, const struct shmemx_ep *ep);

/* Workers that share a call's rows on the host. */
int ep_host_workers(void);

/* Fills *shape from a configuration that has been checked, for PE `me` of n, `near` on each host. */
void ep_shape_fill(struct ep_shape *shape, const shmemx_ep_config_t *config, int me, int n, int near);

/* What a configuration or a dispatch gives for its mode, in the members of version 1; 0, or nonzero after a line. */
int ep_config_read(const char *routine, const shmemx_ep_config_t *given, shmemx_ep_config_t *config);
int ep_dispatch_read(const struct shmemx_ep *ep, const shmemx_ep_dispatch_t *given,
                     shmemx_ep_dispatch_t *call);

/* The member of a configuration that says the capacity. */
const char *ep_capacity_name(int mode);

/* Whether a configuration can be taken by n PEs; 0, or nonzero after a line that names the routine. */
int ep_check_config(const char *routine, const shmemx_ep_config_t *config, int n);

/* Whether a call can be; the same. */
int ep_check_dispatch(const struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call);
int ep_check_combine(const struct shmemx_ep *ep, const shmemx_ep_combine_t *call);
int ep_check_counts(const struct shmemx_ep *ep, int handle);

/* Describes the wait that a call of this PE is in, or its wrong part, for a report; nothing where there is neither. */
void ep_report(void *ep, char *text, size_t size);

/* What a phase says of the PE that is waited for. */
const char *ep_phase_text(int phase);

/* What is wrong with a part, why and what to do. */
void ep_wrong_part_text(const struct ep_wrong_part *wrong, char *text, size_t size);

/* The halves of calls on the host (ep/host); arguments have been checked. */
void ep_host_dispatch_send(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call);
void ep_host_dispatch_receive(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call);
void ep_host_combine_send(struct shmemx_ep *ep, const shmemx_ep_combine_t *call);
void ep_host_combine_receive(struct shmemx_ep *ep, const shmemx_ep_combine_t *call);

/* The same of an instance that pushes. */
void ep_host_low_dispatch(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call);
void ep_host_low_combine(struct shmemx_ep *ep, const shmemx_ep_combine_t *call);

/* The same of high throughput in one host. */
void ep_host_pull_dispatch(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call);
void ep_host_pull_combine(struct shmemx_ep *ep, const shmemx_ep_combine_t *call);

/* The same on a stream, by kernels (ep/device); 0, or nonzero after a line. NULL where built without nvcc. */
struct ep_device_calls {
    int (*open)(struct shmemx_ep *ep); /* state, phase, arenas for kernels; checks that all blocks fit */
    void (*close)(struct shmemx_ep *ep);
    int (*dispatch)(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call);
    int (*combine)(struct shmemx_ep *ep, const shmemx_ep_combine_t *call);
    int (*counts)(struct shmemx_ep *ep, int handle, int32_t *counts, int32_t *rows);
    int (*statistics)(struct shmemx_ep *ep, shmemx_ep_statistics_t *statistics);
    int (*masks)(struct shmemx_ep *ep, enum ep_masks_how how); /* ep->masks->live and ->state */
    bool (*reaches)(const void *address);                      /* whether kernels may use it */
    void *(*take)(size_t bytes);                               /* memory of the GPU, or NULL */
    void (*give)(void *memory);
};
extern const struct ep_device_calls *const ep_device_calls;

#ifdef __cplusplus
}
#endif

#endif
