/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of expert parallelism as a program makes them, each compared with the reference (ep/check), bit for bit: rows,
 * scales, counts and sources of dispatch, sums and weights of combine, rows on the network.
 */
#ifndef WSH_TEST_EP_CALLS_H
#define WSH_TEST_EP_CALLS_H

#include "test/ep/reference/reference.h"
#include "test/common/mp.h"

#include <shmemx_ep.h>

/* How calls are made; zeros: in the plainest way. */
struct calls_options {
    bool halves;  /* dispatch and combine each in two calls, between which now and then a PE does nothing */
    bool buffers; /* x and y in buffers of the instance, where dtype allows it: BF16, or coded */
    bool coded;   /* x is e4m3 with scales, of a dtype that has them */
    bool kept;    /* every second call has the routing of the one before, by its handle */
    int capacity; /* of the configuration; 0: all that can come */
    int window, handles;
    bool wide;  /* topk of 64 bits */
    bool plain; /* PEs agree in no call */
    int masks;  /* low latency: with masks, and such a limit in ms */
    int spare;  /* low latency: columns of the configuration that calls do not have */
};

/* Where arrays lie, and what follows each call; NULL: the host's. Kernels make calls where they reach them. */
struct calls_memory {
    void *(*take)(size_t bytes); /* zeros, or NULL */
    void (*give)(void *memory);
    void (*wait)(void);
};
extern const struct calls_memory *calls_memory;

/* From now on memory that kernels reach; false: there is no GPU. After shmem_init. */
bool calls_use_gpu(void);

/* Where a dispatch puts rows, of either mode: the members of shmemx_ep_rows_by_expert_t and …_by_source_t. */
struct calls_rows {
    void *rows, *row_topk;
    float *row_scales, *row_weights;
    int32_t *counts, *sources, *row_sources, *totals;
    int64_t *ranges, scales_row_step, scales_column_step, scales_packed;
};

/* One instance and the memory of its calls. */
struct calls {
    struct ref_job job;
    enum ref_mode mode;
    enum ref_route route;
    struct calls_options options;
    shmemx_ep_t ep;
    bool shares; /* it is another's */
    int me;
    int64_t kinds, capacity; /* room for rows: kinds * capacity */
    shmemx_ep_dispatch_t dispatch;
    struct calls_rows into; /* where it puts rows */
    shmemx_ep_combine_t combine;
    char *x, *got;
    float *x_scales, *got_scales, *weights, *got_weights, *y_weights, *out_weights;
    int32_t *topk, *counts, *sources, *got_topk, *row_sources, *totals, *last_totals;
    int64_t *ranges;
    float *by_column;              /* scales as a call gives them, that has them so */
    int64_t *wide_topk, *wide_got; /* what is given in place of topk and got_topk */
    uint16_t *y, *out;
    uint64_t network_rows;  /* of dispatches, by the reference */
    uint64_t declined;      /* dispatches of which nobody had rows */
    uint64_t declined_rows; /* that they gave to the network */
};

/* Collective over all PEs; the team has job->pes of them. False after a line. */
bool calls_open(struct calls *calls, shmem_team_t team, const struct ref_job *job, enum ref_mode mode,
                enum ref_route route, const struct calls_options *options);
void calls_close(struct calls *calls);

/* Emulated hosts of this path, for the PEs of a job: 1, 2, or where PEs reach each other by the network alone all. */
int calls_hosts(void);

/* A job of random sizes; all PEs draw the same from *state. */
struct ref_job calls_random_job(uint64_t *state, int pes, int hosts);
struct calls_options calls_random_options(uint64_t *state);

/* Calls with arrays of their own, of the instance of another. */
void calls_share(struct calls *calls, const struct calls *other);

/* Dispatch and combine number `call`, all compared. */
void calls_round(struct calls *calls, int64_t call);

/* Whether the combine of a call, and not its dispatch, is given the weights: now and then in low latency. */
bool calls_are_late(const struct calls *calls, int64_t call);

/* Whether a call of low latency gives what DeepEP's have: ranges, sources of rows, totals, scales by columns. */
bool calls_are_full(const struct calls *calls, int64_t call);

/* Whether a call gives its rows as version 1 of the structs has them. */
bool calls_are_former(int64_t call);

/* Between halves: one PE does nothing for a while, and the others run as far ahead as they may. */
void calls_be_late(const struct calls *calls, int64_t call);

/* The parts of a round: fill x, topk, weights; dispatch; compare and compute y; combine; compare. */
void calls_fill(struct calls *calls, int64_t call);
void calls_dispatch(struct calls *calls, int halves);
void calls_received(struct calls *calls);
void calls_combine(struct calls *calls, int halves);
void calls_combined(struct calls *calls);

#endif
