/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expert parallelism, in libwarpshmem-ep: dispatch sends each token to the PEs that have its experts, combine brings
 * the experts' results back and adds them up. Rows lie in memory of the host, or in memory of the GPU where kernels
 * move them. A library over shmem.h and shmemx.h.
 *
 * n PEs have `experts` experts; expert e is on PE e / (experts / n), as its local expert e % (experts / n). Between
 * hosts a row goes to each PE that needs it (direct), or once to each host, to the PE there with the sender's number on
 * its own host, from which the others of that host fetch it (one copy).
 *
 * All routines return 0, or nonzero after a line of cause and cure; arguments that are refused send nothing.
 */
#ifndef WSH_SHMEMX_EP_H
#define WSH_SHMEMX_EP_H

#include <shmemx.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shmemx_ep *shmemx_ep_t;

/*
 * Marks members that go after one release (CHANGELOG.md): they work as before. clang's C++ would warn of each copy of a
 * struct that has such.
 */
#ifdef WSH_EP_FORMER
#elif defined __clang__ && defined __cplusplus
#define WSH_EP_FORMER(instead)
#else
#define WSH_EP_FORMER(instead) __attribute__((deprecated("set " instead)))
#endif

/* Modes. */
/*
 * Decode: received rows packed by local expert, then source PE, then token. With several hosts PEs of this host come
 * first.
 */
#define SHMEMX_EP_LOW_LATENCY 0
#define SHMEMX_EP_HIGH_THROUGHPUT \
    1 /* prefill, training: one received row a token, by source PE, then token */

/* What dispatch sends of a row of `hidden` columns. */
#define SHMEMX_EP_BF16 0
#define SHMEMX_EP_FP8 1       /* e4m3, and for each 128 columns a float, their largest magnitude / 448 */
#define SHMEMX_EP_FP8_UE8M0 2 /* the same with that float rounded up to a power of two */
/*
 * Rows of row_bytes bytes, as the program packs and unpacks them: low latency, memory of the host. x is such rows;
 * combine has BF16.
 */
#define SHMEMX_EP_BYTES 3
/*
 * Low latency; on a GPU on one host, without masks. e2m1, two columns in a byte, the first in its low bits, and for
 * each 16 columns an e4m3 scale: *global_scale of the dispatch * their largest magnitude / 6. A value is
 * code * scale / *global_scale. rows: [L][C][hidden / 2]; row_scales: bytes, [L][C][hidden / 16].
 */
#define SHMEMX_EP_NVFP4 4

/* Routes between hosts. */
#define SHMEMX_EP_AUTO 0 /* one copy where hosts have equally many PEs, several each; else direct */
#define SHMEMX_EP_DIRECT 1
#define SHMEMX_EP_ONE_COPY 2

/* Equal on all PEs. Begins as SHMEMX_EP_CONFIG_INITIALIZER; zeros choose. */
typedef struct {
    uint32_t version; /* SHMEMX_EP_CONFIG_VERSION */
    int mode, dtype, route;
    int device;  /* 1: rows in memory of the GPU; 0: of the host */
    int hidden;  /* columns: a multiple of 128, to 65,536 */
    int experts; /* of all PEs: a multiple of their number */
    int topk;    /* experts a token: 1 to 16 */
    int tokens;  /* of a PE in a call, at most: 1 to 65,536; in low latency to 2,048 */
    int capacity WSH_EP_FORMER("expert_capacity or pe_capacity"); /* the one of these two that mode has */
    int window;  /* high throughput: tokens of a part between hosts (0: 512) */
    int handles; /* calls whose routing is kept at a time (0: 2) */
    /* Of a kernel, one for each SM that a call takes (0: what fits, at most 24, expanded 64, in low latency 128). */
    int blocks;
    int topk_bits;       /* 64: topk and row_topk of dispatches are int64_t (0: 32, int32_t) */
    int exact;           /* low latency: 1: sums are in the order of the top-k, as shmemx_ep_combine says */
    int row_bytes;       /* SHMEMX_EP_BYTES: of a row, a multiple of hidden / 128; else 0 */
    int expert_capacity; /* low latency: rows that a PE receives at most for each of its experts (0: n * tokens,
                            all that can come) */
    int pe_capacity;     /* high throughput: rows that a PE receives at most (0: tokens * the smaller of topk
                            and n) */
    /*
     * Low latency: 1: calls go on without PEs that fail, or make others wait for more than limit_ms (0: 100,000), and
     * with SHMEMX_EP_AUTO directly; shmemx_ep_mask_query.
     */
    int masks, limit_ms;
    int fewer_blocks; /* 1: where a GPU has no room for `blocks`, calls have what it has room for, after a line */
    int unused[11];
} shmemx_ep_config_t;

#define SHMEMX_EP_CONFIG_VERSION 1u
#ifndef __cplusplus
#define SHMEMX_EP_CONFIG_INITIALIZER        \
    {                                       \
        .version = SHMEMX_EP_CONFIG_VERSION \
    }
#else
#define SHMEMX_EP_CONFIG_INITIALIZER                                                          \
    {                                                                                         \
        SHMEMX_EP_CONFIG_VERSION, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
        {                                                                                     \
            0                                                                                 \
        }                                                                                     \
    }
#endif

/* Bytes that a PE takes. */
typedef struct {
    size_t symmetric; /* of the heap that rows lie in */
    size_t local;     /* beside it */
    int counters;     /* of SHMEM_COUNTERS */
} shmemx_ep_bytes_t;

/*
 * Tell what shmemx_ep_create takes for n_pes PEs, pes_per_host on each host. Local; may be called before shmem_init.
 */
int shmemx_ep_bytes(const shmemx_ep_config_t *config, int n_pes, int pes_per_host, shmemx_ep_bytes_t *bytes);

/*
 * Make or end what calls need: buffers, counters. Collective over the team of those that exchange rows, with equal
 * *config; memory is that of shmemx_team_malloc or shmemx_team_malloc_device. A line at
 * SHMEM_DEBUG=info says route, window and bytes before they are allocated. Several may be there at a time, each for
 * calls one after another. destroy waits for this PE's calls and for the other PEs of the team.
 */
int shmemx_ep_create(shmem_team_t team, const shmemx_ep_config_t *config, shmemx_ep_t *ep);
int shmemx_ep_destroy(shmemx_ep_t ep);

/*
 * Halves of a call. What a call names stays as it is until its receiving half has ended: in high throughput that sends
 * what had no room before.
 */
#define SHMEMX_EP_SEND 1    /* gives this PE's rows away, and returns or ends on the stream */
#define SHMEMX_EP_RECEIVE 2 /* waits for those of the others */
#define SHMEMX_EP_BOTH 3

/*
 * The structs of calls. `version` is SHMEMX_EP_CALL_VERSION; the rest of what is not named is 0. A library of a later
 * version takes those of this one.
 */
#define SHMEMX_EP_CALL_VERSION 2u

/*
 * Where a dispatch in low latency puts rows: packed by local expert. L = experts / n, C = config.expert_capacity.
 * Pointers but rows and row_scales may be NULL.
 */
typedef struct {
    void *rows;           /* [L][C][hidden], of dtype */
    float *row_scales;    /* [L][C][hidden / 128] with FP8; else NULL */
    int32_t *counts;      /* [L]: rows of each local expert */
    int32_t *sources;     /* [L][n][2]: first row from each source, and rows */
    int64_t *ranges;      /* [L][n]: as sources, first row << 32 | rows */
    int32_t *row_sources; /* [L][C]: of which token of its source each row is */
    int32_t *totals;      /* [L], to which the counts are added */
    /*
     * Elements of row_scales from one row, and from one column, to the next; those of an expert are together. Zeros:
     * contiguous rows. 1 and C: contiguous columns.
     */
    int64_t scales_row_step, scales_column_step;
    int64_t scales_packed; /* 1, with FP8_UE8M0 and steps: an element is a word of 4 columns' exponents */
} shmemx_ep_rows_by_expert_t;

/*
 * Where a dispatch in high throughput puts rows: by source PE, then token. C = config.pe_capacity, K = config.topk.
 * Pointers but rows and row_scales may be NULL.
 */
typedef struct {
    void *rows;           /* [C][hidden], of dtype */
    float *row_scales;    /* [C][hidden / 128] with FP8; else NULL */
    int32_t *counts;      /* [L]: rows that have each local expert */
    int32_t *sources;     /* [n][2]: first row from each source, and rows */
    int32_t *row_sources; /* [C]: of which token of its source each row is */
    void *row_topk;       /* [C][K]: local experts, -1: not of this PE */
    float *row_weights;   /* [C][K], 0 where row_topk is -1 */
} shmemx_ep_rows_by_source_t;

/*
 * High throughput on one host: rows of a dispatch expert by expert, in place of rows and row_scales of by_source; one
 * for each choice of a received row that is of this PE. Those of an expert are in the order of received rows; each
 * expert begins at a multiple of `alignment`, and what is between is padding. C, K: as by_source has them; E = room.
 * Pointers but rows, row_scales and ends may be NULL.
 */
typedef struct {
    void *rows;        /* [E][hidden], of dtype */
    float *row_scales; /* [E][hidden / 128] with FP8; else NULL */
    float *weights;    /* [E], 0 in padding */
    int32_t *ends;     /* [L]: where each expert begins, plus its rows */
    int32_t *places;   /* [C][K]: the row here of each choice of a received row, -1: none */
    int32_t *sources;  /* [E]: of which received row each is, -1: padding */
    int32_t *experts;  /* [E]: the local expert of each, -1: padding */
    int64_t room;      /* E, at least 1; choices beyond are left out, but see rows_most */
    int64_t alignment; /* at least 1 */
    int64_t zero;      /* 1: padding is zeros, of rows and scales; 0: it is not written */
    /* Elements of row_scales from one row, and from one column, to the next. Zeros: contiguous rows. */
    int64_t scales_row_step, scales_column_step;
} shmemx_ep_rows_expanded_t;

/*
 * What `agreed` of a dispatch says. A call that a PE declines, or in which a PE would receive more than pe_capacity, is
 * over on all PEs without rows: shmemx_ep_counts says -1 rows to all, and the handle has no routing. So PEs learn of
 * one that needs another instance without asking each other before each call.
 */
#define SHMEMX_EP_AGREES 1
#define SHMEMX_EP_DECLINES 2 /* with 0 tokens */

/*
 * A dispatch. T tokens, K = topk (of topk and weights: columns), L = experts / n. Arrays are contiguous, their memory
 * is what config.device says; NULL where marked so. Scales are float; with FP8_UE8M0 powers of two. topk and row_topk
 * are int32_t, or as topk_bits says, of which the low 32 are read on GPUs. Both halves are given the same.
 */
typedef struct {
    uint32_t version;
    int halves;
    int handle;            /* 0 to handles - 1: where the routing is kept, for combine and for later calls */
    int tokens;            /* T, 0 to config.tokens */
    int columns;           /* K of topk and weights, 1 to config.topk; 0: config.topk */
    const void *x;         /* [T][hidden] BF16; or e4m3, where x_scales is given */
    const float *x_scales; /* [T][hidden / 128], of a dtype that has them; or NULL: x is BF16 */
    const void *topk;      /* [T][K] experts, different ones, -1: none; NULL: the routing that `handle` has */
    const float *weights;  /* [T][K]; NULL: ones, or with topk NULL those that `handle` has */
    /* Those of version 1; as the members of by_expert or by_source, of which one is given. */
    void *rows WSH_EP_FORMER("by_expert.rows or by_source.rows");
    float *row_scales WSH_EP_FORMER("by_expert.row_scales or by_source.row_scales");
    int32_t *counts WSH_EP_FORMER("by_expert.counts or by_source.counts");
    int32_t *sources WSH_EP_FORMER("by_expert.sources or by_source.sources");
    void *row_topk WSH_EP_FORMER("by_source.row_topk");
    float *row_weights WSH_EP_FORMER("by_source.row_weights");
    void *stream; /* cudaStream_t, with config.device */
    int64_t *ranges WSH_EP_FORMER("by_expert.ranges");
    int32_t *row_sources WSH_EP_FORMER("by_expert.row_sources or by_source.row_sources");
    int32_t *totals WSH_EP_FORMER("by_expert.totals");
    int64_t scales_row_step WSH_EP_FORMER("by_expert.scales_row_step");
    int64_t scales_column_step WSH_EP_FORMER("by_expert.scales_column_step");
    int scales_packed WSH_EP_FORMER("by_expert.scales_packed");
    int64_t *waits; /* [n], low latency: ns waited until each source was in the call are added. Or NULL */
    /*
     * High throughput, both halves. rows_most: rows that by_source has room for (0: pe_capacity). Where more come, the
     * call was a sending half: shmemx_ep_counts, before the next call, says how many, and the receiving half is called
     * with room; PEs of several hosts may wait for it. agreed: as above, of all PEs or of none. row_sums: out, [n][n]:
     * rows from the PEs up to i to PE j, with several hosts where PEs agree. Or NULL.
     */
    int64_t rows_most, agreed;
    int32_t *row_sums;
    const float *global_scale; /* SHMEMX_EP_NVFP4: a positive number; else NULL */
    /*
     * High throughput on one host: rows expert by expert, which all PEs ask for or none; by_source has no rows and
     * row_scales then. With rows_most, room counts like it: where expanded rows are more, with padding, the call was a
     * sending half, and shmemx_ep_counts' numbers say how much room they take. Or NULL.
     */
    const shmemx_ep_rows_expanded_t *expanded;
    int64_t unused[1];
    shmemx_ep_rows_by_expert_t by_expert; /* out, low latency */
    shmemx_ep_rows_by_source_t by_source; /* out, high throughput */
} shmemx_ep_dispatch_t;

/*
 * Send and receive rows. Collective over the team in that all members make equally many dispatches of `ep`, in the same
 * order relative to its combines, and halves of both in the same order; they do not meet in it. A receiving half comes
 * before the next sending half. In CUDA graphs: a graph of such calls may be replayed.
 */
int shmemx_ep_dispatch(shmemx_ep_t ep, const shmemx_ep_dispatch_t *call);

/*
 * A combine. In low latency y has a row for each received one, and y * weight is added over a token's experts; else y
 * has the sums over this PE's experts, and they are added over PEs, and so is each column of y_weights. Sums are FP32,
 * in the order of the top-k; between hosts a row is the sum of one host (one copy) or PE (direct), rounded to BF16.
 *
 * Low latency: each PE's sum is rounded to BF16, and PEs are added in their order; with one copy the PEs of another
 * host first, and their sum is rounded. With config.exact PEs' sums are not rounded, and what the first paragraph says
 * holds.
 *
 * Low latency: the weights are those of the dispatch, or `weights`, which all PEs give or none; with them all PEs make
 * both halves at once, or none does. On one host a sending half waits for nobody. Else weights go to other hosts first,
 * in one put to each PE that sums there, and a sending half waits for those of others: until theirs has begun.
 */
typedef struct {
    uint32_t version;
    int halves;
    int handle;    /* of the dispatch */
    int columns;   /* K of weights; 0: config.topk */
    const void *y; /* BF16, as `rows` of the dispatch; in the buffer of shmemx_ep_buffer it is not copied */
    const float *y_weights; /* high throughput: [pe_capacity][K], added into out_weights. Or NULL */
    void *out;              /* out: [T][hidden] BF16, T of the dispatch */
    float *out_weights;     /* out: [T][K]. Or NULL */
    void *stream;
    const float *weights; /* low latency: [T][columns]; NULL: those of the dispatch */
    int64_t *waits;       /* as in a dispatch; of other hosts for PEs that weights and sums come from */
    /*
     * Low latency on one host, on a GPU without masks: words that say which rows of y are there. A row is read when its
     * word, which other threads or kernels write after the rows, is signal_value or more; rows go as their words come.
     * [L] with signal_rows 0; else one for so many rows of an expert, [L][ceil(expert_capacity / signal_rows)]. Or
     * NULL: all are there. Symmetric memory; with rows in memory of the GPU any of its memory. There signal_blocks is
     * how many blocks, so SMs, the kernel has at most, which those that it waits for do not have (0: half of the
     * instance's).
     */
    const uint32_t *signals;
    uint32_t signal_value;
    int signal_rows;
    int64_t signal_blocks;
    /*
     * High throughput on one host: [pe_capacity][K], as rows_expanded has them. y has expanded rows, whose sums for
     * each received row, in FP32 in the order of its choices and rounded to BF16, are what is combined. Or NULL.
     */
    const int32_t *places;
    int64_t unused[2];
} shmemx_ep_combine_t;

int shmemx_ep_combine(shmemx_ep_t ep, const shmemx_ep_combine_t *call);

/* Buffers of `ep` from which rows are never copied first. */
#define SHMEMX_EP_BUFFER_X 0 /* for x: [tokens][hidden] of dtype */
#define SHMEMX_EP_BUFFER_Y 1 /* for y */

/*
 * Return a buffer for x or y. Local. In low latency no rows are copied first, wherever they are: there is one of each,
 * memory like any other, made when it is first asked for. In high throughput there are two of each, that come in turn;
 * one may be written from the end of the call after the one that it was given to. So a CUDA graph that has such calls
 * has an even number of them.
 */
void *shmemx_ep_buffer(shmemx_ep_t ep, int which);

/*
 * Wait on the host until the receiving half of the last dispatch with `handle` has its numbers, and fetch them:
 * counts[L] as above; *rows: all that were received (low latency: of the fullest expert), or -1 with `agreed`. In high
 * throughput on one host the rows themselves come later. Nonzero after a line where they exceed the capacity: rows
 * beyond it were not stored, nothing else is lost. counts and rows may be NULL.
 */
int shmemx_ep_counts(shmemx_ep_t ep, int handle, int32_t *counts, int32_t *rows);

/*
 * What this PE has sent since create. Local. Over the network: rows of dispatches and combines, and puts; to other PEs
 * of this host: rows of dispatches.
 */
typedef struct {
    uint64_t network_rows, network_puts, near_rows, calls;
} shmemx_ep_statistics_t;

int shmemx_ep_statistics(shmemx_ep_t ep, shmemx_ep_statistics_t *statistics);

/*
 * PEs that calls of this PE go on without, with config.masks. Local. A wait masks a PE that has failed
 * (shmemx_pe_failed) or does not answer in limit_ms, after a line, which is shmemx_ep_error_last's too, and the call
 * returns 0. A PE that is masked gets nothing, is waited for no more, and has nothing: its counts are 0, and sums lack
 * its experts. Rows that it has announced and not sent are zeros, with row_sources -1, and are not sent back. All
 * others' rows are exact.
 *
 * query writes masked[n], 1 for those. update masks number `pe` of the team, or with 0 takes it back; clean takes all
 * back. A PE that lives comes back so: all PEs that are to go on with it call update or clean, and it calls clean,
 * between the same calls and not between halves; then they meet (a barrier), and make the same calls again. Each call
 * that a PE has made alone is over by then.
 */
int shmemx_ep_mask_update(shmemx_ep_t ep, int pe, int masked);
int shmemx_ep_mask_query(shmemx_ep_t ep, int32_t *masked);
int shmemx_ep_mask_clean(shmemx_ep_t ep);

/*
 * Return the last line that this library has written about a refusal in this thread since the thread last asked,
 * without its end of line; "" where there is none. Local. Valid until the thread calls it again.
 */
const char *shmemx_ep_error_last(void);
const char *shmemx_ep_last_error(void) WSH_INSTEAD(shmemx_ep_error_last);

#ifdef __cplusplus
}
#endif

#endif
