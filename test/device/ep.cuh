/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tests of expert parallelism on GPUs share: an instance with all arrays of a call, a call of dispatch and
 * combine, and the comparison of every row, number and sum with ep/check, bit for bit.
 */
#ifndef WSH_TEST_DEVICE_EP_CUH
#define WSH_TEST_DEVICE_EP_CUH

#include "test/device/dev.cuh"

#include <shmemx_ep.h>

#include "test/ep/reference/reference.h"
#include "test/ep/reference/rows.h"

#include <string.h>

/* How a call is made; bits. */
enum {
    EP_APART = 1,     /* sending and receiving halves are launches of their own */
    EP_IN_X = 2,      /* x lies in a buffer of the library's, as it is sent */
    EP_IN_Y = 4,      /* y in one */
    EP_CACHED = 8,    /* the second and later calls have the routing of the first */
    EP_QUANTIZED = 16, /* x is e4m3 already, where the dtype is */
    EP_BARE = 32,     /* arrays that may be missing are */
    EP_OPTIONS = 64
};

struct ep_case {
    enum ref_mode mode;
    enum ref_dtype dtype;
    enum ref_routing routing;
    int hidden, topk, mine, tokens; /* mine: experts a PE */
    int capacity, window, route, options;
    bool wide;        /* topk of 64 bits */
    bool exact;       /* low latency: only the result is rounded */
    bool whole_check; /* each row of `out`; else some */
};

static inline struct ep_case ep_case_of(enum ref_mode mode, enum ref_dtype dtype, enum ref_routing routing)
{
    struct ep_case of = {};

    of.mode = mode;
    of.dtype = dtype;
    of.routing = routing;
    return of;
}

/* Device arrays, and host copies of what is compared. */
struct ep_arrays {
    void *x, *rows, *y, *out;
    float *x_scales, *row_scales, *weights, *row_weights, *y_weights, *out_weights;
    int32_t *topk, *counts, *sources, *row_topk;
    int64_t *wide_topk, *wide_rows; /* what is given in place of topk and row_topk */
    struct ref_origin *origin;
    int64_t *first;
};

struct ep_world {
    struct ep_case of;
    struct ref_job job;
    shmemx_ep_config_t config;
    shmemx_ep_t ep;
    struct ep_arrays a;
    void *x, *y;  /* of this call: in a, or the library's */
    int64_t rows; /* there is room for, of all experts */
    cudaStream_t stream;
    struct dev_report *report;
    enum ref_route route;
    int64_t routed; /* EP_CACHED: the call whose routing is used */
    int64_t agreed, rows_most; /* of the next dispatch */
    int soon;                  /* rows that shmemx_ep_counts gave while the kernel ran; -1: not asked */
    void (*between)(struct ep_world *world); /* between the halves, or NULL */
};

/* Collective. Ends the test where there is no instance. */
void ep_open(struct ep_world *world, const struct ep_case *of);
void ep_close(struct ep_world *world);

/* The job becomes that of call `call`, by the routing of an earlier one with EP_CACHED. */
void ep_set_call(struct ep_world *world, int64_t call);

/* Fills x, topk and weights of call `call` and starts dispatch; or only the halves of it that are given. */
void ep_fill(struct ep_world *world, int64_t call);
void ep_start_dispatch(struct ep_world *world, int halves);
void ep_start_experts(struct ep_world *world); /* y from the rows */
void ep_start_combine(struct ep_world *world, int halves);

/* Compare what dispatch and combine of the call gave. They wait for the stream. */
void ep_check_dispatch(struct ep_world *world);
void ep_check_combine(struct ep_world *world);

/* All of it. */
void ep_call(struct ep_world *world, int64_t call);

/* In a few words. */
const char *ep_case_name(const struct ep_case *of);

#endif
