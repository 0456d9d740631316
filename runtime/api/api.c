/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the one line about a call that was refused. */
#include "runtime/api/api.h"

#include "base/log.h"

#include <string.h>
#include <unistd.h>

static int routine_length(const char *what)
{
    return (int)strcspn(what, ":");
}

static _Noreturn void fail_not_started(const char *what)
{
    if (wsh_job.pid && wsh_job.pid != getpid())
        wsh_error("%.*s: called in process %d, which is a fork of this PE and no PE itself; call it in the "
                  "PE, or start "
                  "the other process by exec",
                  routine_length(what), what, (int)getpid());
    else
        wsh_error("%.*s: called outside shmem_init … shmem_finalize; call shmem_init before it, and "
                  "shmem_finalize after it",
                  routine_length(what), what);
    wsh_abort(1);
}

/* PE numbers of a context are its team's: those of a small team end early. */
static _Noreturn void fail_team_pe(const char *what, const struct wsh_team *team, int pe)
{
    wsh_error("%.*s: there is no PE %d in the context's team of %d; use 0 to %d", routine_length(what), what,
              pe, team->n_pes, team->n_pes - 1);
    wsh_abort(1);
}

/* A message about an address names its argument, one about a PE does not. */
static void log_why(const char *what, int rc, const void *addr, size_t len, int pe)
{
    int length = rc == -ERANGE ? routine_length(what) : (int)strlen(what);
    char why[256];

    if (rc == -EFAULT && len == SIZE_MAX) {
        wsh_error("%s: more bytes than memory holds; look at the number of elements, and the strides", what);
        return;
    }
    wsh_route_explain(&wsh_job, addr, len, pe, why, sizeof why);
    wsh_error("%.*s: %s", length, what, why);
}

void wsh_api_fail(const char *what, int rc, shmem_ctx_t handle, const void *addr, size_t len, int pe)
{
    const struct wsh_ctx *ctx;

    if (wsh_job.n_pes == 0)
        fail_not_started(what);
    ctx = wsh_api_live_ctx(what, handle);
    if (rc == -ERANGE && !ctx->world)
        fail_team_pe(what, ctx->team, pe);
    if (rc == -ERANGE || rc == -EFAULT)
        log_why(what, rc, addr, len, ctx->world ? pe : ctx->team->members[pe]);
    wsh_abort(1);
}

void wsh_api_null(const char *what)
{
    wsh_error("%s is NULL; pass the address of what is to be written", what);
    wsh_abort(1);
}

void wsh_api_bad(const char *what, const char *text)
{
    if (wsh_job.n_pes == 0)
        fail_not_started(what);
    wsh_error("%.*s: %s", routine_length(what), what, text);
    wsh_abort(1);
}
