/* SPDX-License-Identifier: BSD-3-Clause */
/* The symmetric host heap: reserves and commits its memory, and allocates from it equally on all PEs. */
#define _GNU_SOURCE
#include "runtime/memory/heap.h"

#include "runtime/memory/alloc.h"
#include "runtime/memory/commit.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/job/job.h"
#include "runtime/memory/numa.h"
#include "runtime/memory/static_data.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define HEAP_ALIGN ((size_t)1 << 30)    /* largest alignment shmem_align can keep: address space is cheap */
#define HEAP_GRANULE ((size_t)2 << 20)  /* memory is committed in huge page sizes */
#define HEAP_INTERNAL ((size_t)2 << 20) /* room for the library's own words, beyond the user's bytes */

static size_t round_up(size_t len, size_t to)
{
    return (len + to - 1) & ~(to - 1);
}

/* Address space and huge pages run out where memory is free. */
static const char *heap_cure(const char *step, bool huge)
{
    struct rlimit space;

    if (huge && !strcmp(step, "mmap"))
        return "reserve huge pages (sysctl vm.nr_hugepages=…), or set SHMEM_HUGE_PAGES=auto";
    if (!strcmp(step, "mmap") && !getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY)
        return "raise `ulimit -v`, which the heaps of all PEs of a host count against, or set "
               "SHMEM_SYMMETRIC_SIZE "
               "to less";
    return "set SHMEM_SYMMETRIC_SIZE to less";
}

static int log_no_heap(size_t len, const char *step, int err, bool huge)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    wsh_error("no symmetric heap of %zu MiB (%s: %s): this machine has %zu MiB of memory, %zu MiB free; %s",
              len >> 20, step, wsh_commit_strerror(-err), ((size_t)sysconf(_SC_PHYS_PAGES) * page) >> 20,
              ((size_t)sysconf(_SC_AVPHYS_PAGES) * page) >> 20, heap_cure(step, huge));
    return -err;
}

/* Maps `fd` at an address aligned to HEAP_ALIGN, so that equal offsets are equally aligned on every PE. */
static char *map_aligned(int fd, size_t len)
{
    char *reserved =
        mmap(NULL, len + HEAP_ALIGN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *base;

    if (reserved == MAP_FAILED)
        return MAP_FAILED;
    base = (char *)round_up((size_t)reserved, HEAP_ALIGN);
    if (base > reserved)
        munmap(reserved, (size_t)(base - reserved));
    munmap(base + len, (size_t)(reserved + HEAP_ALIGN - base));
    return mmap(base, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
}

/* Whether the kernel gives huge pages to shared memory that asks for them. */
static bool has_huge_pages(const struct wsh_segment *seg)
{
    char text[128] = "";
    int fd = open("/sys/kernel/mm/transparent_hugepage/shmem_enabled", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        (void)!read(fd, text, sizeof text - 1);
        close(fd);
    }
    return madvise(seg->base, seg->len, MADV_HUGEPAGE) == 0 && *text && !strstr(text, "[never]") &&
           !strstr(text, "[deny]");
}

/* Most machines are set to small pages, so this is an info message. */
static int want_huge_pages(const struct wsh_segment *seg, const struct wsh_env *env)
{
    if (env->huge_pages != WSH_AUTO)
        return 0;
    if (has_huge_pages(seg)) {
        wsh_info(WSH_SUB_MEM, "the symmetric heap has huge pages as far as the system has room for them");
        return 0;
    }
    return wsh_log_slower(
        env->strict, WSH_LOG_INFO,
        "the symmetric heap has small pages; write advise to "
        "/sys/kernel/mm/transparent_hugepage/shmem_enabled, or set SHMEM_HUGE_PAGES=on or off");
}

static int open_host_heap(struct wsh_heap *heap, const struct wsh_env *env)
{
    size_t len = round_up(env->symmetric_size + env->team_memory + HEAP_INTERNAL, HEAP_GRANULE);
    size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    bool huge = env->huge_pages == WSH_ON;
    struct wsh_segment *seg = &heap->seg[WSH_SEG_HEAP];
    int rc;

    if (len > memory)
        return log_no_heap(len, "larger than memory", ENOMEM, huge);
    seg->fd = memfd_create("warpshmem-heap", MFD_CLOEXEC | (huge ? MFD_HUGETLB : 0));
    if (seg->fd < 0)
        return log_no_heap(len, huge ? "SHMEM_HUGE_PAGES=on, memfd_create" : "memfd_create", errno, huge);
    rc = wsh_memfd_resize(seg->fd, len);
    if (rc)
        return log_no_heap(len, "ftruncate", -rc, huge);
    seg->base = map_aligned(seg->fd, len);
    if (seg->base == MAP_FAILED) {
        seg->base = NULL;
        return log_no_heap(len, "mmap", errno, huge);
    }
    seg->len = len;
    heap->core_dump = env->core_dump;
    if (heap->core_dump != WSH_CORE_ALL)
        madvise(seg->base, len, MADV_DONTDUMP);
    if (want_huge_pages(seg, env))
        return -ENOTSUP;
    rc = wsh_numa_prefer(seg->base, len, env);
    if (rc)
        return rc;
    heap->alloc = wsh_alloc_open(len);
    return heap->alloc ? 0 : log_no_heap(len, "metadata", ENOMEM, huge);
}

static void close_host_heap(struct wsh_heap *heap)
{
    struct wsh_segment *seg = &heap->seg[WSH_SEG_HEAP];

    wsh_alloc_close(heap->alloc);
    if (seg->base)
        munmap(seg->base, seg->len);
    if (seg->fd >= 0)
        close(seg->fd);
}

int wsh_heap_init(struct wsh_heap *heap, const struct wsh_env *env)
{
    int rc;

    *heap = (struct wsh_heap){.page = HEAP_GRANULE};
    for (int seg = 0; seg < WSH_SEGS; seg++)
        heap->seg[seg].fd = -1;
    rc = open_host_heap(heap, env);
    if (!rc)
        rc = wsh_static_open(&heap->seg[WSH_SEG_STATIC], &heap->ranges, env);
    if (rc)
        wsh_heap_fini(heap);
    return rc;
}

void wsh_heap_fini(struct wsh_heap *heap)
{
    wsh_static_close(&heap->seg[WSH_SEG_STATIC]);
    close_host_heap(heap);
    *heap = (struct wsh_heap){0};
}

int wsh_heap_find_device(const struct wsh_heap *heap, const void *addr, size_t len, size_t *off)
{
    int seg = wsh_ranges_find(heap->device, addr, len);

    if (seg >= 0)
        *off = (size_t)((const char *)addr - heap->seg[seg].base);
    return seg;
}

/* Puts memory behind [0, end) of the heap, so that no later store can fail. */
static int heap_commit(struct wsh_heap *heap, size_t end, int n_sharing)
{
    int rc;

    end = round_up(end, heap->page);
    if (end <= heap->committed)
        return 0;
    rc = wsh_commit(heap->seg[WSH_SEG_HEAP].fd, heap->committed, end, n_sharing);
    if (!rc)
        heap->committed = end;
    return rc;
}

/* In a core dump: never what has no memory behind it, which the dump would put there. */
static void heap_show(const struct wsh_heap *heap)
{
    if (heap->core_dump == WSH_CORE_OWN)
        madvise(heap->seg[WSH_SEG_HEAP].base, heap->committed, MADV_DODUMP);
}

/*
 * Commits on every PE or on none (as far as offsets go); all PEs hold the same `committed`. Ends with a barrier.
 */
static bool try_commit(struct wsh_job *job, size_t end, int *rc)
{
    struct wsh_heap *heap = &job->heap;
    size_t before = heap->committed;
    bool all_ok = true;

    *rc = heap_commit(heap, end, job->local_size);
    if (wsh_release_barrier(job, !*rc, &all_ok, "shmem_malloc"))
        wsh_job_abort(1);
    if (!all_ok)
        heap->committed = before;
    else if (heap->committed > before)
        heap_show(heap);
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

static bool commit_everywhere(struct wsh_job *job, size_t end)
{
    size_t ahead = ahead_of(job, end);
    int rc;

    if (!try_commit(job, ahead, &rc) && (ahead == end || !try_commit(job, end, &rc))) {
        if (rc)
            wsh_warn("no memory for %zu MiB of symmetric heap: %s; this allocation returns NULL on every PE",
                     end >> 20, wsh_commit_strerror(rc));
        return false;
    }
    wsh_device_pin(job);
    return true;
}

/* Before the heap takes memory that it has not, what all PEs have released serves. Decided alike on all PEs. */
static size_t block_take(struct wsh_job *job, size_t size, size_t align)
{
    struct wsh_heap *heap = &job->heap;
    size_t off = wsh_alloc_get(heap->alloc, size, align);

    if (off != WSH_ALLOC_NONE && off + size <= heap->committed)
        return off;
    if (off != WSH_ALLOC_NONE)
        wsh_alloc_put(heap->alloc, off);
    if (wsh_release_barrier(job, true, NULL, "shmem_malloc"))
        wsh_job_abort(1);
    return wsh_alloc_get(heap->alloc, size, align);
}

/* A committed range on every PE, or WSH_ALLOC_NONE on every PE. Ends with a barrier. */
static size_t get_everywhere(struct wsh_job *job, size_t size, size_t align)
{
    struct wsh_heap *heap = &job->heap;
    size_t off = align > HEAP_ALIGN ? WSH_ALLOC_NONE : block_take(job, size, align);

    if (off == WSH_ALLOC_NONE) {
        wsh_info(WSH_SUB_MEM,
                 "no room for %zu bytes: %zu free in the symmetric heap, largest block %zu; "
                 "set SHMEM_SYMMETRIC_SIZE to more",
                 size, wsh_alloc_free_bytes(heap->alloc), wsh_alloc_largest(heap->alloc));
        return WSH_ALLOC_NONE;
    }
    if (!commit_everywhere(job, off + size)) {
        wsh_alloc_put(heap->alloc, off);
        return WSH_ALLOC_NONE;
    }
    return off;
}

void *wsh_heap_malloc(struct wsh_job *job, size_t size, size_t align)
{
    size_t off = size ? get_everywhere(job, size, align) : WSH_ALLOC_NONE;

    return off == WSH_ALLOC_NONE ? NULL : job->heap.seg[WSH_SEG_HEAP].base + off;
}

void *wsh_heap_calloc(struct wsh_job *job, size_t count, size_t size)
{
    size_t bytes, off;
    char *ptr;

    if (__builtin_mul_overflow(count, size, &bytes) || !bytes)
        return NULL;
    off = get_everywhere(job, bytes, 0);
    if (off == WSH_ALLOC_NONE)
        return NULL;
    ptr = job->heap.seg[WSH_SEG_HEAP].base + off;
    memset(ptr, 0, bytes);
    if (wsh_barrier(&job->world, "shmem_calloc")) /* nobody may put into it before it is zero everywhere */
        wsh_job_abort(1);
    return ptr;
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

    if (ptr && wsh_device_heap_holds(job, ptr))
        return wsh_device_free(job, ptr);
    if (wsh_release_barrier(job, true, NULL, "shmem_free"))
        return -EIO;
    if (!ptr)
        return 0;
    off = live_offset(&job->heap, ptr);
    if (off == WSH_ALLOC_NONE)
        return log_not_live("shmem_free", ptr);
    wsh_alloc_put(job->heap.alloc, off);
    return 0;
}

/* In place where there is room behind, else by a copy; the old block stays whole when neither works. */
static size_t block_move(struct wsh_job *job, size_t off, size_t size)
{
    struct wsh_heap *heap = &job->heap;
    char *base = heap->seg[WSH_SEG_HEAP].base;
    size_t old = wsh_alloc_size(heap->alloc, off), moved;

    if (!wsh_alloc_resize(heap->alloc, off, size)) {
        if (commit_everywhere(job, off + size))
            return off;
        wsh_alloc_resize(heap->alloc, off, old);
        return WSH_ALLOC_NONE;
    }
    moved = get_everywhere(job, size, 0);
    if (moved == WSH_ALLOC_NONE)
        return moved;
    memcpy(base + moved, base + off, old < size ? old : size);
    wsh_alloc_put(heap->alloc, off);
    return wsh_barrier(&job->world, "shmem_realloc") ? WSH_ALLOC_NONE : moved;
}

void *wsh_heap_realloc(struct wsh_job *job, void *ptr, size_t size)
{
    size_t off;

    if (!ptr)
        return wsh_heap_malloc(job, size, 0);
    if (!size)
        return wsh_heap_free(job, ptr) ? wsh_job_abort(1), NULL : NULL;
    if (wsh_device_heap_holds(job, ptr))
        return wsh_device_realloc(job, ptr, size);
    if (wsh_barrier(&job->world, "shmem_realloc"))
        wsh_job_abort(1);
    off = live_offset(&job->heap, ptr);
    if (off == WSH_ALLOC_NONE && log_not_live("shmem_realloc", ptr))
        wsh_job_abort(1);
    off = block_move(job, off, size);
    return off == WSH_ALLOC_NONE ? NULL : job->heap.seg[WSH_SEG_HEAP].base + off;
}

void *wsh_heap_reserve(struct wsh_heap *heap, size_t size, size_t align)
{
    size_t off = wsh_alloc_get(heap->alloc, size, align);
    int rc = off == WSH_ALLOC_NONE ? -ENOMEM : heap_commit(heap, off + size, 1);

    if (rc) {
        log_no_heap(size, "the library's own words", -rc, false);
        return NULL;
    }
    heap_show(heap);
    return memset(heap->seg[WSH_SEG_HEAP].base + off, 0, size);
}
