/* SPDX-License-Identifier: BSD-3-Clause */
/* The public session routines (section 9.9). */
#include "runtime/op/session.h"

#include "runtime/api/api.h"
#include "base/log.h"

static void session_check(const char *what, shmem_ctx_t ctx, long options, long config_mask)
{
    if (!wsh_job.check)
        return;
    wsh_check_ctx(what, ctx);
    if ((options & ~SHMEM_CTX_SESSION_BATCH) || (config_mask & ~SHMEM_CTX_SESSION_TOTAL_OPS))
        wsh_api_bad(what, "options or config_mask has bits that are no SHMEM_CTX_SESSION_ constant");
}

WSH_SHELL(void, ctx_session_start,
          (shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, long config_mask))
{
    const bool counted = config_mask & SHMEM_CTX_SESSION_TOTAL_OPS;

    wsh_api_ready("shmem_ctx_session_start");
    if (ctx == SHMEM_CTX_INVALID)
        return;
    session_check("shmem_ctx_session_start", ctx, options, config_mask);
    if (config_mask && !config)
        wsh_api_bad("shmem_ctx_session_start", "config is NULL and config_mask is not 0");
    if (wsh_session_start(wsh_api_live_ctx("shmem_ctx_session_start", ctx), options,
                          counted ? &config->total_ops : NULL))
        wsh_info(WSH_SUB_P2P, "shmem_ctx_session_start: no memory for a batch; puts leave one by one");
}

WSH_SHELL(void, ctx_session_stop, (shmem_ctx_t ctx))
{
    wsh_api_ready("shmem_ctx_session_stop");
    if (ctx == SHMEM_CTX_INVALID)
        return;
    session_check("shmem_ctx_session_stop", ctx, 0, 0);
    wsh_api_check("shmem_ctx_session_stop",
                  wsh_session_stop(wsh_api_live_ctx("shmem_ctx_session_stop", ctx)));
}
