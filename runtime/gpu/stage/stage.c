/* SPDX-License-Identifier: BSD-3-Clause */
/* The life and the table of staging; messages out are stage/out.c, messages in stage/in.c, the hot path stage/op.c. */
#include "runtime/gpu/stage/stage.h"

#include "runtime/gpu/stage/state.h"

#include "base/log.h"

#include <stdlib.h>

#define WSH_STAGE_VERSION 2

/* What a PE publishes for its peers: where its boxes are, and how large. */
struct address_blob {
    uint32_t version, slots;
    uint64_t off;
};

struct mem_blob {
    uint32_t version, unused;
    uint64_t len;
};

static int log_no_room(const struct wsh_stage_context *context, int n_pes)
{
    wsh_error(
        "device memory of PEs on other hosts is reached through host memory, of which there are only %zu KiB "
        "for %d PEs: set SHMEM_SYMMETRIC_SIZE to more, or leave stage out of SHMEM_TRANSPORTS",
        context->len >> 10, n_pes);
    return -ENOMEM;
}

static void stage_close(struct wsh_tp *tp)
{
    struct wsh_stage *stage = (struct wsh_stage *)tp;

    wsh_stage_inbox_say(stage);
    for (int pe = 0; stage->peers && pe < stage->n_pes; pe++) {
        free(stage->peers[pe].out);
        free(stage->peers[pe].in);
    }
    free(stage->peers);
    pthread_mutex_destroy(&stage->lock);
    free(stage);
}

static void stage_init(struct wsh_stage *stage, const struct wsh_stage_context *context, int my_pe, int n_pes)
{
    stage->context = context;
    stage->inbox.shared = context->inbox;
    stage->my_pe = my_pe;
    stage->n_pes = n_pes;
    stage->slots = wsh_stage_box_slots(context->len, n_pes);
    pthread_mutex_init(&stage->lock, NULL);
    stage->peers = calloc((size_t)n_pes, sizeof *stage->peers);
    for (int pe = 0; stage->peers && pe < n_pes; pe++) {
        stage->peers[pe].pe = pe;
        stage->peers[pe].box = context->base + wsh_stage_box_len(stage->slots) * (size_t)pe;
    }
}

int wsh_stage_open(const struct wsh_stage_context *context, int my_pe, int n_pes, struct wsh_tp **tp)
{
    struct wsh_stage *stage;

    if (!context->base)
        return -ENODEV;
    if (!wsh_stage_box_slots(context->len, n_pes))
        return log_no_room(context, n_pes);
    stage = calloc(1, sizeof *stage);
    if (!stage)
        return -ENOMEM;
    stage_init(stage, context, my_pe, n_pes);
    if (!stage->peers) {
        stage_close(&stage->tp);
        return -ENOMEM;
    }
    *tp = &stage->tp;
    return 0;
}

static int stage_address(struct wsh_tp *tp, void *blob, size_t *len)
{
    const struct wsh_stage *stage = (const struct wsh_stage *)tp;
    const struct address_blob out = {WSH_STAGE_VERSION, stage->slots, stage->context->off};

    memcpy(blob, &out, sizeof out);
    *len = sizeof out;
    return 0;
}

static int blob_refuse(int pe, const char *what)
{
    wsh_error("PE %d gave a broken %s for staging; use one warpshmem for all PEs", pe, what);
    return -EPROTO;
}

static int connect_peer(struct wsh_stage *stage, struct wsh_stage_peer *peer, const void *blob, size_t len)
{
    struct address_blob in = {0};

    if (!len)
        return 0;
    memcpy(&in, blob, len == sizeof in ? sizeof in : 0);
    if (in.version != WSH_STAGE_VERSION || in.slots != stage->slots)
        return blob_refuse(peer->pe, "address");
    peer->there = in.off + wsh_stage_box_len(stage->slots) * (size_t)stage->my_pe;
    peer->reached = !stage->context->reach(stage->context, peer->pe, &peer->host);
    if (peer->reached &&
        (in.off > peer->host.rmem->len || stage->context->len > peer->host.rmem->len - in.off))
        return blob_refuse(peer->pe, "address");
    return 0;
}

static int stage_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers)
{
    struct wsh_stage *stage = (struct wsh_stage *)tp;
    int rc = 0;

    pthread_mutex_lock(&stage->lock);
    for (int pe = 0; pe < stage->n_pes && !rc; pe++)
        rc = connect_peer(stage, &stage->peers[pe], peers->address[pe], peers->len[pe]);
    stage->connected = !rc;
    pthread_mutex_unlock(&stage->lock);
    return rc;
}

static unsigned stage_reach(struct wsh_tp *tp, int pe, enum wsh_mem_kind kind)
{
    unsigned all = kind == WSH_MEM_DEVICE ? WSH_REACH_ALL : WSH_REACH_PUT | WSH_REACH_GET;

    return ((struct wsh_stage *)tp)->peers[pe].reached ? all : 0;
}

/* Host memory too: other PEs copy between it and their device memory. */
static int stage_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem,
                              void *blob, size_t *blob_len)
{
    struct wsh_stage *stage = (struct wsh_stage *)tp;
    const struct mem_blob out = {WSH_STAGE_VERSION, 0, mem->len};
    struct wsh_lmem *own = NULL;

    *lmem = NULL;
    *blob_len = 0;
    if (mem->seg >= WSH_SEGS)
        return 0;
    own = malloc(sizeof *own);
    if (!own)
        return -ENOMEM;
    *own = (struct wsh_lmem){mem->seg, mem->base, mem->len};
    *lmem = own;
    pthread_mutex_lock(&stage->lock);
    stage->lens[mem->seg] = mem->len;
    pthread_mutex_unlock(&stage->lock);
    memcpy(blob, &out, sizeof out);
    *blob_len = sizeof out;
    return 0;
}

static void stage_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem)
{
    struct wsh_stage *stage = (struct wsh_stage *)tp;

    pthread_mutex_lock(&stage->lock);
    stage->lens[lmem->seg] = 0;
    pthread_mutex_unlock(&stage->lock);
    free(lmem);
}

static int stage_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                            struct wsh_rmem *rmem)
{
    struct mem_blob in = {0};

    memcpy(&in, blob, blob_len == sizeof in ? sizeof in : 0);
    if (in.version != WSH_STAGE_VERSION)
        return blob_refuse(pe, "segment");
    *rmem = (struct wsh_rmem){.tp = tp, .pe = pe, .seg = seg, .len = in.len};
    return 0;
}

static int stage_ctx_open(struct wsh_tp *tp, struct wsh_tctx **tctx)
{
    struct wsh_stage *stage = (struct wsh_stage *)tp;
    struct wsh_stage_ctx *ctx = calloc(1, sizeof *ctx + (size_t)stage->n_pes * sizeof ctx->to[0]);

    if (!ctx)
        return -ENOMEM;
    ctx->tctx.tp = tp;
    ctx->stage = stage;
    *tctx = &ctx->tctx;
    return 0;
}

static void stage_ctx_close(struct wsh_tctx *tctx)
{
    free(tctx);
}

/* If the lock is held, its holder makes progress already. */
static int stage_progress(struct wsh_tp *tp)
{
    struct wsh_stage *stage = (struct wsh_stage *)tp;
    int moved = 0;

    if (pthread_mutex_trylock(&stage->lock))
        return 0;
    moved = wsh_stage_inbox_progress(stage, wsh_stage_in_apply);
    for (int pe = 0; pe < stage->n_pes && stage->connected && moved >= 0; pe++) {
        int out, in;

        if (!stage->peers[pe].reached)
            continue;
        out = wsh_stage_op_progress(stage, &stage->peers[pe]);
        in = out < 0 ? 0 : wsh_stage_in_progress(stage, &stage->peers[pe]);
        moved = out < 0 ? out : in < 0 ? in : moved | out | in;
    }
    pthread_mutex_unlock(&stage->lock);
    return moved;
}

static void stage_forget(struct wsh_tp *tp, int pe)
{
    struct wsh_stage *stage = (struct wsh_stage *)tp;

    pthread_mutex_lock(&stage->lock);
    stage->peers[pe].gone = true;
    pthread_mutex_unlock(&stage->lock);
}

static const struct wsh_tp_ops stage_ops = {
    .name = WSH_STAGE_NAME,
    .device = true,
    .close = stage_close,
    .address = stage_address,
    .connect = stage_connect,
    .reach = stage_reach,
    .mem_register = stage_mem_register,
    .mem_release = stage_mem_release,
    .mem_attach = stage_mem_attach,
    .ctx_open = stage_ctx_open,
    .ctx_close = stage_ctx_close,
    .put = wsh_stage_put,
    .get = wsh_stage_get,
    .amo = wsh_stage_amo,
    .put_signal = wsh_stage_put_signal,
    .fence = wsh_stage_fence,
    .pending = wsh_stage_pending,
    .unread = wsh_stage_unread,
    .progress = stage_progress,
    .forget = stage_forget,
    .describe = wsh_stage_describe,
};

static struct wsh_tp_ops stage_ops_full;

static void stage_ops_fill(void)
{
    wsh_tp_fill(&stage_ops_full, &stage_ops);
}

const struct wsh_tp_ops *wsh_stage_ops(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, stage_ops_fill);
    return &stage_ops_full;
}
