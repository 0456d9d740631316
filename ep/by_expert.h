/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where tokens go, received rows expert by expert, and the way back, in memory of a GPU: what warpshmem.deep_ep of the
 * same version calls for get_dispatch_layout and do_expand; no part of shmemx_ep.h. Members are 8 bytes each, as Python
 * gives them.
 *
 * R received rows have K choices each, L experts are here, E rows are expanded ones. All return 0, a cudaError_t, or -1
 * where the library has no kernels, or none for so many choices or tokens: then nothing was started.
 */
#ifndef WSH_EP_BY_EXPERT_H
#define WSH_EP_BY_EXPERT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Inclusive sums of rows by source, one for each place in groups of `inside` ranks, and of aligned counts by expert. */
struct ep_sums {
    const int32_t *sources; /* [ranks, 2]: first row, rows */
    const int32_t *counts;  /* [L]; or NULL */
    int32_t *come;          /* [inside] */
    int32_t *padded;        /* [L] */
    int64_t ranks, inside, local, alignment;
};

/* How many tokens go to each rank, host and expert, and which to which rank. */
struct ep_layout {
    const void *chosen; /* [T, K] int64_t (wide) or int32_t: experts, others: none */
    int32_t *of_rank;   /* [ranks]: tokens */
    int32_t *of_host;   /* [ranks / inside]; or NULL */
    int32_t *of_expert; /* [ranks * local] */
    uint8_t *goes;      /* [T, ranks]: 1 or 0 */
    int64_t tokens, topk, wide, ranks, inside, local;
};

struct ep_places {
    const void *chosen; /* [R, K] int64_t (wide) or int32_t, at steps of `step`: experts here, others: none */
    const int32_t *counts; /* [L]: choices of each */
    int32_t *ends;         /* [L]: first row plus count */
    int32_t *places;       /* [R, K]: the expanded row of each choice, -1: none */
    int64_t *sources;      /* [E]: the received row of each expanded one, -1: padding */
    int32_t *ids;          /* [E]: its expert, -1: padding; or NULL */
    int64_t received, topk, step, wide, local, alignment, expanded;
};

struct ep_expand {
    const int32_t *places;
    const int64_t *sources;
    const char *rows; /* [R] of `bytes`, a multiple of 16 */
    char *out;
    const uint32_t *scales; /* [R, `columns`] */
    uint32_t *out_scales;   /* or NULL: none */
    const float *weights;   /* [R, K], at steps of `step` */
    float *out_weights;     /* or NULL: none */
    int64_t received, topk, expanded, bytes, columns, step,
        zero; /* zero: padding is, of weights it always is */
};

struct ep_fold {
    const int32_t *places;
    const uint16_t *x;              /* [E, hidden] bfloat16 */
    uint16_t *out;                  /* [R, hidden]: added in FP32 in the order of choices, rounded once */
    int64_t received, topk, hidden; /* a multiple of 8 */
};

#pragma GCC visibility push(default)
int wsh_ep_layout(const struct ep_layout *what, void *stream);
int wsh_ep_sums(const struct ep_sums *what, void *stream);
int wsh_ep_places(const struct ep_places *what, void *stream);
int wsh_ep_expand(const struct ep_expand *what, void *stream);
int wsh_ep_fold(const struct ep_fold *what, void *stream);
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
