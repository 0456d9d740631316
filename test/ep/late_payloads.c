/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A NIC may deliver a payload again until the put is locally complete, when the target has long counted it: no source
 * is put from, to the same place, before a flush. This program stands in for that NIC: what was put from one place
 * to another since the last flush lands a second time right behind the next put between them.
 * paths: tcp:2 mixed:4
 */
#define _GNU_SOURCE
#include "test/ep/calls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 12, SAVED = 256 };

/* Puts since the last flush. */
static struct saved {
    void *dest, *data;
    size_t len;
    int pe;
} saved[SAVED];
static int n_saved, flushes, again;

static void *next(const char *name)
{
    void *routine = dlsym(RTLD_NEXT, name);

    if (!routine)
        abort();
    return routine;
}

static struct saved *find(const void *dest, int pe)
{
    for (int i = 0; i < n_saved; i++)
        if (saved[i].dest == dest && saved[i].pe == pe)
            return &saved[i];
    return NULL;
}

static void save(void *dest, const void *source, size_t len, int pe)
{
    if (n_saved == SAVED)
        abort();
    saved[n_saved] = (struct saved){dest, malloc(len), len, pe};
    memcpy(saved[n_saved].data, source, len);
    n_saved++;
}

/* The library's calls come here. */
void shmemx_ctx_putmem_counted_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t len,
                                   shmemx_counter_t counter, int pe)
{
    void (*put)(shmem_ctx_t, void *, const void *, size_t, shmemx_counter_t, int);
    struct saved *old = find(dest, pe);

    *(void **)&put = next("shmemx_ctx_putmem_counted_nbi");
    if (old && len) {
        again++;
        shmem_ctx_putmem(ctx, dest, source, len, pe);
        shmem_ctx_quiet(ctx);
        shmem_ctx_putmem(ctx, dest, old->data, old->len, pe);
        shmem_ctx_quiet(ctx);
        put(ctx, dest, source, 0, counter, pe);
        return;
    }
    put(ctx, dest, source, len, counter, pe);
    if (len)
        save(dest, source, len, pe);
}

void shmemx_ctx_flush(shmem_ctx_t ctx)
{
    void (*flush)(shmem_ctx_t);

    *(void **)&flush = next("shmemx_ctx_flush");
    flush(ctx);
    for (int i = 0; i < n_saved; i++)
        free(saved[i].data);
    n_saved = 0;
    flushes++;
}

static void calls_of(enum ref_mode mode, enum ref_route route)
{
    struct ref_job job = {.pes = mp_npes,
                          .hosts = calls_hosts(),
                          .experts = 2 * mp_npes,
                          .topk = 2,
                          .tokens = 12,
                          .hidden = 256,
                          .routing = REF_MIXED,
                          .seed = 19};
    struct calls_options options = {.window = 1};
    struct calls calls;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, mode, route, &options))
        return;
    for (int64_t call = 0; call < CALLS; call++)
        calls_round(&calls, call);
    calls_close(&calls);
}

int main(void)
{
    mp_begin();
    for (int mode = 0; mode < REF_MODES; mode++)
        for (int route = 0; route < REF_ROUTES; route++)
            calls_of((enum ref_mode)mode, (enum ref_route)route);
    mp_check(flushes > 4 * CALLS, "only %d flushes: the library's calls do not come here", flushes);
    mp_check(!again, "%d puts to where one was under way", again);
    return mp_end();
}
