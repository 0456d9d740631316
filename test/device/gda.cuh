/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of kernels that post to NICs share: memory, a partner on the other host, and counts of requests. */
#ifndef WSH_TEST_DEVICE_GDA_CUH
#define WSH_TEST_DEVICE_GDA_CUH

#include "device/nic/gda.h"
#include "test/device/dev.cuh"

#define LEN_MAX (((size_t)1 << 20) + 12345)
#define SHORT ((size_t)4096)

struct place {
    unsigned char *source; /* local */
    unsigned char *data;   /* at the partner and here */
    uint64_t *signal;
    uint64_t signals; /* that have come to it */
    int peer;
    unsigned from; /* a seed of this PE's ^ from is the partner's */
    bool by_nic;   /* requests in queues, and not records for the proxy */
    bool values;   /* so are p and short blocking puts */
};

/* Of all queues. */
struct gda_seen {
    unsigned long long rung, posted, mark;
    unsigned has, queues, values, rails, entries, entry_words, max_batch, counters, local, remote;
    unsigned long long fences, over;
    unsigned takes, open;
};

static struct gda_seen *gda_shared;

static inline __host__ __device__ unsigned char pattern(size_t i, unsigned seed)
{
    return (unsigned char)(i * 131 ^ i >> 8 ^ i >> 16 ^ seed * 2654435761u >> 24);
}

/* Seeds of a PE: its number above 12 bits, so that one of the partner's is one of this PE's ^ from. */
static unsigned seed_of(int pe)
{
    return (unsigned)(pe + 1) << 12;
}

/* This PE's next seed, and three more; in step with the other PEs. */
static unsigned gda_seed(void)
{
    static unsigned rounds;

    return seed_of(mp_me) + rounds++ % 1024 * 4;
}

/* Only a compiler for GPUs sees the device code. */
static __global__ void gda_look_kernel(struct gda_seen *seen)
{
#ifdef __CUDA_ARCH__
    const struct wsh_gda *gda = wsh_dev_gda();

    seen->has = wsh_dev_has_gda();
    if (!seen->has)
        return;
    for (unsigned q = 0; q < gda->n_all; q++) {
        seen->rung += gda->queue[q].rung;
        seen->posted += wsh_dev_gda_marks(&gda->queue[q])->posted;
        seen->mark += wsh_ptx_poll(&wsh_dev_gda_marks(&gda->queue[q])->mark);
    }
    seen->queues = gda->n_queues;
    seen->values = gda->n_values;
    seen->rails = gda->n_rails;
    seen->entries = gda->queue[0].entries;
    seen->entry_words = gda->queue[0].entry_words;
    seen->max_batch = gda->queue[0].max_batch;
    seen->counters = gda->n_counters;
    seen->local = gda->queue[0].usable;
    for (int i = 0; i < WSH_GDA_SEGS; i++)
        seen->remote |= (gda->local[i].length != 0) << i;
    seen->fences = gda->fences;
    seen->over = gda->fences_over;
#else
    (void)seen;
#endif
}

static __global__ void gda_takes_kernel(struct gda_seen *seen, void *dest, void *source, int pe)
{
#ifdef __CUDA_ARCH__
    struct wsh_gda *gda = wsh_dev_gda();
    struct wsh_dev_gda_request request;

    seen->takes = wsh_dev_gda_request_of(gda, wsh_dev_gda_queue(gda),
                                         wsh_dev_gda_transfer{dest, source, 1, pe, 0, false}, &request);
#else
    (void)seen, (void)dest, (void)source, (void)pe;
#endif
}

static __global__ void gda_open_kernel(struct gda_seen *seen)
{
#ifdef __CUDA_ARCH__
    seen->open = wsh_dev_gda_is_open();
#else
    (void)seen;
#endif
}

/* When nothing runs on the GPU. */
static struct gda_seen gda_look(void)
{
    dev_wait();
    memset(gda_shared, 0, sizeof *gda_shared);
    gda_look_kernel<<<1, 1>>>(gda_shared);
    dev_wait();
    return *gda_shared;
}

/* Where this PE's partner is, on the other host. */
static int gda_peer(void)
{
    return (mp_me + mp_npes / 2) % mp_npes;
}

static bool gda_takes(void *source, void *dest)
{
    gda_shared->takes = 0;
    gda_takes_kernel<<<1, 1>>>(gda_shared, dest, source, gda_peer());
    dev_wait();
    return gda_shared->takes;
}

/* So many requests went through the queues since `before`. */
static void gda_expect(const struct gda_seen &before, unsigned long long requests, const char *what)
{
    struct gda_seen now = gda_look();

    mp_check(now.rung - before.rung == requests,
             "%s: %llu requests in queues, not %llu (fences %llu, over %llu)", what, now.rung - before.rung, requests,
             now.fences, now.over);
    mp_check(now.rung == now.posted, "%s: %llu rung, %llu posted", what, now.rung, now.posted);
}

/* All requests posted are complete. To be called after a quiet or barrier of all PEs. */
static inline void gda_expect_complete(const char *what)
{
    struct gda_seen now = gda_look();

    mp_check(now.mark == now.posted, "%s: %llu posted, %llu complete", what, now.posted, now.mark);
}

/*
 * Behind a barrier of the host: all is complete that fences were for. Whether kernels post again at once depends on
 * whether they know; here they are let know.
 */
static void gda_open(void)
{
    double until = mp_now() + 5;

    do {
        gda_open_kernel<<<1, 1>>>(gda_shared);
        dev_wait();
    } while (!gda_shared->open && mp_now() < until);
    mp_check(gda_shared->open, "5 s behind a barrier kernels still may not post to NICs");
}

/* `len` bytes and a signal at both partners. */
static struct place gda_place(bool to_gpu, size_t len)
{
    struct place p = {};

    p.data = (unsigned char *)(to_gpu ? dev_alloc(len) : mp_alloc(len));
    p.signal = (uint64_t *)(to_gpu ? dev_alloc(8) : mp_alloc(8));
    p.peer = gda_peer();
    p.from = seed_of(mp_me) ^ seed_of(p.peer);
    mp_check(!shmem_ptr(p.data, p.peer), "PE %d is not on another host", p.peer);
    return p;
}

/* Says what there is. */
static void gda_begin(void)
{
    struct gda_seen seen;

    dev_begin();
    gda_shared = (struct gda_seen *)dev_share(sizeof *gda_shared);
    shmemx_free_device(dev_alloc(8)); /* attaches the GPU */
    seen = gda_look();
    if (!seen.has)
        mp_skip("kernels do not post to NICs here (SHMEM_GDA=off?)");
    mp_note("%u queues of %u requests of %u words, %u a doorbell, on %u NICs; %u for values", seen.queues, seen.entries,
            seen.entry_words, seen.max_batch, seen.rails, seen.values);
    mp_note("segments here %#x, there %#x; %u counters of NICs", seen.local, seen.remote, seen.counters);
}

#endif
