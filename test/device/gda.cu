/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kernels post to NICs themselves, from and to memory of host and GPU, at every scope and of all lengths: a kernel
 * whose last call is a put, a quiet whose sources are overwritten, signals behind a fence, puts behind a fence to the
 * same place by either way, gets, and values that their requests carry. How many requests went through the queues is
 * counted in the queues: as many as the calls make, or none of sources that NICs do not read.
 * paths: gpugda:2,4
 * timeout: 400
 */
#include "test/device/gda.cuh"

#define POISON 0xee

DEV_SCOPED(putmem_nbi)
DEV_SCOPED(getmem_nbi)
DEV_SCOPED(quiet)
DEV_SCOPED(fence)

/* Odd ones, those around a request's and a page's limits, and more than a part of a record takes. */
static const size_t lengths[] = {1, 7, 63, 64, 65, 4096, 12345, LEN_MAX};

template <int S> static __device__ void fill(unsigned char *to, size_t len, unsigned seed, bool poison)
{
    for (size_t i = S == THREAD ? 0 : threadIdx.x; i < len; i += S == THREAD ? 1 : blockDim.x)
        to[i] = poison ? POISON : pattern(i, seed);
    if (S == WARP)
        __syncwarp();
    if (S == BLOCK)
        __syncthreads();
}

static __global__ void fill_all(unsigned char *to, size_t len, unsigned seed)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < len; i += gridDim.x * blockDim.x)
        to[i] = pattern(i, seed);
}

static __global__ void compare(const unsigned char *at, size_t len, unsigned seed, struct dev_report *report)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < len; i += gridDim.x * blockDim.x)
        dev_expect(report, i, pattern(i, seed), at[i]);
}

/* The kernel fills what is short: by one thread a long source takes too long. */
template <int S> __global__ void put_last(struct place p, size_t len, unsigned seed)
{
    if (len <= SHORT)
        fill<S>(p.source, len, seed, false);
    dev_putmem_nbi<S>(p.data, p.source, len, p.peer);
}

template <int S> __global__ void put_quiet_poison(struct place p, size_t len, unsigned seed)
{
    if (len <= SHORT)
        fill<S>(p.source, len, seed, false);
    dev_putmem_nbi<S>(p.data, p.source, len, p.peer);
    dev_quiet<S>();
    fill<S>(p.source, len, seed, true);
    if (threadIdx.x == 0)
        shmem_signal_add(p.signal, 1, p.peer);
}

template <int S> __global__ void put_fence_signal(struct place p, size_t len, unsigned seed)
{
    if (len <= SHORT)
        fill<S>(p.source, len, seed, false);
    dev_putmem_nbi<S>(p.data, p.source, len, p.peer);
    dev_fence<S>();
    if (threadIdx.x == 0)
        shmem_signal_add(p.signal, 1, p.peer);
}

__global__ void receive(struct place p, size_t len, unsigned seed, uint64_t signals, struct dev_report *report)
{
    if (threadIdx.x == 0)
        shmem_signal_wait_until(p.signal, SHMEM_CMP_GE, signals);
    __syncthreads();
    for (size_t i = threadIdx.x; i < len; i += blockDim.x)
        dev_expect(report, i, pattern(i, seed), p.data[i]);
}

template <int S> __global__ void get_quiet(struct place p, size_t len)
{
    dev_getmem_nbi<S>(p.source, p.data, len, p.peer);
    dev_quiet<S>();
}

static void fill_long(struct place p, size_t len, unsigned seed)
{
    if (len > SHORT)
        fill_all<<<64, 256>>>(p.source, len, seed);
}

/* The last call of a kernel, then a barrier of the host. */
template <int S> static void run_last(struct place p, size_t len, unsigned seed, struct dev_report *report)
{
    struct gda_seen before = gda_look();

    fill_long(p, len, seed);
    put_last<S><<<1, dev_threads[S]>>>(p, len, seed);
    dev_wait();
    shmem_barrier_all();
    gda_expect(before, p.by_nic, "put_nbi, the end of the kernel, barrier");
    compare<<<64, 256>>>(p.data, len, seed ^ p.from, report);
    dev_check_report(report, "put_nbi, the end of the kernel, barrier");
    shmem_barrier_all();
}

template <int S> static void run_signals(struct place &p, size_t len, unsigned seed, struct dev_report *report)
{
    struct gda_seen before = gda_look();

    fill_long(p, len, seed);
    put_quiet_poison<S><<<1, dev_threads[S]>>>(p, len, seed);
    receive<<<1, 256>>>(p, len, seed ^ p.from, ++p.signals, report);
    dev_check_report(report, "put_nbi, quiet, source overwritten, signal");
    gda_expect(before, p.by_nic, "put_nbi, quiet, source overwritten, signal");
    shmem_barrier_all();
    fill_long(p, len, seed + 1);
    put_fence_signal<S><<<1, dev_threads[S]>>>(p, len, seed + 1);
    receive<<<1, 256>>>(p, len, (seed + 1) ^ p.from, ++p.signals, report);
    dev_check_report(report, "put_nbi, fence, signal");
    shmem_barrier_all();
    gda_open();
}

template <int S> static void run_get(struct place p, size_t len, unsigned seed, struct dev_report *report)
{
    struct gda_seen before;

    fill_all<<<64, 256>>>(p.data, len, seed);
    dev_wait();
    shmem_barrier_all();
    before = gda_look();
    get_quiet<S><<<1, dev_threads[S]>>>(p, len);
    compare<<<64, 256>>>(p.source, len, seed ^ p.from, report);
    dev_check_report(report, "get_nbi, quiet");
    gda_expect(before, p.by_nic, "get_nbi, quiet");
    shmem_barrier_all();
}

/* What is at `data` of this PE comes from its partner, with the partner's seed. */
template <int S> static void run(struct place &p, const char *kind, struct dev_report *report)
{
    dev_case("%s: %s scope", kind, dev_scope_name[S]);
    for (size_t len : lengths)
        for (long i = 0; i < mp_rounds(3, 50); i++) {
            run_last<S>(p, len, gda_seed(), report);
            run_signals<S>(p, len, gda_seed(), report);
            run_get<S>(p, len, gda_seed(), report);
        }
}

enum { LANES = 96, SMALL = 20 };

/* p of each lane, and a blocking put from its own memory, which is overwritten at once. */
__global__ void values_by_lanes(struct place p, unsigned seed)
{
    unsigned k = threadIdx.x;
    unsigned char mine[SMALL];
    uint64_t word = 0;

    for (int i = 8; i > 0; i--)
        word = word << 8 | pattern(k * 8 + i - 1, seed);
    shmem_uint64_p((uint64_t *)p.data + k, word, p.peer);
    for (int i = 0; i < SMALL; i++)
        mine[i] = pattern(LANES * 8 + k * SMALL + i, seed);
    shmem_putmem(p.data + LANES * 8 + k * SMALL, mine, SMALL, p.peer);
    for (int i = 0; i < SMALL; i++)
        ((volatile unsigned char *)mine)[i] = POISON;
}

static void run_values(struct place p, const char *kind, struct dev_report *report)
{
    dev_case("values to %s memory: %s", kind, p.values ? "in requests" : "by the proxy");
    for (long i = 0; i < mp_rounds(20, 500); i++) {
        struct gda_seen before = gda_look();
        unsigned seed = gda_seed();

        values_by_lanes<<<1, LANES>>>(p, seed);
        dev_wait();
        shmem_barrier_all();
        gda_expect(before, p.values ? 2 * LANES : 0, "values");
        compare<<<1, 256>>>(p.data, LANES * (8 + SMALL), seed ^ p.from, report);
        dev_check_report(report, "values");
        shmem_barrier_all();
    }
}

/* Where the local end lies. */
enum local { HEAP, HOST, PLAIN, SYMMETRIC, LOCAL, LOCALS };

static unsigned char *local_memory(enum local local)
{
    void *memory = NULL;

    if (local == HEAP)
        return (unsigned char *)dev_alloc(LEN_MAX);
    if (local == HOST)
        return (unsigned char *)mp_alloc(LEN_MAX);
    mp_check(!cudaMalloc(&memory, LEN_MAX), "cudaMalloc");
    if (local == SYMMETRIC)
        mp_check(shmemx_buffer_register_symmetric(memory, LEN_MAX, 0) == memory, "not registered");
    if (local == LOCAL)
        mp_check(!shmemx_buffer_register(memory, LEN_MAX), "not registered");
    return (unsigned char *)memory;
}

static void run_all(struct place &p, enum local local, bool to_gpu, struct dev_report *report)
{
    static const char *const names[LOCALS] = {"device heap", "host heap", "memory of cudaMalloc", "symmetric buffer",
                                              "local buffer"};
    char kind[80];

    snprintf(kind, sizeof kind, "%s to %s memory", names[local], to_gpu ? "device" : "host");
    p.source = local_memory(local);
    p.by_nic = gda_takes(p.source, p.data);
    mp_check(p.by_nic == (local <= HOST), "%s: NICs %s", kind, p.by_nic ? "take it" : "do not take it");
    DEV_EACH_SCOPE(run<S>(p, kind, report));
}

int main(void)
{
    struct dev_report *report;
    struct place p[2];

    gda_begin();
    report = (struct dev_report *)dev_share(sizeof *report);
    for (int to_gpu = 1; to_gpu >= 0; to_gpu--)
        p[to_gpu] = gda_place(to_gpu, LEN_MAX);
    for (int to_gpu = 1; to_gpu >= 0; to_gpu--) {
        p[to_gpu].values = gda_look().values;
        run_values(p[to_gpu], to_gpu ? "device" : "host", report);
    }
    for (int local = HEAP; local < LOCALS; local++)
        for (int to_gpu = 1; to_gpu >= 0; to_gpu--)
            run_all(p[to_gpu], (enum local)local, to_gpu, report);
    return dev_end();
}
