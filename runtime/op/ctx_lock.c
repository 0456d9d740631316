/* SPDX-License-Identifier: BSD-3-Clause */
/* Which contexts are locked by those who use them. */
#include "runtime/job/job.h"

#include <shmem.h>

bool wsh_ctx_needs_lock(const struct wsh_ctx *ctx)
{
    return ctx->job->thread_level == SHMEM_THREAD_MULTIPLE && ctx->job->network &&
           !(ctx->options & (SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED));
}

/* Written only where it changes: threads that share the context read it. */
void wsh_ctx_lock_always(struct wsh_ctx *ctx, bool always)
{
    bool locked = always || wsh_ctx_needs_lock(ctx);

    if (ctx->locked != locked)
        ctx->locked = locked;
}
