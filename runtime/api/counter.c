/* SPDX-License-Identifier: BSD-3-Clause */
/* The public routines of counted puts, lists of puts, and the flush. */
#include "runtime/op/counters.h"

#include "runtime/api/api.h"
#include "runtime/api/check/overwrite.h"
#include "runtime/op/order.h"
#include "runtime/op/rma.h"

#include <shmemx.h>

static struct wsh_ctx *ctx_of(const char *what, shmem_ctx_t handle)
{
    wsh_api_ready(what);
    if (wsh_unlikely(wsh_job.check))
        wsh_check_ctx(what, handle);
    return wsh_api_live_ctx(what, handle);
}

static uint32_t number_of(const char *what, shmemx_counter_t counter)
{
    long number;

    wsh_api_ready(what);
    number = wsh_counter_number(&wsh_job, counter);
    if (number < 0)
        wsh_api_bad(what, "counter is none that shmemx_counter_create has made, or has been destroyed");
    return (uint32_t)number;
}

static struct wsh_team *team_of(const char *what, shmem_team_t handle)
{
    struct wsh_team *team;

    wsh_api_ready(what);
    team = wsh_api_team(what, handle);
    if (!team)
        wsh_api_bad(what, "team is SHMEM_TEAM_INVALID; only members of a team call it");
    return team;
}

int shmemx_counter_create(shmem_team_t handle, size_t n, shmemx_counter_t *counters)
{
    struct wsh_team *team = team_of("shmemx_counter_create", handle);

    if (n && !counters)
        wsh_api_bad("shmemx_counter_create", "counters is NULL");
    WSH_API_SAME("shmemx_counter_create", team, "%zu counters", n);
    return n && wsh_counters_create(team, n, counters);
}

int shmemx_counter_destroy(shmem_team_t handle, size_t n, shmemx_counter_t *counters)
{
    struct wsh_team *team = team_of("shmemx_counter_destroy", handle);
    int rc;

    if (n && !counters)
        wsh_api_bad("shmemx_counter_destroy", "counters is NULL");
    WSH_API_SAME("shmemx_counter_destroy", team, "%zu counters", n);
    rc = n ? wsh_counters_destroy(team, n, counters) : 0;
    if (rc == -EINVAL)
        wsh_api_bad("shmemx_counter_destroy",
                    "counters are not the n that one shmemx_counter_create has made, or have been destroyed");
    return rc != 0;
}

static void put_check(const char *what, shmem_ctx_t handle, const shmemx_put_t *put)
{
    const struct wsh_check_blocks blocks = {put->dest, put->source, 0, 0, put->nelems, 1, 1};

    wsh_check_transfer(what, handle, &blocks, put->pe);
    wsh_overwrite_note(what, wsh_api_ctx(what, handle), put->dest, put->nelems, put->pe);
}

static void put_one(const char *what, shmem_ctx_t handle, const shmemx_put_t *put, bool counted)
{
    struct wsh_ctx *ctx = wsh_api_ctx(what, handle);
    int rc;

    if (wsh_unlikely(wsh_job.check))
        put_check(what, handle, put);
    if (wsh_unlikely(!put->source && put->nelems))
        wsh_api_bad(what, "source is NULL");
    if (counted)
        rc = wsh_put_counted_nbi(ctx, put->dest, put->source, put->nelems, number_of(what, put->counter),
                                 put->pe);
    else
        rc = wsh_put_nbi(ctx, put->dest, put->source, put->nelems, put->pe);
    if (wsh_unlikely(rc))
        wsh_api_fail(what, rc, handle, put->dest, put->nelems, put->pe);
}

void shmemx_putmem_counted_nbi(void *dest, const void *source, size_t nelems, shmemx_counter_t counter,
                               int pe)
{
    put_one("shmemx_putmem_counted_nbi: dest", SHMEM_CTX_DEFAULT,
            &(shmemx_put_t){dest, source, nelems, counter, pe}, true);
}

void shmemx_ctx_putmem_counted_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
                                   shmemx_counter_t counter, int pe)
{
    put_one("shmemx_ctx_putmem_counted_nbi: dest", ctx, &(shmemx_put_t){dest, source, nelems, counter, pe},
            true);
}

static void put_list(const char *what, shmem_ctx_t handle, const shmemx_put_t *puts, size_t n)
{
    struct wsh_ctx *ctx = ctx_of(what, handle);

    if (n && !puts)
        wsh_api_bad(what, "puts is NULL");
    wsh_together_begin(ctx);
    for (size_t i = 0; i < n; i++)
        put_one(what, handle, &puts[i], puts[i].counter != SHMEMX_COUNTER_INVALID);
    wsh_api_check(what, wsh_together_end(ctx));
}

void shmemx_putmem_list_nbi(const shmemx_put_t *puts, size_t n)
{
    put_list("shmemx_putmem_list_nbi: dest", SHMEM_CTX_DEFAULT, puts, n);
}

void shmemx_ctx_putmem_list_nbi(shmem_ctx_t ctx, const shmemx_put_t *puts, size_t n)
{
    put_list("shmemx_ctx_putmem_list_nbi: dest", ctx, puts, n);
}

/* Former names. */
void shmemx_putmem_nbi_list(const shmemx_put_t *puts, size_t n)
{
    shmemx_putmem_list_nbi(puts, n);
}

void shmemx_ctx_putmem_nbi_list(shmem_ctx_t ctx, const shmemx_put_t *puts, size_t n)
{
    shmemx_ctx_putmem_list_nbi(ctx, puts, n);
}

static void batch(const char *what, shmem_ctx_t handle, bool begin)
{
    struct wsh_ctx *ctx = ctx_of(what, handle);

    if (ctx->batching == begin)
        wsh_api_bad(what, begin ? "a batch of this context has begun already"
                                : "no batch of this context has begun");
    ctx->batching = begin;
    if (begin)
        wsh_together_begin(ctx);
    else
        wsh_api_check(what, wsh_together_end(ctx));
}

void shmemx_batch_begin(void)
{
    batch("shmemx_batch_begin", SHMEM_CTX_DEFAULT, true);
}

void shmemx_batch_end(void)
{
    batch("shmemx_batch_end", SHMEM_CTX_DEFAULT, false);
}

void shmemx_ctx_batch_begin(shmem_ctx_t ctx)
{
    batch("shmemx_ctx_batch_begin", ctx, true);
}

void shmemx_ctx_batch_end(shmem_ctx_t ctx)
{
    batch("shmemx_ctx_batch_end", ctx, false);
}

static void flush(const char *what, shmem_ctx_t handle)
{
    wsh_api_check(what, wsh_flush(ctx_of(what, handle)));
}

void shmemx_flush(void)
{
    flush("shmemx_flush", SHMEM_CTX_DEFAULT);
}

void shmemx_ctx_flush(shmem_ctx_t ctx)
{
    flush("shmemx_ctx_flush", ctx);
}

uint64_t shmemx_counter_fetch(shmemx_counter_t counter)
{
    return wsh_counter_fetch(&wsh_job, number_of("shmemx_counter_fetch", counter));
}

void shmemx_counter_wait_until(shmemx_counter_t counter, uint64_t value)
{
    uint32_t number = number_of("shmemx_counter_wait_until", counter);

    wsh_api_check("shmemx_counter_wait_until",
                  wsh_counter_wait(&wsh_job, number, value, "shmemx_counter_wait_until"));
}

int shmemx_counter_wait_until_timeout(shmemx_counter_t counter, uint64_t value, double seconds)
{
    const char *routine = "shmemx_counter_wait_until_timeout";
    int rc = wsh_counter_wait_timed(&wsh_job, number_of(routine, counter), value, seconds, routine);

    if (rc == -ETIMEDOUT)
        return SHMEMX_WAIT_TIMEOUT;
    if (rc == -ECANCELED)
        return SHMEMX_WAIT_FAILURE;
    wsh_api_check(routine, rc);
    return SHMEMX_WAIT_SATISFIED;
}
