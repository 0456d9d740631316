/* SPDX-License-Identifier: BSD-3-Clause */
/* The public ordering routines (section 9.12). */
#include "runtime/op/order.h"

#include "runtime/api/api.h"
#include "runtime/api/check/overwrite.h"

static WSH_COLD struct wsh_ctx *checked_ctx(const char *what, shmem_ctx_t handle)
{
    struct wsh_ctx *ctx;

    wsh_check_ctx(what, handle);
    ctx = wsh_api_live_ctx(what, handle);
    wsh_overwrite_forget(ctx);
    return ctx;
}

/* The object behind a handle that is not SHMEM_CTX_INVALID. The default context lives as long as the job. */
static WSH_INLINE struct wsh_ctx *ctx_of(const char *what, shmem_ctx_t handle)
{
    if (wsh_unlikely(wsh_job.check))
        return checked_ctx(what, handle);
    return handle == SHMEM_CTX_DEFAULT ? &wsh_job.ctx : wsh_api_live_ctx(what, handle);
}

WSH_SHELL(void, fence, (void))
{
    wsh_api_ready("shmem_fence");
    wsh_api_check("shmem_fence", wsh_fence(ctx_of("shmem_fence", SHMEM_CTX_DEFAULT)));
}

WSH_SHELL(void, ctx_fence, (shmem_ctx_t ctx))
{
    wsh_api_ready("shmem_ctx_fence");
    if (ctx != SHMEM_CTX_INVALID)
        wsh_api_check("shmem_ctx_fence", wsh_fence(ctx_of("shmem_ctx_fence", ctx)));
}

WSH_SHELL(void, quiet, (void))
{
    wsh_api_ready("shmem_quiet");
    wsh_api_check("shmem_quiet", wsh_quiet(ctx_of("shmem_quiet", SHMEM_CTX_DEFAULT)));
}

WSH_SHELL(void, ctx_quiet, (shmem_ctx_t ctx))
{
    wsh_api_ready("shmem_ctx_quiet");
    if (ctx != SHMEM_CTX_INVALID)
        wsh_api_check("shmem_ctx_quiet", wsh_quiet(ctx_of("shmem_ctx_quiet", ctx)));
}

/* The first of pes that is no PE of ctx's team, for the error line. */
static WSH_COLD int bad_pe(const struct wsh_ctx *ctx, const int *pes, size_t n)
{
    size_t i = 0;

    while (i + 1 < n && pes[i] >= 0 && pes[i] < ctx->n_pes)
        i++;
    return pes[i];
}

static void pe_quiet(const char *what, shmem_ctx_t handle, const int *pes, size_t n)
{
    struct wsh_ctx *ctx;
    int rc;

    wsh_api_ready(what);
    ctx = ctx_of(what, handle);
    if (!n)
        return;
    if (!pes)
        wsh_api_bad(what, "target_pes is NULL");
    rc = wsh_pe_quiet(ctx, pes, n);
    if (wsh_unlikely(rc))
        wsh_api_fail(what, rc, handle, NULL, 0, bad_pe(ctx, pes, n));
}

WSH_SHELL(void, pe_quiet, (const int *target_pes, size_t npes))
{
    pe_quiet("shmem_pe_quiet", SHMEM_CTX_DEFAULT, target_pes, npes);
}

WSH_SHELL(void, ctx_pe_quiet, (shmem_ctx_t ctx, const int *target_pes, size_t npes))
{
    if (ctx != SHMEM_CTX_INVALID)
        pe_quiet("shmem_ctx_pe_quiet", ctx, target_pes, npes);
}
