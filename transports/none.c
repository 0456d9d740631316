/* SPDX-License-Identifier: BSD-3-Clause */
/* The default functions for the slots that a transport leaves out: each returns its typed "not supported". */
#include "transports/transport.h"

#include <stdio.h>

static int none_open(const struct wsh_tp_params *params, struct wsh_tp **tp, struct wsh_tp_limits *limits)
{
    (void)params, (void)tp, (void)limits;
    return -ENODEV;
}

static int none_stop(struct wsh_tp *tp, bool at_once)
{
    (void)tp, (void)at_once;
    return 0;
}

static void none_close(struct wsh_tp *tp)
{
    (void)tp;
}

static int none_address(struct wsh_tp *tp, void *blob, size_t *len)
{
    (void)tp, (void)blob;
    *len = 0;
    return 0;
}

static int none_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers)
{
    (void)tp, (void)peers;
    return 0;
}

static unsigned none_reach(struct wsh_tp *tp, int pe, enum wsh_mem_kind kind)
{
    (void)tp, (void)pe, (void)kind;
    return 0;
}

static int none_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem, void *blob,
                             size_t *blob_len)
{
    (void)tp, (void)mem, (void)blob;
    *lmem = NULL;
    *blob_len = 0;
    return 0;
}

static void none_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem)
{
    (void)tp, (void)lmem;
}

static int none_mem_connect(struct wsh_tp *tp, enum wsh_seg seg, const struct wsh_tp_peers *peers)
{
    (void)tp, (void)seg, (void)peers;
    return 0;
}

static int none_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                           struct wsh_rmem *rmem)
{
    (void)tp, (void)pe, (void)seg, (void)blob, (void)blob_len, (void)rmem;
    return -ENOTSUP;
}

static int none_mem_adopt(struct wsh_tp *tp, int pe, enum wsh_seg seg, char *map, size_t len,
                          struct wsh_rmem *rmem)
{
    (void)tp, (void)pe, (void)seg, (void)map, (void)len, (void)rmem;
    return -ENOTSUP;
}

static void none_mem_detach(struct wsh_tp *tp, struct wsh_rmem *rmem)
{
    (void)tp, (void)rmem;
}

static unsigned none_counter_words(struct wsh_tp *tp)
{
    (void)tp;
    return 0;
}

static int none_counter_open(struct wsh_tp *tp, uint32_t counter, uint64_t *words, enum wsh_mem_kind kind,
                             void *blob, size_t *len)
{
    (void)tp, (void)counter, (void)words, (void)kind, (void)blob, (void)len;
    return -ENOTSUP;
}

static int none_counter_attach(struct wsh_tp *tp, int pe, uint32_t counter, const void *blob, size_t len)
{
    (void)tp, (void)pe, (void)counter, (void)blob, (void)len;
    return -ENOTSUP;
}

static int none_ctx_open(struct wsh_tp *tp, struct wsh_tctx **tctx)
{
    (void)tp, (void)tctx;
    return -ENOTSUP;
}

static void none_ctx_close(struct wsh_tctx *tctx)
{
    (void)tctx;
}

static int none_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                    size_t len, struct wsh_done *done)
{
    (void)tctx, (void)rmem, (void)off, (void)src, (void)len, (void)done;
    return -ENOTSUP;
}

static int none_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
                    struct wsh_done *done)
{
    (void)tctx, (void)rmem, (void)off, (void)dst, (void)len, (void)done;
    return -ENOTSUP;
}

static int none_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
                    void *result, struct wsh_done *done)
{
    (void)tctx, (void)rmem, (void)off, (void)amo, (void)result, (void)done;
    return -ENOTSUP;
}

static int none_put_strided(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                            const struct wsh_strided *shape, const struct wsh_sig *sig, size_t *taken)
{
    (void)tctx, (void)rmem, (void)off, (void)src, (void)shape, (void)sig, (void)taken;
    return -ENOTSUP;
}

static int none_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                           size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    (void)tctx, (void)rmem, (void)off, (void)src, (void)len, (void)sig, (void)done;
    return -ENOTSUP;
}

static int none_fence(struct wsh_tctx *tctx)
{
    (void)tctx;
    return 0;
}

static size_t none_pending(struct wsh_tctx *tctx, int pe)
{
    (void)tctx, (void)pe;
    return 0;
}

static size_t none_unread(struct wsh_tctx *tctx)
{
    return tctx->tp->ops->pending(tctx, -1);
}

static void none_await(struct wsh_tctx *tctx, bool unread)
{
    (void)tctx, (void)unread;
}

static void none_batch_begin(struct wsh_tctx *tctx)
{
    (void)tctx;
}

static int none_batch_end(struct wsh_tctx *tctx)
{
    (void)tctx;
    return 0;
}

static void none_forget(struct wsh_tp *tp, int pe)
{
    (void)tp, (void)pe;
}

static int none_progress(struct wsh_tp *tp)
{
    (void)tp;
    return 0;
}

static int none_wait_fd(struct wsh_tp *tp)
{
    (void)tp;
    return -ENOTSUP;
}

static struct wsh_tp *none_part(struct wsh_tp *tp, unsigned i)
{
    (void)tp, (void)i;
    return NULL;
}

static void none_traffic(struct wsh_tp *tp, int pe, struct wsh_tp_traffic *traffic)
{
    (void)tp, (void)pe, (void)traffic;
}

static int none_gda_open(struct wsh_tp *tp, unsigned n, struct wsh_tp_queue *queue, unsigned room, char *why,
                         size_t size)
{
    (void)tp, (void)n, (void)queue, (void)room;
    snprintf(why, size, "no NICs whose queues kernels may write");
    return -ENOTSUP;
}

static int none_gda_open_values(struct wsh_tp *tp, unsigned n, struct wsh_tp_queue *queue, char *why,
                                size_t size)
{
    return none_gda_open(tp, n, queue, n, why, size);
}

static void none_gda_close(struct wsh_tp *tp)
{
    (void)tp;
}

static int none_gda_target(struct wsh_tp *tp, unsigned rail, int pe, struct wsh_tp_target *target)
{
    (void)tp, (void)rail, (void)pe, (void)target;
    return -ENOTSUP;
}

static int none_gda_counter(struct wsh_tp *tp, unsigned rail, int pe, uint32_t counter,
                            struct wsh_tp_target *target)
{
    (void)tp, (void)rail, (void)pe, (void)counter, (void)target;
    return -ENOTSUP;
}

static int none_gda_remote(struct wsh_tp *tp, unsigned rail, const struct wsh_rmem *rmem, uint32_t *key)
{
    (void)tp, (void)rail, (void)rmem, (void)key;
    return -ENOTSUP;
}

static int none_gda_local(struct wsh_tp *tp, unsigned rail, const struct wsh_lmem *lmem, uint32_t *key)
{
    (void)tp, (void)rail, (void)lmem, (void)key;
    return -ENOTSUP;
}

static int none_gda_poll(struct wsh_tp *tp)
{
    (void)tp;
    return 0;
}

static void none_describe(struct wsh_tctx *tctx, char *text, size_t size)
{
    (void)tctx, (void)text, (void)size;
}

#define FILL(slot)   \
    if (!full->slot) \
        full->slot = none_##slot;

static void fill_gda(struct wsh_tp_ops *full)
{
    FILL(gda_open)
    FILL(gda_open_values)
    FILL(gda_close)
    FILL(gda_target)
    FILL(gda_counter)
    FILL(gda_remote)
    FILL(gda_local)
    FILL(gda_poll)
}

void wsh_tp_fill(struct wsh_tp_ops *full, const struct wsh_tp_ops *ops)
{
    *full = *ops;
    fill_gda(full);
    FILL(open)
    FILL(stop)
    FILL(close)
    FILL(address)
    FILL(connect)
    FILL(reach)
    FILL(mem_register)
    FILL(mem_release)
    FILL(mem_connect)
    FILL(mem_attach)
    FILL(mem_adopt)
    FILL(mem_detach)
    FILL(counter_words)
    FILL(counter_open)
    FILL(counter_attach)
    FILL(ctx_open)
    FILL(ctx_close)
    FILL(put)
    FILL(get)
    FILL(amo)
    FILL(put_signal)
    FILL(put_strided)
    FILL(fence)
    FILL(pending)
    FILL(unread)
    FILL(await)
    FILL(batch_begin)
    FILL(batch_end)
    FILL(forget)
    FILL(progress)
    FILL(wait_fd)
    FILL(part)
    FILL(traffic)
    FILL(describe)
}
