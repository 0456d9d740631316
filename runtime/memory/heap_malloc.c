/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates from the symmetric host heap, equally on all PEs: shmem_malloc and its kin. */
#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/device_ops.h"
#include "runtime/job/job.h"
#include "runtime/memory/alloc.h"
#include "runtime/memory/commit.h"
#include "runtime/memory/free_later.h"

#include <errno.h>
#include <string.h>

/* The range that is asked for. */
struct block {
    size_t off, len;
};

/*
 * Commits on every PE or on none (as far as offsets go); all PEs hold the same `committed`. -EBUSY: a team has memory
 * in the block. Ends with a barrier.
 */
static bool try_commit(struct wsh_job *job, const struct block *block, size_t end, int *rc)
{
    struct wsh_heap *heap = &job->heap;
    size_t before = heap->committed;
    bool all_ok = true;
    int met;

    *rc = wsh_team_memory_end(job, false, block->off, block->len)
              ? -EBUSY
              : wsh_heap_commit(heap, end, job->local_size);
    met = wsh_release_barrier(job, !*rc, &all_ok, "shmem_malloc");
    if (met)
        wsh_coll_end_unless_failed(job->all, "shmem_malloc", met);
    all_ok &= !met;
    if (!all_ok)
        heap->committed = before;
    else if (heap->committed > before)
        wsh_heap_show(heap);
    return all_ok;
}

/*
 * No range crosses from one pinned piece into the next, so some memory stays unused at the end of each piece. A piece
 * has at least a quarter of what is committed, so that there are few of them.
 */
static size_t ahead_of(const struct wsh_job *job, size_t end)
{
    const struct wsh_heap *heap = &job->heap;
    size_t ahead = heap->committed + heap->committed / 4, len = heap->seg[WSH_SEG_HEAP].len;

    if (!job->device.attached || end <= heap->committed || ahead <= end)
        return end;
    return ahead < len ? ahead : len;
}

static bool commit_everywhere(struct wsh_job *job, size_t off, size_t len)
{
    const struct block block = {off, len};
    size_t end = off + len, ahead = ahead_of(job, end);
    int rc;

    if (!try_commit(job, &block, ahead, &rc) && (ahead == end || !try_commit(job, &block, end, &rc))) {
        if (rc && rc != -EBUSY)
            wsh_warn("no memory for %zu MiB of symmetric heap: %s; this allocation returns NULL on every PE",
                     end >> 20, wsh_commit_strerror(rc));
        return false;
    }
    wsh_device_ops()->pin(job);
    return true;
}

/* Before the heap commits more memory, memory that all PEs have released is reused. All PEs decide alike. */
static size_t block_take(struct wsh_job *job, size_t size, size_t align)
{
    struct wsh_heap *heap = &job->heap;
    size_t off = wsh_alloc_get(heap->alloc, size, align);
    int rc;

    if (off != WSH_ALLOC_NONE && off + size <= heap->committed)
        return off;
    if (off != WSH_ALLOC_NONE)
        wsh_alloc_put(heap->alloc, off);
    rc = wsh_release_barrier(job, true, NULL, "shmem_malloc");
    if (rc)
        wsh_coll_end_unless_failed(job->all, "shmem_malloc", rc);
    return rc ? WSH_ALLOC_NONE : wsh_alloc_get(heap->alloc, size, align);
}

/* After a commit that has failed, on all PEs: where the memory of teams in the way ends; 0: it is not for that. */
static size_t teams_end(struct wsh_job *job, size_t off, size_t len)
{
    size_t end;
    int rc = wsh_team_memory_end_anywhere(job, false, off, len, &end, "shmem_malloc");

    if (rc)
        wsh_coll_end_unless_failed(job->all, "shmem_malloc", rc);
    return rc ? 0 : end;
}

/*
 * A committed range on every PE, or WSH_ALLOC_NONE on every PE. While teams have memory in the way, what was found and
 * theirs stays taken here, so that the search goes on behind it, on all PEs alike. Ends with a barrier.
 */
static size_t get_everywhere(struct wsh_job *job, size_t size, size_t align)
{
    struct wsh_heap *heap = &job->heap;
    size_t off = align > WSH_HEAP_ALIGN ? WSH_ALLOC_NONE : block_take(job, size, align), end, next;

    if (off == WSH_ALLOC_NONE) {
        wsh_info(WSH_SUB_MEM,
                 "no room for %zu bytes: %zu free in the symmetric heap, largest block %zu; "
                 "set SHMEM_SYMMETRIC_SIZE to more",
                 size, wsh_alloc_free_bytes(heap->alloc), wsh_alloc_largest(heap->alloc));
        return WSH_ALLOC_NONE;
    }
    if (commit_everywhere(job, off, size))
        return off;
    end = teams_end(job, off, size);
    if (end > off + size && wsh_alloc_resize(heap->alloc, off, end - off))
        end = 0; /* what is pinned ends within the team's range: nothing is found step by step */
    next = end ? get_everywhere(job, size, align) : WSH_ALLOC_NONE;
    wsh_alloc_put(heap->alloc, off);
    return next;
}

/* The end of an allocation, which survivors of a failure count. */
static void *finished(struct wsh_job *job, size_t off)
{
    if (off == WSH_ALLOC_NONE)
        return NULL;
    job->heap.finished++;
    return job->heap.seg[WSH_SEG_HEAP].base + off;
}

void *wsh_heap_malloc(struct wsh_job *job, size_t size, size_t align)
{
    return finished(job, size ? get_everywhere(job, size, align) : WSH_ALLOC_NONE);
}

void *wsh_heap_calloc(struct wsh_job *job, size_t count, size_t size)
{
    size_t bytes, off;
    int rc;

    if (__builtin_mul_overflow(count, size, &bytes) || !bytes)
        return NULL;
    off = get_everywhere(job, bytes, 0);
    if (off == WSH_ALLOC_NONE)
        return NULL;
    memset(job->heap.seg[WSH_SEG_HEAP].base + off, 0, bytes);
    rc = wsh_barrier(job->all, "shmem_calloc"); /* nobody may put into it before it is zero everywhere */
    if (!rc)
        return finished(job, off);
    wsh_coll_end_unless_failed(job->all, "shmem_calloc", rc);
    wsh_alloc_put(job->heap.alloc, off);
    return NULL;
}

static size_t live_offset(const struct wsh_heap *heap, const void *ptr)
{
    const struct wsh_segment *seg = &heap->seg[WSH_SEG_HEAP];
    size_t off = (size_t)((const char *)ptr - seg->base);

    return off < seg->len && wsh_alloc_size(heap->alloc, off) ? off : WSH_ALLOC_NONE;
}

static int log_not_live(const char *routine, const void *ptr)
{
    wsh_error("%s: %p is not the start of a live symmetric allocation; pass what shmem_malloc returned, once",
              routine, ptr);
    return -EINVAL;
}

int wsh_heap_free(struct wsh_job *job, void *ptr)
{
    size_t off;
    int rc;

    if (ptr && wsh_device_ops()->holds(job, ptr))
        return wsh_device_ops()->free(job, ptr);
    rc = wsh_release_barrier(job, true, NULL, "shmem_free");
    if (rc && !wsh_coll_met_failure(job->all, "shmem_free", rc))
        return -EIO;
    if (!ptr)
        return 0;
    off = live_offset(&job->heap, ptr);
    if (off == WSH_ALLOC_NONE)
        return log_not_live("shmem_free", ptr);
    wsh_alloc_put(job->heap.alloc, off);
    job->heap.finished += !rc; /* survivors begin again with what one has that has finished least */
    return 0;
}

/* In place where there is room behind on all PEs, else by a copy; the old block stays whole when neither works. */
static size_t block_move(struct wsh_job *job, size_t off, size_t size)
{
    struct wsh_heap *heap = &job->heap;
    char *base = heap->seg[WSH_SEG_HEAP].base;
    size_t old = wsh_alloc_size(heap->alloc, off), moved;
    int rc;

    if (!wsh_alloc_resize(heap->alloc, off, size)) {
        if (commit_everywhere(job, off, size))
            return off;
        wsh_alloc_resize(heap->alloc, off, old);
        if (!teams_end(job, off, size))
            return WSH_ALLOC_NONE;
    }
    moved = get_everywhere(job, size, 0);
    if (moved == WSH_ALLOC_NONE)
        return moved;
    memcpy(base + moved, base + off, old < size ? old : size);
    rc = wsh_barrier(job->all, "shmem_realloc");
    if (rc)
        wsh_coll_end_unless_failed(job->all, "shmem_realloc", rc);
    wsh_alloc_put(heap->alloc, rc ? moved : off);
    return rc ? WSH_ALLOC_NONE : moved;
}

void *wsh_heap_realloc(struct wsh_job *job, void *ptr, size_t size)
{
    size_t off;
    int rc;

    if (!ptr)
        return wsh_heap_malloc(job, size, 0);
    if (!size)
        return wsh_heap_free(job, ptr) ? wsh_abort(1), NULL : NULL;
    if (wsh_device_ops()->holds(job, ptr))
        return wsh_device_ops()->realloc(job, ptr, size);
    rc = wsh_barrier(job->all, "shmem_realloc");
    if (rc) {
        wsh_coll_end_unless_failed(job->all, "shmem_realloc", rc);
        return NULL;
    }
    off = live_offset(&job->heap, ptr);
    if (off == WSH_ALLOC_NONE && log_not_live("shmem_realloc", ptr))
        wsh_abort(1);
    return finished(job, block_move(job, off, size));
}
