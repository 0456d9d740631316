/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the producers of the queue benchmark have to do, whether they are CPU threads (cpu.cc) or lanes of a kernel
 * (gpu.cu). Read by C, C++ and CUDA.
 */
#ifndef PERFTEST_PROXY_QUEUE_H
#define PERFTEST_PROXY_QUEUE_H

#include "device/proxy/ring.h"

#ifdef __cplusplus
extern "C" {
#endif

enum queue_what {
    QUEUE_PUT,       /* puts of `len` bytes, each after a fresh store of its payload and a release */
    QUEUE_ZERO_COPY, /* zero-copy puts of `len` bytes, each after a release */
    QUEUE_BLOCKING,  /* the same, with a quiet after each */
    QUEUE_ACK,       /* fetching additions, each waited for: the round trip through the proxy */
    QUEUE_QUIET,     /* rounds of `outstanding` puts and a quiet; the quiet counts */
    QUEUE_FLAG       /* one word to the CPU and one back, without a ring: the limit */
};

struct queue_work {
    enum queue_what what;
    uint32_t producers, block; /* CPU threads or lanes; so many of them share a ring */
    uint32_t each;             /* operations or rounds of each producer */
    uint32_t len; /* bytes, a multiple of 8, at most WSH_RING_PART; of zero-copy puts they lie in the heap */
    uint32_t outstanding;
    uint32_t n_pes;
    uint64_t heap, heap_len; /* targets: a power of two of bytes, at the same address of every PE */
};

/* Of the bare round trip. */
struct queue_flag {
    WSH_RING_ALIGN(128) uint64_t there;
    WSH_RING_ALIGN(128) uint64_t back;
};

/* Where the rings lie: in the host's memory, in memory that the driver moves, in the GPU's as GDRCopy maps it. */
enum queue_where { QUEUE_PINNED, QUEUE_MANAGED, QUEUE_GDR, QUEUE_MEMORIES };

/*
 * Memory that producers and CPU share: zeroed. The heads are the producers' own. `ring` and `flag` are the CPU's
 * addresses; producers have others where the memory is the GPU's.
 */
struct queue_memory {
    struct wsh_ring *ring; /* [n] */
    struct wsh_ring_heads *heads;
    uint32_t n, each; /* each: rings of one consumer */
    struct queue_flag *flag;
    enum queue_where where;
    char *theirs; /* the producers' address of ring[0], and of the flag behind the rings */
    void *own;    /* what frees it */
};

/* Word i of what is put at offset `off` of a PE. */
static inline
#ifdef __CUDACC__
    __host__ __device__
#endif
        uint64_t
        queue_value(uint64_t pe, uint64_t off, uint64_t i)
{
    return (pe + 1) * 0x9e3779b97f4a7c15u ^ (off + i * 8);
}

/* "CPU threads" or the GPU's name; NULL: there is none, and *why says so. */
const char *queue_producers(const char **why);

/* Why there are no rings in such memory here, or NULL. */
const char *queue_lacks(enum queue_where where);

/* n rings and what goes with them: 0, or -1. `each` is the caller's. */
int queue_memory_open(struct queue_memory *memory, uint32_t n, enum queue_where where);
void queue_memory_close(struct queue_memory *memory);

/* Until all producers have done their work. Returns ns an operation or round as they saw it, or -1. */
double queue_run(const struct queue_memory *memory, const struct queue_work *work);

#ifdef __cplusplus
}
#endif

#endif
