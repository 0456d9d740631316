/* SPDX-License-Identifier: BSD-3-Clause */
/* The public memory management (section 9.3). */
#include "runtime/api/api.h"

#include "base/log.h"
#include "runtime/gpu/device_heap.h"

#include <shmemx.h>

#define ALIGN _Alignof(max_align_t)

/* An allocation of nothing is no collective. */
static void same_size(const char *what, size_t size, size_t alignment)
{
    if (size)
        WSH_API_SAME(what, wsh_job.all, "%zu bytes, aligned to %zu", size, alignment);
}

static void *block_allocate(const char *what, size_t size)
{
    wsh_api_ready(what);
    same_size(what, size, ALIGN);
    return wsh_heap_malloc(&wsh_job, size, ALIGN);
}

WSH_SHELL(void *, malloc, (size_t size))
{
    return block_allocate("shmem_malloc", size);
}

WSH_OLD_SHELL(void *, shmalloc, (size_t size))
{
    return block_allocate("shmalloc", size);
}

WSH_SHELL(void *, calloc, (size_t count, size_t size))
{
    wsh_api_ready("shmem_calloc");
    if (count && size)
        WSH_API_SAME("shmem_calloc", wsh_job.all, "%zu times %zu bytes", count, size);
    return wsh_heap_calloc(&wsh_job, count, size);
}

bool wsh_api_alignment(const char *what, size_t alignment, size_t least)
{
    if (alignment >= least && !(alignment & (alignment - 1)))
        return true;
    if (wsh_job.check)
        wsh_warn("%s: alignment is %zu: NULL is returned; pass a power of two of at least %zu", what,
                 alignment, least);
    return false;
}

static void *allocate_aligned(const char *what, size_t alignment, size_t size)
{
    wsh_api_ready(what);
    if (!wsh_api_alignment(what, alignment, 1))
        return NULL;
    same_size(what, size, alignment);
    return wsh_heap_malloc(&wsh_job, size, alignment);
}

WSH_SHELL(void *, align, (size_t alignment, size_t size))
{
    return allocate_aligned("shmem_align", alignment, size);
}

WSH_OLD_SHELL(void *, shmemalign, (size_t alignment, size_t size))
{
    return allocate_aligned("shmemalign", alignment, size);
}

#define HINTS (SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE | SHMEMX_MALLOC_DEVICE)

/*
 * Both kinds of memory serve atomics and signals. Unknown hints were made for another library or a later specification,
 * where our bit may have another meaning: they get host memory, which always exists.
 */
static bool is_for_device(long hints)
{
    if (hints & SHMEMX_MALLOC_DEVICE && hints & ~HINTS)
        wsh_info(WSH_SUB_MEM,
                 "shmem_malloc_with_hints: hints %#lx has unknown bits, so that SHMEMX_MALLOC_DEVICE among "
                 "them is ignored too: host memory",
                 (unsigned long)hints);
    return hints & SHMEMX_MALLOC_DEVICE && !(hints & ~HINTS);
}

WSH_SHELL(void *, malloc_with_hints, (size_t size, long hints))
{
    wsh_api_ready("shmem_malloc_with_hints");
    if (size)
        WSH_API_SAME("shmem_malloc_with_hints", wsh_job.all, "%zu bytes, hints %#lx", size,
                     (unsigned long)hints);
    if (is_for_device(hints))
        return wsh_device_malloc(&wsh_job, size, 0, "shmem_malloc_with_hints");
    return wsh_heap_malloc(&wsh_job, size, ALIGN);
}

static void *block_reallocate(const char *what, void *ptr, size_t size)
{
    wsh_api_ready(what);
    if (ptr || size)
        WSH_API_SAME_BLOCK(what, ptr, size);
    return wsh_heap_realloc(&wsh_job, ptr, size);
}

WSH_SHELL(void *, realloc, (void *ptr, size_t size))
{
    return block_reallocate("shmem_realloc", ptr, size);
}

WSH_OLD_SHELL(void *, shrealloc, (void *ptr, size_t size))
{
    return block_reallocate("shrealloc", ptr, size);
}

static void block_release(const char *what, void *ptr)
{
    if (wsh_job.env.free_later) {
        wsh_api_free_later(what, ptr);
        return;
    }
    wsh_api_ready(what);
    if (!ptr)
        return;
    WSH_API_SAME_BLOCK(what, ptr, WSH_CHECK_ANY);
    wsh_api_check(what, wsh_heap_free(&wsh_job, ptr));
}

WSH_SHELL(void, free, (void *ptr))
{
    block_release("shmem_free", ptr);
}

WSH_OLD_SHELL(void, shfree, (void *ptr))
{
    block_release("shfree", ptr);
}

void shmemx_free_later(void *ptr)
{
    wsh_api_free_later("shmemx_free_later", ptr);
}

/* Of a team of all PEs it is the heap's own memory, which grows. */
static bool has_all(const struct wsh_team *team)
{
    return team->n_pes == wsh_job.all->n_pes;
}

static struct wsh_team *members_of(const char *what, shmem_team_t handle)
{
    struct wsh_team *team = wsh_api_team(what, handle);

    wsh_api_ready(what);
    if (!team)
        wsh_api_bad(what, "team is SHMEM_TEAM_INVALID; members of the team call");
    return team;
}

static void *members_allocate(const char *what, shmem_team_t handle, size_t size, bool device)
{
    struct wsh_team *team = members_of(what, handle);

    if (!size)
        return NULL;
    WSH_API_SAME(what, team, "%zu bytes", size);
    if (!has_all(team))
        return wsh_team_malloc(team, size, device, what);
    return device ? wsh_device_malloc(&wsh_job, size, WSH_TEAM_MEMORY_ALIGN, what)
                  : wsh_heap_malloc(&wsh_job, size, WSH_TEAM_MEMORY_ALIGN);
}

void *shmemx_team_malloc(shmem_team_t team, size_t size)
{
    return members_allocate("shmemx_team_malloc", team, size, false);
}

void *shmemx_team_malloc_device(shmem_team_t team, size_t size)
{
    return members_allocate("shmemx_team_malloc_device", team, size, true);
}

void shmemx_team_free(shmem_team_t team, void *ptr)
{
    static const char what[] = "shmemx_team_free";
    struct wsh_team *members = members_of(what, team);

    /* After the world's shrink a team of before, of all PEs or of some, may have as many members, or more. */
    if (ptr)
        wsh_api_check(what, members->n_pes >= wsh_job.all->n_pes && !wsh_team_memory_has(&wsh_job, ptr)
                                ? wsh_heap_free(&wsh_job, ptr)
                                : wsh_team_free(members, ptr));
}
