/* SPDX-License-Identifier: BSD-3-Clause */
/* A transport between PEs of one process, with random delay and order. */
#include "test/common/fake_transport.h"

#include "test/common/fake_packet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAKE_VERSION = 0x46414b45 };

struct fake_address {
    uint32_t version, pe;
};

struct fake_mem {
    uint64_t version, base, len;
};

static int fake_open(const struct wsh_tp_params *params, struct wsh_tp **tp, struct wsh_tp_limits *limits)
{
    struct fake_tp *fake = calloc(1, sizeof *fake);

    if (!fake)
        return -ENOMEM;
    fake->base.ops = &fake_tp_ops;
    fake->me = params->my_pe;
    *tp = &fake->base;
    *limits = (struct wsh_tp_limits){0};
    return 0;
}

static void fake_close(struct wsh_tp *tp)
{
    free(tp);
}

static int fake_address(struct wsh_tp *tp, void *blob, size_t *len)
{
    const struct fake_address address = {FAKE_VERSION, (uint32_t)((struct fake_tp *)tp)->me};

    memcpy(blob, &address, sizeof address);
    *len = sizeof address;
    return 0;
}

static int fake_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers)
{
    for (int pe = 0; pe < peers->n_pes; pe++) {
        struct fake_address address = {0};

        if (!peers->len[pe])
            continue;
        if (peers->len[pe] == sizeof address)
            memcpy(&address, peers->address[pe], sizeof address);
        if (address.version != FAKE_VERSION || address.pe != (uint32_t)pe)
            return -EPROTO;
        ((struct fake_tp *)tp)->connected[pe] = true;
    }
    return 0;
}

static unsigned fake_reach(struct wsh_tp *tp, int pe, enum wsh_mem_kind kind)
{
    return kind == WSH_MEM_HOST && ((struct fake_tp *)tp)->connected[pe] ? WSH_REACH_ALL : 0;
}

static int fake_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem, void *blob,
                             size_t *blob_len)
{
    const struct fake_mem key = {FAKE_VERSION, (uintptr_t)mem->base, mem->len};

    (void)tp;
    *lmem = malloc(sizeof **lmem);
    if (!*lmem)
        return -ENOMEM;
    **lmem = (struct wsh_lmem){mem->seg, mem->base, mem->len};
    memcpy(blob, &key, sizeof key);
    *blob_len = sizeof key;
    return 0;
}

static void fake_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem)
{
    (void)tp;
    free(lmem);
}

static int fake_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                           struct wsh_rmem *rmem)
{
    struct fake_mem key = {0};

    if (blob_len == sizeof key)
        memcpy(&key, blob, sizeof key);
    if (key.version != FAKE_VERSION)
        return -EPROTO;
    *rmem = (struct wsh_rmem){.tp = tp, .pe = pe, .seg = seg, .len = key.len, .base = key.base};
    return 0;
}

static int fake_ctx_open(struct wsh_tp *tp, struct wsh_tctx **tctx)
{
    struct fake_ctx *ctx = calloc(1, sizeof *ctx);

    if (!ctx)
        return -ENOMEM;
    ctx->base.tp = tp;
    *tctx = &ctx->base;
    return 0;
}

static void fake_ctx_close(struct wsh_tctx *tctx)
{
    free(tctx);
}

static char *place_of(const struct wsh_rmem *rmem, size_t off)
{
    return (char *)(uintptr_t)rmem->base + off;
}

/* The source is copied at once: it is reusable on return, whoever asks. */
static int fake_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                    size_t len, struct wsh_done *done)
{
    const struct fake_packet packet = {
        .to = rmem->pe, .kind = FAKE_PUT, .at = place_of(rmem, off), .len = len};

    (void)done;
    return len ? fake_send(tctx, &packet, src, true) : 0;
}

static int fake_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
                    struct wsh_done *done)
{
    const struct fake_packet packet = {
        .to = rmem->pe, .kind = FAKE_GET, .at = place_of(rmem, off), .local = dst, .len = len, .done = done};

    return len ? fake_send(tctx, &packet, NULL, done != NULL) : 0;
}

static int fake_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
                    void *result, struct wsh_done *done)
{
    const struct fake_packet packet = {.to = rmem->pe,
                                       .kind = FAKE_AMO,
                                       .at = place_of(rmem, off),
                                       .local = result,
                                       .amo = *amo,
                                       .done = result ? done : NULL};

    return fake_send(tctx, &packet, NULL, true);
}

static int fake_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                           size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    const struct fake_packet packet = {.to = rmem->pe,
                                       .kind = FAKE_SIGNAL,
                                       .at = place_of(rmem, off),
                                       .len = len,
                                       .sig_at = place_of(sig->rmem, sig->off),
                                       .amo = {.op = sig->op, .width = 8, .operand = sig->value}};

    (void)done;
    return fake_send(tctx, &packet, len ? src : NULL, true);
}

static int fake_fence(struct wsh_tctx *tctx)
{
    ((struct fake_ctx *)tctx)->epoch++;
    return 0;
}

static size_t fake_pending(struct wsh_tctx *tctx, int pe)
{
    const struct fake_ctx *ctx = (const struct fake_ctx *)tctx;
    size_t out = 0;

    for (int i = 0; i < FAKE_PES; i++)
        if (pe < 0 || pe == i)
            out += fake_out_to(ctx, i);
    return out;
}

static int fake_progress(struct wsh_tp *tp)
{
    return fake_open_one(((struct fake_tp *)tp)->me);
}

static void fake_describe(struct wsh_tctx *tctx, char *text, size_t size)
{
    static const char *const words[] = {"put", "get", "atomic", "signal"};
    const struct fake_ctx *ctx = (const struct fake_ctx *)tctx;
    const char *separator = "";

    for (int pe = 0; pe < FAKE_PES; pe++) {
        char lead[32];

        snprintf(lead, sizeof lead, "%sPE %d: ", separator, pe);
        for (int kind = 0; kind < FAKE_KINDS; kind++) {
            size_t used = strlen(text);

            if (!ctx->out[pe][kind])
                continue;
            snprintf(text + used, size - used, "%s%u %s%s", lead, ctx->out[pe][kind], words[kind],
                     ctx->out[pe][kind] == 1 ? "" : "s");
            snprintf(lead, sizeof lead, ", ");
            separator = "; ";
        }
    }
}

const struct wsh_tp_ops fake_tp_ops = {
    .name = "fake",
    .open = fake_open,
    .close = fake_close,
    .address = fake_address,
    .connect = fake_connect,
    .reach = fake_reach,
    .mem_register = fake_mem_register,
    .mem_release = fake_mem_release,
    .mem_attach = fake_mem_attach,
    .ctx_open = fake_ctx_open,
    .ctx_close = fake_ctx_close,
    .put = fake_put,
    .get = fake_get,
    .amo = fake_amo,
    .put_signal = fake_put_signal,
    .fence = fake_fence,
    .pending = fake_pending,
    .progress = fake_progress,
    .describe = fake_describe,
};
