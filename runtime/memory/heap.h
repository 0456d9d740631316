/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The symmetric segments of this PE (static data, host heap), and the translation of an address into (segment, offset).
 */
#ifndef WSH_HEAP_H
#define WSH_HEAP_H

#include "base/ranges.h"
#include "runtime/memory/static_image.h"
#include "transports/transport.h"

struct wsh_alloc;
struct wsh_job;

struct wsh_segment {
    char *base; /* NULL = this segment does not exist */
    size_t len;
    int fd; /* shared memory behind it, or -1 */
};

struct wsh_heap {
    struct wsh_segment seg[WSH_SEGS];
    struct wsh_alloc *alloc;                /* of the host heap */
    int core_dump;                          /* enum wsh_env_core: what of the host heap core dumps hold */
    size_t page;                            /* granule in which memory is committed */
    uint64_t finished;                      /* allocations, resizings and releases that all PEs have made */
    size_t committed;                       /* first offset of the host heap without memory behind it */
    const struct wsh_static_ranges *ranges; /* of static data, where it has gaps; else NULL */
    struct wsh_ranges *device; /* segments from WSH_SEG_DEVICE on by address; NULL: the GPU is not attached */
};

/* Makes the segments from the settings. One line and a negative errno when a heap cannot be created. */
int wsh_heap_init(struct wsh_heap *heap, const struct wsh_env *env);
void wsh_heap_fini(struct wsh_heap *heap);

static inline bool wsh_segment_holds(const struct wsh_segment *seg, const void *addr, size_t len, size_t *off)
{
    size_t at = (size_t)((const char *)addr - seg->base);

    if (at >= seg->len || len > seg->len - at)
        return false;
    *off = at;
    return true;
}

/* The same as wsh_heap_find, of device memory. */
int wsh_heap_find_device(const struct wsh_heap *heap, const void *addr, size_t len, size_t *off);

/* The segment that holds [addr, addr + len), or -1; *off is the offset in it. */
static WSH_INLINE int wsh_heap_find(const struct wsh_heap *heap, const void *addr, size_t len, size_t *off)
{
    for (int seg = WSH_SEG_HEAP; seg >= WSH_SEG_STATIC; seg--)
        if (wsh_likely(wsh_segment_holds(&heap->seg[seg], addr, len, off)))
            return wsh_unlikely(seg == WSH_SEG_STATIC && heap->ranges) &&
                           !wsh_static_ranges_hold(heap->ranges, addr, len)
                       ? -1
                       : seg;
    return heap->device ? wsh_heap_find_device(heap, addr, len, off) : -1;
}

/* The largest alignment that shmem_align can keep: address space is cheap. */
#define WSH_HEAP_ALIGN ((size_t)1 << 30)

/* Puts memory behind [0, end) of the heap, so that no later store can fail. 0 or a negative errno. */
int wsh_heap_commit(struct wsh_heap *heap, size_t end, int n_sharing);
/* The same of a range of whole pages. */
int wsh_heap_commit_range(const struct wsh_heap *heap, size_t off, size_t len, int n_sharing);
/* In a core dump: never what has no memory behind it, which the dump would put there. */
void wsh_heap_show(const struct wsh_heap *heap);

/*
 * Symmetric allocation, collective over all PEs with equal arguments: zero-byte requests give NULL; `align` is a
 * power of two, at least sizeof(void *). NULL on every PE when any PE lacks the memory. Barriers as
 * the specification asks (on exit of malloc/calloc/align/realloc, on entry of free and realloc).
 */
void *wsh_heap_malloc(struct wsh_job *job, size_t size, size_t align);
void *wsh_heap_calloc(struct wsh_job *job, size_t count, size_t size);
void *wsh_heap_realloc(struct wsh_job *job, void *ptr, size_t size);
/* -EINVAL (logged with the address) when ptr is not the start of a live allocation; NULL is not an error. */
int wsh_heap_free(struct wsh_job *job, void *ptr);

/* Local, without barrier: for the library's own synchronization words, in the same order on all PEs. Zeroed. */
void *wsh_heap_reserve(struct wsh_heap *heap, size_t size, size_t align);

#endif
