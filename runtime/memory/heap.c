/* SPDX-License-Identifier: BSD-3-Clause */
/* The symmetric host heap: reserves and commits its memory. */
#define _GNU_SOURCE
#include "runtime/memory/heap.h"

#include "base/invariant.h"
#include "runtime/memory/alloc.h"
#include "runtime/memory/commit.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/memory/numa.h"
#include "runtime/memory/static_data.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* Maps `fd` at an address aligned to WSH_HEAP_ALIGN, so that equal offsets are equally aligned on every PE. */
static char *map_aligned(int fd, size_t len)
{
    char *reserved =
        mmap(NULL, len + WSH_HEAP_ALIGN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *base;

    if (reserved == MAP_FAILED)
        return MAP_FAILED;
    base = (char *)round_up((size_t)reserved, WSH_HEAP_ALIGN);
    if (base > reserved)
        munmap(reserved, (size_t)(base - reserved));
    munmap(base + len, (size_t)(reserved + WSH_HEAP_ALIGN - base));
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

int wsh_heap_commit(struct wsh_heap *heap, size_t end, int n_sharing)
{
    int rc;

    end = round_up(end, heap->page);
    if (end <= heap->committed)
        return 0;
    rc = wsh_commit(heap->seg[WSH_SEG_HEAP].fd, heap->committed, end, n_sharing);
    if (!rc)
        heap->committed = end;
    WSH_INVARIANT(heap->committed <= heap->seg[WSH_SEG_HEAP].len);
    return rc;
}

int wsh_heap_commit_range(const struct wsh_heap *heap, size_t off, size_t len, int n_sharing)
{
    const struct wsh_segment *seg = &heap->seg[WSH_SEG_HEAP];
    int rc = wsh_commit(seg->fd, off, off + len, n_sharing);

    if (!rc && heap->core_dump == WSH_CORE_OWN)
        madvise(seg->base + off, len, MADV_DODUMP);
    return rc;
}

void wsh_heap_show(const struct wsh_heap *heap)
{
    if (heap->core_dump == WSH_CORE_OWN)
        madvise(heap->seg[WSH_SEG_HEAP].base, heap->committed, MADV_DODUMP);
}

void *wsh_heap_reserve(struct wsh_heap *heap, size_t size, size_t align)
{
    size_t off = wsh_alloc_get(heap->alloc, size, align);
    int rc = off == WSH_ALLOC_NONE ? -ENOMEM : wsh_heap_commit(heap, off + size, 1);

    if (rc) {
        log_no_heap(size, "the library's own words", -rc, false);
        return NULL;
    }
    wsh_heap_show(heap);
    return memset(heap->seg[WSH_SEG_HEAP].base + off, 0, size);
}
