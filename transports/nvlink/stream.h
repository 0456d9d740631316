/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A context's stream and the operations in flight on it. Operations are numbered from 1; the GPU writes the number of
 * the last one that is complete into host memory, so that completions need no call of the driver.
 */
#ifndef WSH_NVLINK_STREAM_H
#define WSH_NVLINK_STREAM_H

#include "transports/nvlink/nvlink.h"

enum { NVLINK_STREAM_OPS = 1024 }; /* in flight at most */

enum nvlink_kind { NVLINK_PUT, NVLINK_GET, NVLINK_ATOMIC, NVLINK_SIGNAL, NVLINK_KINDS };

/* In pinned host memory. */
struct nvlink_words {
    uint64_t complete;         /* number of the last operation that has ended; the GPU's store */
    struct nvlink_words *next; /* in nv->spare */
    uint64_t pad[14];
    uint64_t old[NVLINK_STREAM_OPS]; /* results of atomics, by number modulo the size */
};

struct nvlink_op {
    int pe;
    enum nvlink_kind kind;
    struct wsh_done *done;
    void *result; /* of an atomic, for the caller, or NULL */
    unsigned width;
};

struct nvlink_ctx {
    struct wsh_tctx tctx;
    struct nvlink *nv;
    struct nvlink_ctx *next, **link; /* in nv->ctxs */
    pthread_mutex_t lock;            /* its user and progress */
    wsh_cu_stream stream;            /* NULL until the first operation */
    struct nvlink_words *words;
    uint64_t issued, flagged,
        retired;       /* numbers: last started, last that the GPU was asked to report, last retired */
    unsigned idle;     /* polls since a completion */
    int failed;        /* status of the driver that nvlink_progress has to report */
    uint32_t *pending; /* [n_pes] */
    struct nvlink_op ops[NVLINK_STREAM_OPS];
};

int nvlink_ctx_open(struct wsh_tp *tp, struct wsh_tctx **tctx);
void nvlink_ctx_close(struct wsh_tctx *tctx);
void nvlink_stream_free_spare(struct nvlink *nv); /* with the GPU's context current */
size_t nvlink_pending(struct wsh_tctx *tctx, int pe);
int nvlink_progress(struct wsh_tp *tp);
void nvlink_describe(struct wsh_tctx *tctx, char *text, size_t size);

/*
 * Around the driver calls that start one operation. begin: takes the lock and makes the GPU current; -EAGAIN: no room,
 * or a logged error, with nothing taken. end: `status` of the driver calls; notes `op`, and has the GPU report it where
 * op->done asks for it. 0 or a logged error.
 */
int nvlink_stream_begin(struct nvlink_ctx *ctx);
int nvlink_stream_end(struct nvlink_ctx *ctx, const struct nvlink_op *op, int status);

/* The number of the operation that is being started, as an index into words->old. */
static inline size_t nvlink_stream_index(const struct nvlink_ctx *ctx)
{
    return (ctx->issued + 1) % NVLINK_STREAM_OPS;
}

#endif
