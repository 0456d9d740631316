/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the relay transport's table and its life; messages out are out.c, messages in in.c, the hot path op.c. */
#include "transports/relay/relay.h"

#include "base/log.h"

#include <stdlib.h>

#define RELAY_VERSION 1

/* What a PE tells its peers: where its boxes are, and how large. */
struct address_blob {
    uint32_t version, places;
    uint64_t off;
};

struct mem_blob {
    uint32_t version, unused;
    uint64_t len;
};

static int say_no_room(const struct wsh_tp_params *params)
{
    wsh_error(
        "device memory of PEs on other hosts is reached through host memory, of which there are only %zu KiB "
        "for %d PEs: set SHMEM_SYMMETRIC_SIZE to more, or leave relay out of SHMEM_TRANSPORTS",
        params->under->len >> 10, params->n_pes);
    return -ENOMEM;
}

static void relay_close(struct wsh_tp *tp)
{
    struct relay *relay = (struct relay *)tp;

    relay_inbox_say(relay);
    for (int pe = 0; relay->peers && pe < relay->n_pes; pe++) {
        free(relay->peers[pe].out);
        free(relay->peers[pe].in);
    }
    free(relay->peers);
    pthread_mutex_destroy(&relay->lock);
    free(relay);
}

static int relay_open(const struct wsh_tp_params *params, struct wsh_tp **tp, struct wsh_tp_limits *limits)
{
    struct relay *relay;

    if (!params->under || !params->gpu)
        return -ENODEV;
    if (!relay_places(params->under->len, params->n_pes))
        return say_no_room(params);
    relay = calloc(1, sizeof *relay);
    if (!relay)
        return -ENOMEM;
    relay->under = params->under;
    relay->inbox.shared = params->under->inbox;
    relay->device = params->gpu;
    relay->my_pe = params->my_pe;
    relay->n_pes = params->n_pes;
    relay->places = relay_places(params->under->len, params->n_pes);
    pthread_mutex_init(&relay->lock, NULL);
    relay->peers = calloc((size_t)relay->n_pes, sizeof *relay->peers);
    if (!relay->peers) {
        relay_close(&relay->tp);
        return -ENOMEM;
    }
    for (int pe = 0; pe < relay->n_pes; pe++) {
        relay->peers[pe].pe = pe;
        relay->peers[pe].box = params->under->base + relay_box(relay->places) * (size_t)pe;
    }
    *limits = (struct wsh_tp_limits){0};
    *tp = &relay->tp;
    return 0;
}

static int relay_address(struct wsh_tp *tp, void *blob, size_t *len)
{
    const struct relay *relay = (const struct relay *)tp;
    const struct address_blob out = {RELAY_VERSION, relay->places, relay->under->off};

    memcpy(blob, &out, sizeof out);
    *len = sizeof out;
    return 0;
}

static int refuse(int pe, const char *what)
{
    wsh_error("PE %d gave a broken %s of the relay transport; use one warpshmem for all PEs", pe, what);
    return -EPROTO;
}

static int connect_peer(struct relay *relay, struct relay_peer *peer, const void *blob, size_t len)
{
    struct address_blob in = {0};

    if (!len)
        return 0;
    memcpy(&in, blob, len == sizeof in ? sizeof in : 0);
    if (in.version != RELAY_VERSION || in.places != relay->places)
        return refuse(peer->pe, "address");
    peer->there = in.off + relay_box(relay->places) * (size_t)relay->my_pe;
    peer->reached = !relay->under->find(relay->under, peer->pe, WSH_SEG_HEAP, &peer->way);
    if (peer->reached && (in.off > peer->way.rmem->len || relay->under->len > peer->way.rmem->len - in.off))
        return refuse(peer->pe, "address");
    return 0;
}

static int relay_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers)
{
    struct relay *relay = (struct relay *)tp;
    int rc = 0;

    pthread_mutex_lock(&relay->lock);
    for (int pe = 0; pe < relay->n_pes && !rc; pe++)
        rc = connect_peer(relay, &relay->peers[pe], peers->address[pe], peers->len[pe]);
    relay->connected = !rc;
    pthread_mutex_unlock(&relay->lock);
    return rc;
}

static unsigned relay_reach(struct wsh_tp *tp, int pe, enum wsh_mem_kind kind)
{
    unsigned all = kind == WSH_MEM_DEVICE ? WSH_REACH_ALL : WSH_REACH_PUT | WSH_REACH_GET;

    return ((struct relay *)tp)->peers[pe].reached ? all : 0;
}

/* Host memory too: other PEs copy between it and their device memory. */
static int relay_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem,
                              void *blob, size_t *blob_len)
{
    struct relay *relay = (struct relay *)tp;
    const struct mem_blob out = {RELAY_VERSION, 0, mem->len};
    struct wsh_lmem *own = NULL;

    *lmem = NULL;
    *blob_len = 0;
    own = malloc(sizeof *own);
    if (!own)
        return -ENOMEM;
    *own = (struct wsh_lmem){mem->seg, mem->base, mem->len};
    *lmem = own;
    pthread_mutex_lock(&relay->lock);
    relay->lens[mem->seg] = mem->len;
    pthread_mutex_unlock(&relay->lock);
    memcpy(blob, &out, sizeof out);
    *blob_len = sizeof out;
    return 0;
}

static void relay_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem)
{
    struct relay *relay = (struct relay *)tp;

    pthread_mutex_lock(&relay->lock);
    relay->lens[lmem->seg] = 0;
    pthread_mutex_unlock(&relay->lock);
    free(lmem);
}

static int relay_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                            struct wsh_rmem *rmem)
{
    struct mem_blob in = {0};

    memcpy(&in, blob, blob_len == sizeof in ? sizeof in : 0);
    if (in.version != RELAY_VERSION)
        return refuse(pe, "segment");
    *rmem = (struct wsh_rmem){.tp = tp, .pe = pe, .seg = seg, .len = in.len};
    return 0;
}

static int relay_ctx_open(struct wsh_tp *tp, struct wsh_tctx **tctx)
{
    struct relay *relay = (struct relay *)tp;
    struct relay_ctx *ctx = calloc(1, sizeof *ctx + (size_t)relay->n_pes * sizeof ctx->pending[0]);

    if (!ctx)
        return -ENOMEM;
    ctx->tctx.tp = tp;
    ctx->relay = relay;
    *tctx = &ctx->tctx;
    return 0;
}

static void relay_ctx_close(struct wsh_tctx *tctx)
{
    free(tctx);
}

int relay_gpu(struct relay *relay)
{
    struct wsh_tp_way way;
    int rc;

    if (relay->gpu)
        return 0;
    rc = relay->under->find(relay->under, relay->my_pe, WSH_SEG_DEVICE, &way);
    if (rc) {
        wsh_error("this PE's own device memory is not reached by its host; list nvlink in SHMEM_TRANSPORTS");
        return rc;
    }
    relay->gpu = way.tctx;
    relay->here = (struct wsh_rmem){.tp = way.tctx->tp,
                                    .pe = relay->my_pe,
                                    .seg = WSH_SEG_HEAP,
                                    .len = relay->under->len,
                                    .map = relay->under->base};
    return 0;
}

/* The GPU completes in order what it is given. */
void relay_gpu_look(struct relay *relay)
{
    if (relay->landed != relay->issued)
        relay->landed = relay->issued - relay->gpu->tp->ops->pending(relay->gpu, -1);
}

/* A word of the device heap, into the box that this PE would have for itself: between host and host copies block. */
int relay_gpu_probe(struct relay *relay)
{
    struct wsh_tp_way way;
    int rc = relay->under->find(relay->under, relay->my_pe, WSH_SEG_DEVICE, &way);

    if (!rc)
        rc = way.tctx->tp->ops->get(way.tctx, way.rmem, 0, relay->peers[relay->my_pe].box, 8, NULL);
    relay->issued += !rc;
    return rc;
}

/* Who holds the lock is at it already. */
static int relay_progress(struct wsh_tp *tp)
{
    struct relay *relay = (struct relay *)tp;
    int moved = 0;

    if (pthread_mutex_trylock(&relay->lock))
        return 0;
    moved = relay_inbox_progress(relay);
    for (int pe = 0; pe < relay->n_pes && relay->connected && moved >= 0; pe++) {
        int out, in;

        if (!relay->peers[pe].reached)
            continue;
        out = relay_out_progress(relay, &relay->peers[pe]);
        in = out < 0 ? 0 : relay_in_progress(relay, &relay->peers[pe]);
        moved = out < 0 ? out : in < 0 ? in : moved | out | in;
    }
    pthread_mutex_unlock(&relay->lock);
    return moved;
}

extern const struct wsh_tp_ops wsh_relay_ops;

const struct wsh_tp_ops wsh_relay_ops = {
    .name = "relay",
    .device = true,
    .open = relay_open,
    .close = relay_close,
    .address = relay_address,
    .connect = relay_connect,
    .reach = relay_reach,
    .mem_register = relay_mem_register,
    .mem_release = relay_mem_release,
    .mem_attach = relay_mem_attach,
    .ctx_open = relay_ctx_open,
    .ctx_close = relay_ctx_close,
    .put = relay_put,
    .get = relay_get,
    .amo = relay_amo,
    .put_signal = relay_put_signal,
    .signal_behind = relay_signal_behind,
    .signal_go = relay_signal_go,
    .pending = relay_pending,
    .progress = relay_progress,
    .describe = relay_describe,
};
