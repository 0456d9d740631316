/* SPDX-License-Identifier: BSD-3-Clause */
/* The public context and session routines (sections 9.5 and 9.9). */
#include "runtime/op/ctx.h"
#include "runtime/api/api.h"
#include "base/log.h"
#include "runtime/op/session.h"

#include <shmemx.h>

#define OPTIONS (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE)

/* A context that cannot be created is not an error of the job: one warning, and SHMEM_CTX_INVALID. */
static int handle_create(const char *what, struct wsh_team *team, long options, shmem_ctx_t *ctx)
{
    wsh_api_ready(what);
    if (!ctx)
        wsh_api_bad(what, "ctx is NULL; pass the address of a shmem_ctx_t");
    *ctx = SHMEM_CTX_INVALID;
    if (!team)
        return -EINVAL;
    if (options & ~OPTIONS) {
        wsh_warn("%s: options 0x%lx: no such option as 0x%lx; no context created", what, options,
                 options & ~OPTIONS);
        return -EINVAL;
    }
    return wsh_ctx_open(&wsh_job, team, options, ctx);
}

WSH_SHELL(int, ctx_create, (long options, shmem_ctx_t *ctx))
{
    return handle_create("shmem_ctx_create", &wsh_job.world, options, ctx);
}

WSH_SHELL(int, team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx))
{
    return handle_create("shmem_team_create_ctx", wsh_api_team("shmem_team_create_ctx", team), options, ctx);
}

WSH_SHELL(void, ctx_destroy, (shmem_ctx_t ctx))
{
    wsh_api_ready("shmem_ctx_destroy");
    if (ctx == SHMEM_CTX_DEFAULT)
        wsh_api_bad("shmem_ctx_destroy", "SHMEM_CTX_DEFAULT lives until shmem_finalize");
    if (ctx != SHMEM_CTX_INVALID && wsh_job.check)
        wsh_check_ctx("shmem_ctx_destroy", ctx);
    if (ctx != SHMEM_CTX_INVALID)
        wsh_ctx_close(wsh_api_live_ctx("shmem_ctx_destroy", ctx));
}

static shmem_team_t handle_of(struct wsh_team *team)
{
    return team->number < WSH_TEAM_NUMBERS ? SHMEMX_TEAM(team->number) : team;
}

WSH_SHELL(int, ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team))
{
    wsh_api_ready("shmem_ctx_get_team");
    if (!team)
        wsh_api_bad("shmem_ctx_get_team", "team is NULL; pass the address of a shmem_team_t");
    *team = SHMEM_TEAM_INVALID;
    if (ctx == SHMEM_CTX_INVALID)
        return -EINVAL;
    if (wsh_job.check)
        wsh_check_ctx("shmem_ctx_get_team", ctx);
    *team = handle_of(wsh_api_live_ctx("shmem_ctx_get_team", ctx)->team);
    return 0;
}

/* Sessions (section 9.9). */

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
