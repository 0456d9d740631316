/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the arguments of calls with SHMEM_DEBUG=check. */
#include "runtime/api/check/check.h"

#include "runtime/memory/alloc.h"
#include "runtime/api/api.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Noreturn void call_refuse(const char *what, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static _Noreturn void call_refuse(const char *what, const char *fmt, ...)
{
    char text[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    wsh_error("%.*s: %s", (int)strcspn(what, ":"), what, text);
    wsh_abort(1);
}

void wsh_check_thread(const char *what)
{
    if (wsh_job.thread_level < SHMEM_THREAD_SERIALIZED && !pthread_equal(wsh_job.thread, pthread_self()))
        call_refuse(what,
                    "called by another thread than shmem_init, at %s; ask shmem_init_thread for "
                    "SHMEM_THREAD_MULTIPLE",
                    wsh_job.thread_level == SHMEM_THREAD_SINGLE ? "SHMEM_THREAD_SINGLE"
                                                                : "SHMEM_THREAD_FUNNELED");
}

static bool is_live(const struct wsh_ctx *wanted)
{
    const struct wsh_ctx *ctx;

    pthread_mutex_lock(&wsh_job.ctxs_lock);
    for (ctx = wsh_job.ctxs; ctx && ctx != wanted; ctx = ctx->next)
        ;
    pthread_mutex_unlock(&wsh_job.ctxs_lock);
    return ctx && (ctx->user || ctx == &wsh_job.ctx);
}

void wsh_check_ctx(const char *what, shmem_ctx_t handle)
{
    const struct wsh_ctx *ctx = wsh_api_ctx(what, handle);

    wsh_check_thread(what);
    if (!is_live(ctx))
        call_refuse(what, "ctx %p is no context; it was never created, or has been destroyed",
                    (const void *)ctx);
    if ((ctx->options & SHMEM_CTX_PRIVATE) && !pthread_equal(ctx->owner, pthread_self()))
        call_refuse(what,
                    "ctx is private to another thread; create it without SHMEM_CTX_PRIVATE to share it");
}

static bool is_live_team(const struct wsh_team *wanted)
{
    const struct wsh_team *team;

    pthread_mutex_lock(&wsh_job.ctxs_lock);
    for (team = wsh_job.teams; team && team != wanted; team = team->next)
        ;
    pthread_mutex_unlock(&wsh_job.ctxs_lock);
    return team || wanted == &wsh_job.world || wanted == &wsh_job.shared;
}

void wsh_check_team(const char *what, const struct wsh_team *team)
{
    wsh_check_thread(what);
    if (team && !is_live_team(team))
        call_refuse(what, "team %p is no team of this PE; it was never created, or has been destroyed",
                    (const void *)team);
}

static bool ranges_overlap(const char *a, size_t a_len, const char *b, size_t b_len)
{
    return a < b + b_len && b < a + a_len;
}

void wsh_check_apart(const char *what, const void *a, size_t a_len, const void *b, size_t b_len)
{
    if (a && b && a_len && b_len && ranges_overlap(a, a_len, b, b_len))
        call_refuse(what, "two arguments overlap: %zu bytes at %p and %zu bytes at %p; use memory apart",
                    a_len, a, b_len, b);
}

/* `what` names the argument too. Of memory that is not the heap the end is the segment's, which the call looks at. */
static void live_check(const char *what, const void *addr, size_t len)
{
    size_t off;

    if (wsh_heap_find(&wsh_job.heap, addr, len, &off) != WSH_SEG_HEAP ||
        wsh_alloc_is_live(wsh_job.heap.alloc, off, len) || wsh_team_memory_is_live(&wsh_job, off, len))
        return;
    wsh_error("%s: %zu bytes at %p are not allocated; they have been freed, or are beyond the end of their "
              "block",
              what, len, addr);
    wsh_abort(1);
}

void wsh_check_arrays(const struct wsh_check_arrays *arrays)
{
    const void *dest = arrays->dest, *source = arrays->source;
    const size_t dest_len = arrays->dest_len, source_len = arrays->source_len, sync_len = 2 * sizeof(long);

    if (dest_len)
        live_check(arrays->what, dest, dest_len);
    if (source_len)
        live_check(arrays->what_source, source, source_len);
    wsh_check_apart(arrays->what, dest, dest_len, arrays->sync, sync_len);
    wsh_check_apart(arrays->what, source, source_len, arrays->sync, sync_len);
    if (dest_len && source_len && !(arrays->in_place && dest == source) &&
        ranges_overlap(dest, dest_len, source, source_len))
        call_refuse(arrays->what, "dest and source overlap: %zu bytes at %p and %zu bytes at %p; %s",
                    dest_len, dest, source_len, source,
                    arrays->in_place ? "use memory apart, or the same for both" : "use memory apart");
}

/* Where this PE would load and store the `len` bytes at `sym` of `pe`; NULL where it cannot, or they are not there. */
static const char *alias_of(const struct wsh_ctx *ctx, const void *sym, size_t len, int pe)
{
    const struct wsh_rmem *rmem;
    size_t off;

    pe = ctx->team->members[pe];
    rmem = wsh_job_rmem_first(&wsh_job, sym, len, pe, &off);
    if (rmem && pe == wsh_job.my_pe)
        return sym;
    return rmem && rmem->map ? rmem->map + off : NULL;
}

/* Both sides ascend: the lower of two blocks that do not overlap overlaps none of the other side's later ones. */
static bool blocks_overlap(const struct wsh_check_blocks *blocks, const char *remote)
{
    const char *local = blocks->local;
    size_t len = blocks->block * blocks->size, i = 0, k = 0;

    while (i < blocks->nblocks && k < blocks->nblocks) {
        const char *a = remote + (ptrdiff_t)i * blocks->sym_stride * (ptrdiff_t)blocks->size;
        const char *b = local + (ptrdiff_t)k * blocks->local_stride * (ptrdiff_t)blocks->size;

        if (ranges_overlap(a, len, b, len))
            return true;
        if (a < b)
            i++;
        else
            k++;
    }
    return false;
}

/* Bytes from the first element to the last one of a side; SIZE_MAX where they do not fit an address. */
static size_t span_of(const struct wsh_check_blocks *blocks, ptrdiff_t stride)
{
    const size_t apart = blocks->nblocks > 1 ? wsh_api_len((size_t)stride, blocks->size) : 0;
    const size_t len = wsh_api_span(blocks->nblocks, apart, wsh_api_len(blocks->block, blocks->size));

    return len <= PTRDIFF_MAX ? len : SIZE_MAX;
}

void wsh_check_transfer(const char *what, shmem_ctx_t handle, const struct wsh_check_blocks *blocks, int pe)
{
    const struct wsh_ctx *ctx;
    const char *remote;
    size_t len;

    wsh_check_ctx(what, handle);
    ctx = wsh_api_ctx(what, handle);
    if (!blocks->block || !blocks->nblocks || pe < 0 || pe >= ctx->n_pes)
        return;
    len = span_of(blocks, blocks->sym_stride);
    if (len == SIZE_MAX || span_of(blocks, blocks->local_stride) == SIZE_MAX)
        call_refuse(what, "%zu elements of %zu bytes are more than memory holds",
                    blocks->block * blocks->nblocks, blocks->size);
    live_check(what, blocks->sym, len);
    if ((uintptr_t)blocks->sym % (blocks->size & -blocks->size))
        call_refuse(what, "%p is not aligned to its type's %zu bytes", blocks->sym, blocks->size);
    remote = blocks->local ? alias_of(ctx, blocks->sym, len, pe) : NULL;
    if (remote && blocks_overlap(blocks, remote))
        call_refuse(what, "dest and source overlap: %p of PE %d and %p here are the same memory", blocks->sym,
                    pe, blocks->local);
}

void wsh_check_strided(const struct wsh_check_arrays *arrays, const struct wsh_check_blocks *blocks)
{
    struct wsh_check_arrays each = *arrays;

    each.source_len = 0;
    wsh_check_arrays(&each);
    each = *arrays;
    each.dest_len = 0;
    wsh_check_arrays(&each);
    if (blocks_overlap(blocks, blocks->sym))
        call_refuse(arrays->what,
                    "dest and source overlap: elements of both are the same memory, from %p and %p on; use "
                    "memory apart",
                    blocks->sym, blocks->local);
}
