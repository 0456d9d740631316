/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The local transport's table of functions, its opening and closing, and its memory; the data operations are in
 * copy.c.
 */
#include "transports/local/local.h"

#include "base/log.h"
#include "transports/local/copy.h"

#include <stdlib.h>
#include <sys/mman.h>

static void local_close(struct wsh_tp *tp)
{
    struct local *local = (struct local *)tp;

    for (int pe = 0; local->peers && pe < local->n_pes; pe++)
        for (int seg = 0; seg < WSH_SEGS_HOST; seg++)
            if (local->peers[pe].seg[seg].map)
                munmap(local->peers[pe].seg[seg].map, local->peers[pe].seg[seg].len);
    wsh_fds_close(&local->fds);
    free(local->peers);
    free(local);
}

static int local_open(const struct wsh_tp_params *params, struct wsh_tp **tp, struct wsh_tp_limits *limits)
{
    struct local *local = calloc(1, sizeof *local);
    int rc;

    if (!local)
        return -ENOMEM;
    local->my_pe = params->my_pe;
    local->n_pes = params->n_pes;
    local->dumped = params->env->core_dump == WSH_CORE_ALL;
    for (int seg = 0; seg < WSH_SEGS_HOST; seg++)
        local->mine[seg].fd = -1;
    local->peers = calloc((size_t)local->n_pes, sizeof *local->peers);
    rc = wsh_fds_open(&local->fds, "local", local->my_pe, local->n_pes);
    if (!rc && !local->peers)
        rc = -ENOMEM;
    if (rc) {
        local_close(&local->tp);
        return rc;
    }
    *limits = (struct wsh_tp_limits){.immediate = true};
    *tp = &local->tp;
    return 0;
}

static int local_address(struct wsh_tp *tp, void *blob, size_t *len)
{
    return wsh_fds_address(&((struct local *)tp)->fds, blob, len);
}

static unsigned local_reach(struct wsh_tp *tp, int pe, enum wsh_mem_kind kind)
{
    struct local *local = (struct local *)tp;
    bool here = pe == local->my_pe || (local->peers[pe].received);

    return here && kind == WSH_MEM_HOST ? WSH_REACH_ALL : 0;
}

static int local_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem,
                              void *blob, size_t *blob_len)
{
    struct local *local = (struct local *)tp;
    struct wsh_lmem *own;

    *lmem = NULL;
    *blob_len = 0;
    if (mem->kind != WSH_MEM_HOST || mem->fd < 0)
        return 0;
    own = malloc(sizeof *own);
    if (!own)
        return -ENOMEM;
    *own = (struct wsh_lmem){mem->seg, mem->base, mem->len};
    *lmem = own;
    local->mine[mem->seg] = (struct local_seg){mem->base, mem->len, mem->fd};
    memcpy(blob, &local->mine[mem->seg].len, sizeof(uint64_t));
    *blob_len = sizeof(uint64_t);
    return 0;
}

static void local_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem)
{
    ((struct local *)tp)->mine[lmem->seg].fd = -1;
    free(lmem);
}

static int local_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                            struct wsh_rmem *rmem)
{
    struct local *local = (struct local *)tp;
    const struct local_seg *from = pe == local->my_pe ? &local->mine[seg] : &local->peers[pe].seg[seg];
    uint64_t len;

    memcpy(&len, blob, blob_len == sizeof len ? sizeof len : 0);
    if (blob_len != sizeof len || !from->map || len != from->len) {
        wsh_error("PE %d did not give the memory that it announced; use one warpshmem for all PEs", pe);
        return -EPROTO;
    }
    *rmem = (struct wsh_rmem){.tp = tp, .pe = pe, .seg = seg, .len = len, .map = from->map};
    return 0;
}

/* A context has nothing to remember: every operation is complete when it returns. */
static int local_ctx_open(struct wsh_tp *tp, struct wsh_tctx **tctx)
{
    *tctx = malloc(sizeof **tctx);
    if (!*tctx)
        return -ENOMEM;
    (*tctx)->tp = tp;
    return 0;
}

static void local_ctx_close(struct wsh_tctx *tctx)
{
    free(tctx);
}

extern const struct wsh_tp_ops wsh_local_ops;

const struct wsh_tp_ops wsh_local_ops = {
    .name = "local",
    .open = local_open,
    .close = local_close,
    .address = local_address,
    .connect = local_connect,
    .reach = local_reach,
    .mem_register = local_mem_register,
    .mem_release = local_mem_release,
    .mem_attach = local_mem_attach,
    .ctx_open = local_ctx_open,
    .ctx_close = local_ctx_close,
    .put = local_put,
    .get = local_get,
    .amo = local_amo,
    .put_signal = local_put_signal,
    .fence = local_fence,
};
