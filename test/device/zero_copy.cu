/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking puts and gets of kernels to another host, whose local end lies in the host heap, in the device heap, in a
 * buffer that all PEs or this one alone has registered, or in memory that nobody has: sources are overwritten right
 * after the quiet, and what a get brings is read right after it. Then what the proxy has counted: no payload went
 * through host memory where the transports use the memory, none at all where kernels post to NICs themselves.
 * paths: gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2,4
 * timeout: 300
 */
#include "test/device/dev.cuh"

#define WORDS_MAX ((size_t)30000)
#define POISON 0xeeeeeeeeeeeeeeeeu

DEV_SCOPED(uint64_put_nbi)
DEV_SCOPED(uint64_put_signal_nbi)
DEV_SCOPED(uint64_get_nbi)
DEV_SCOPED(uint64_put)
DEV_SCOPED(quiet)

struct place {
    uint64_t *source, *target; /* local ends */
    uint64_t *data, *signal;   /* at the far PE */
    int peer;
};

static __device__ uint64_t value(uint64_t round, int from, size_t i)
{
    return round * 1000003 + (uint64_t)from * 7919 + i;
}

template <int S> static __device__ void fill(uint64_t *to, size_t words, uint64_t round, bool poison)
{
    for (size_t i = S == THREAD ? 0 : threadIdx.x; i < words; i += blockDim.x)
        to[i] = poison ? POISON : value(round, shmem_my_pe(), i);
}

template <int S> static __device__ void scope_sync()
{
    if (S == WARP)
        __syncwarp();
    if (S == BLOCK)
        __syncthreads();
}

/* Odd rounds: with a signal. Every third round: a blocking put, whose source is overwritten without a quiet. */
template <int S> __global__ void send(struct place p, size_t words, uint64_t round)
{
    fill<S>(p.source, words, round, false);
    if (round % 2)
        dev_uint64_put_signal_nbi<S>(p.data, p.source, words, p.signal, (uint64_t)1, SHMEM_SIGNAL_ADD, p.peer);
    else if (round % 3)
        dev_uint64_put_nbi<S>(p.data, p.source, words, p.peer);
    else
        dev_uint64_put<S>(p.data, p.source, words, p.peer);
    if (round % 2 || round % 3)
        dev_quiet<S>();
    fill<S>(p.source, words, round, true);
    scope_sync<S>();
    if (round % 2 || threadIdx.x)
        return;
    shmem_quiet();
    shmem_signal_add(p.signal, 1, p.peer);
}

__global__ void receive(struct place p, size_t words, uint64_t round, struct dev_report *report)
{
    if (threadIdx.x == 0)
        shmem_signal_wait_until(p.signal, SHMEM_CMP_GE, round);
    __syncthreads();
    for (size_t i = threadIdx.x; i < words; i += blockDim.x)
        dev_expect(report, i, value(round, p.peer, i), p.data[i]);
}

template <int S> __global__ void fetch(struct place p, size_t words, uint64_t round, struct dev_report *report)
{
    fill<S>(p.target, words, round, true);
    scope_sync<S>();
    dev_uint64_get_nbi<S>(p.target, p.data, words, p.peer);
    dev_quiet<S>();
    for (size_t i = S == THREAD ? 0 : threadIdx.x; i < words; i += blockDim.x)
        dev_expect(report, i, value(round, shmem_my_pe(), i), p.target[i]);
}

static uint64_t rounds;

template <int S> static void run(struct place p, const char *kind, struct dev_report *report)
{
    static const size_t words[] = {1, 63, 64, 1000, 8193, WORDS_MAX};

    dev_case("%s: %s scope", kind, dev_scope_name[S]);
    for (size_t len : words)
        for (int i = 0; i < mp_rounds(3, 100); i++) {
            rounds++;
            send<S><<<1, dev_threads[S]>>>(p, len, rounds);
            receive<<<1, 256>>>(p, len, rounds, report);
            dev_check_report(report, "put, quiet, source overwritten");
            shmem_barrier_all();
            fetch<S><<<1, dev_threads[S]>>>(p, len, rounds, report);
            dev_check_report(report, "get_nbi, quiet");
            shmem_barrier_all();
        }
}

__global__ void put_long(struct place p)
{
    shmem_uint64_put_nbi(p.data, p.source, WORDS_MAX, p.peer);
    shmem_uint64_get_nbi(p.target, p.data, WORDS_MAX, p.peer);
    shmem_quiet();
}

/* `zero_copy`: the transports use the local memory themselves; `posted`: by what kernels post, past the proxy. */
static void copies_nothing(struct place p, const char *kind, bool zero_copy, bool posted)
{
    const uint64_t len = posted ? 0 : 2 * WORDS_MAX * 8;

    shmemx_stats_t before, after;
    uint64_t moved, copied;

    dev_case("%s: bytes through host memory", kind);
    shmemx_stats(&before, sizeof before);
    put_long<<<1, 1>>>(p);
    dev_wait();
    shmemx_stats(&after, sizeof after);
    moved = after.proxy_bytes - before.proxy_bytes;
    copied = after.proxy_copied_bytes - before.proxy_copied_bytes;
    mp_check(moved == len, "%llu bytes moved", (unsigned long long)moved);
    mp_check(copied == (zero_copy ? 0 : len), "%llu bytes copied", (unsigned long long)copied);
    shmem_barrier_all();
}

/* Where the local ends lie. */
enum local { HEAP, HOST, SYMMETRIC, LOCAL, PLAIN, LOCALS };

static uint64_t *local_memory(enum local local)
{
    void *memory = NULL;

    if (local == HEAP)
        return (uint64_t *)dev_alloc(WORDS_MAX * 8);
    if (local == HOST)
        return (uint64_t *)mp_alloc(WORDS_MAX * 8);
    mp_check(!cudaMalloc(&memory, WORDS_MAX * 8), "cudaMalloc");
    if (local == SYMMETRIC)
        mp_check(shmemx_buffer_register_symmetric(memory, WORDS_MAX * 8, 0) == memory, "not registered");
    if (local == LOCAL)
        mp_check(!shmemx_buffer_register(memory, WORDS_MAX * 8), "not registered");
    return (uint64_t *)memory;
}

static void run_all(int peer, enum local local, bool to_gpu, struct dev_report *report)
{
    static const char *const names[LOCALS] = {"device heap", "host heap", "symmetric buffer", "local buffer",
                                              "memory of cudaMalloc"};
    char kind[80];
    struct place p;

    snprintf(kind, sizeof kind, "%s to %s memory", names[local], to_gpu ? "device" : "host");
    rounds = 0;
    p.source = local_memory(local);
    p.target = local_memory(local);
    p.data = (uint64_t *)(to_gpu ? dev_alloc(WORDS_MAX * 8) : mp_alloc(WORDS_MAX * 8));
    p.signal = (uint64_t *)(to_gpu ? dev_alloc(8) : mp_alloc(8));
    p.peer = peer;
    mp_check(!shmem_ptr(p.data, peer), "PE %d is not on another host", peer);
    DEV_EACH_SCOPE(run<S>(p, kind, report));
    copies_nothing(p, kind, local == HOST || (local != PLAIN && (mp_path_is("gpuhmemefa") || mp_path_is("gpugda"))),
                   local <= HOST && mp_path_is("gpugda"));
}

int main(void)
{
    struct dev_report *report;
    int peer;

    dev_begin();
    report = (struct dev_report *)dev_share(sizeof *report);
    peer = (mp_me + mp_npes / 2) % mp_npes;
    for (int local = HEAP; local < LOCALS; local++) /* that first, which attaches the GPU */
        for (int to_gpu = 1; to_gpu >= 0; to_gpu--)
            run_all(peer, (enum local)local, to_gpu, report);
    return dev_end();
}
