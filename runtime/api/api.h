/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all shells (the functions behind the public routines) share: how a public routine is defined with its profiling
 * twin, how handles become objects, and what happens when a call fails.
 *
 * A shell maps its handle, calls the core once and, where the core refuses, goes to the cold half,
 * wsh_api_fail. Arguments reach a shell's helper as bytes; the helper is always in line, so that a
 * put is shell, core, transport on the stack.
 */
#ifndef WSH_API_H
#define WSH_API_H

#include "runtime/api/check/check.h"
#include "runtime/api/check/collectives.h"
#include "runtime/job/job.h"
#include "runtime/stats/stats.h"

/* The shells define names that generic.h makes macros of. */
#define WSH_NO_GENERIC
#pragma GCC visibility push(default)
#include <pshmem.h>
#pragma GCC visibility pop

#include <errno.h>

#define WSH_COLD __attribute__((cold, noinline))

/*
 * Heads the definition of a public routine: shmem_<name> is weak, so that a profiler may define it,
 * and pshmem_<name> is a strong name of the same body.
 */
#define WSH_SHELL(type, name, args)                                 \
    type pshmem_##name args __attribute__((alias("shmem_" #name))); \
    __attribute__((weak)) WSH_NO_ARRAYS type shmem_##name args

/* The same for a routine whose name does not begin with shmem_. */
#define WSH_OLD_SHELL(type, name, args)                    \
    type pshmem_##name args __attribute__((alias(#name))); \
    __attribute__((weak)) WSH_NO_ARRAYS type name args

/*
 * The core returned `rc` for a call with these arguments (`pe` in the context's team). Writes one line
 * that names routine, argument, PE and cure, unless the core has written one, and ends the job. `what`
 * is "shmem_int_put: dest": the routine, and the argument that `addr` was given as. The handle is given,
 * not the context: a constant in most shells, which need not save it over the call.
 */
WSH_COLD _Noreturn void wsh_api_fail(const char *what, int rc, shmem_ctx_t handle, const void *addr,
                                     size_t len, int pe);

/* An argument is wrong in itself: one line "routine: text", and the end of the job. */
WSH_COLD _Noreturn void wsh_api_bad(const char *what, const char *text);

/* Bytes of `nelems` elements of `size` bytes; SIZE_MAX, which no memory holds, where the product overflows. */
static WSH_INLINE size_t wsh_api_len(size_t nelems, size_t size)
{
    size_t len;

    return wsh_unlikely(__builtin_mul_overflow(nelems, size, &len)) ? SIZE_MAX : len;
}

/* Bytes from the first of `nelems` blocks to the end of the last one, `stride` bytes apart; SIZE_MAX as above. */
static WSH_INLINE size_t wsh_api_span(size_t nelems, size_t stride, size_t block)
{
    size_t len = nelems ? wsh_api_len(nelems - 1, stride) : 0;

    return __builtin_add_overflow(len, block, &len) ? SIZE_MAX : len;
}

/* `what` ("shmem_query_thread: provided") may be called at any time, and has been given NULL: as wsh_api_bad. */
WSH_COLD _Noreturn void wsh_api_null(const char *what);

/*
 * Can memory be allocated with this alignment, a power of two of at least `least`? With SHMEM_DEBUG=check a line says
 * why not.
 */
bool wsh_api_alignment(const char *what, size_t alignment, size_t least);

/* Ends the job before shmem_init and after shmem_finalize. */
static WSH_INLINE void wsh_api_ready(const char *what)
{
    if (wsh_unlikely(wsh_job.n_pes == 0))
        wsh_api_bad(what, "");
    if (wsh_unlikely(wsh_job.check))
        wsh_check_thread(what);
}

/* Ends the job after a collective or an ordering call failed; the core has logged why. */
static WSH_INLINE void wsh_api_check(const char *what, int rc)
{
    if (wsh_unlikely(rc))
        wsh_api_fail(what, rc, SHMEM_CTX_DEFAULT, NULL, 0, 0);
}

/*
 * Gives memory back without meeting anybody. Nothing after shmem_finalize, and in a forked child: destructors run there
 * too, and the memory is gone.
 */
static inline void wsh_api_free_later(const char *what, const void *ptr)
{
    if (ptr && wsh_job.n_pes)
        wsh_api_check(what, wsh_release(&wsh_job, ptr, what));
}

/* The object behind a context handle; SHMEM_CTX_INVALID ends the job. One that is destroyed has no PEs. */
static WSH_INLINE struct wsh_ctx *wsh_api_ctx(const char *what, shmem_ctx_t handle)
{
    if (wsh_likely(handle == SHMEM_CTX_DEFAULT))
        return &wsh_job.ctx;
    if (wsh_unlikely(handle == SHMEM_CTX_INVALID))
        wsh_api_bad(what, "ctx is SHMEM_CTX_INVALID; check the result of shmem_ctx_create");
    return handle;
}

/* The number in the world of PE `pe` of a context's team; -1: it has no such PE, of which the core says more. */
static inline int wsh_api_world_pe(const char *what, shmem_ctx_t handle, int pe)
{
    const struct wsh_ctx *ctx = wsh_api_ctx(what, handle);

    if ((unsigned)pe >= (unsigned)ctx->n_pes)
        return -1;
    return ctx->world ? pe : ctx->team->members[pe];
}

/* As wsh_api_ctx, for a routine that does not look at a PE: a destroyed one ends the job. */
static WSH_INLINE struct wsh_ctx *wsh_api_live_ctx(const char *what, shmem_ctx_t handle)
{
    struct wsh_ctx *ctx = wsh_api_ctx(what, handle);

    if (wsh_unlikely(!ctx->n_pes))
        wsh_api_bad(what, "ctx has been destroyed; create another one");
    return ctx;
}

/*
 * Checks with SHMEM_DEBUG=check that all members of a team call the same. The arguments are those of wsh_check_same….
 */
#define WSH_API_SAME(...) (wsh_unlikely(wsh_job.check) ? wsh_check_same(__VA_ARGS__) : (void)0)
#define WSH_API_SAME_DATA(what, team, ...)                                              \
    (wsh_unlikely(wsh_job.check)                                                        \
         ? wsh_check_same_data(what, team, &(const struct wsh_check_data){__VA_ARGS__}) \
         : (void)0)
#define WSH_API_SAME_BLOCK(...) (wsh_unlikely(wsh_job.check) ? wsh_check_same_block(__VA_ARGS__) : (void)0)

/* The team of a number, which is its handle less 1; NULL for -1, and before shmem_init. Any other ends the job. */
struct wsh_team *wsh_api_team_number(const char *what, int number);

/*
 * The object behind a team handle, NULL for SHMEM_TEAM_INVALID. One that is destroyed ends the job; with
 * SHMEM_DEBUG=check one that never was a team does too.
 */
static WSH_INLINE struct wsh_team *wsh_api_team(const char *what, shmem_team_t handle)
{
    struct wsh_team *team = handle;

    if (handle == SHMEM_TEAM_WORLD)
        team = &wsh_job.world;
    else if ((uintptr_t)handle <= WSH_TEAM_NUMBERS + WSH_POOL_UNITS)
        team = wsh_api_team_number(what, (int)(uintptr_t)handle - 1);
    if (wsh_unlikely(wsh_job.check))
        wsh_check_team(what, team);
    if (wsh_unlikely(team && !team->job))
        wsh_api_bad(what, "team has been destroyed; split off another one");
    return team;
}

#endif
