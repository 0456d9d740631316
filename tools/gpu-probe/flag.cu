// SPDX-License-Identifier: BSD-3-Clause
// Round trips of a flag: GPU and CPU through several kinds of host memory, two GPUs through their device memory.
#include "device.cuh"
#include "probe.cuh"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t rounds = 5000;
static const uint64_t limit_ns = 1500000000;

enum flavour { RELAXED, RELEASE_ACQUIRE, RELAXED_FENCES };

template <int F> static __device__ bool turn_wait(const uint64_t *at, uint64_t value, uint64_t end)
{
    if (F == RELEASE_ACQUIRE) {
        for (unsigned n = 1; load_acquire(at) < value; n++)
            if (n % 64 == 0 && clock_ns() > end)
                return false;
        return true;
    }
    if (!wait_for(at, value, end))
        return false;
    if (F == RELAXED_FENCES)
        asm volatile("fence.acquire.sys;" ::: "memory");
    return true;
}

template <int F> static __device__ void turn_store(uint64_t *at, uint64_t value)
{
    if (F == RELEASE_ACQUIRE) {
        store_release(at, value);
        return;
    }
    if (F == RELAXED_FENCES)
        asm volatile("fence.acq_rel.sys;" ::: "memory");
    store_relaxed(at, value);
}

// out[0] = ns, out[1] = rounds made.
template <int F> static __global__ void play(uint64_t *mine, uint64_t *theirs, bool first, uint64_t *out)
{
    uint64_t start = clock_ns(), end = start + limit_ns, r;

    for (r = 1; r <= rounds; r++) {
        if (first)
            turn_store<F>(theirs, r);
        if (!turn_wait<F>(mine, r, end))
            break;
        if (!first)
            turn_store<F>(theirs, r);
    }
    out[0] = clock_ns() - start;
    out[1] = r - 1;
}

static void report_round_trip(const std::string &name, const uint64_t *out)
{
    say(name, out[1] == rounds ? "ok" : "failed: stopped by the limit",
        text("%.3f us round trip, %lu rounds", (double)out[0] / 1e3 / (double)(out[1] ? out[1] : 1),
             (unsigned long)out[1]));
}

// The CPU's side; its loads and stores of one word each are ordered on this processor.
static void answer_rounds(volatile uint64_t *from_gpu, volatile uint64_t *to_gpu)
{
    double end = now_us() + (double)limit_ns / 1e3;

    for (uint64_t r = 1; r <= rounds; r++) {
        while (*from_gpu < r)
            if (now_us() > end)
                return;
        *to_gpu = r;
        asm volatile("sfence" ::: "memory"); // pushes out a write-combining buffer
    }
}

// The GPU polls `down` and stores to `up`; both reach the CPU too.
static void with_cpu(const char *name, uint64_t *down, uint64_t *down_device, uint64_t *up,
                     uint64_t *up_device)
{
    uint64_t *out = (uint64_t *)pinned(64);

    if (!out)
        return;
    *down = *up = 0;
    play<RELAXED><<<1, 1>>>(down_device, up_device, true, out);
    if (!CHECK(cudaGetLastError()))
        return;
    answer_rounds(up, down);
    if (CHECK(cudaDeviceSynchronize()))
        report_round_trip(name, out);
}

static uint64_t *registered_memfd(uint64_t **device)
{
    int fd = memfd_create("warpshmem-probe", MFD_CLOEXEC);
    void *at = MAP_FAILED;

    if (fd < 0 || ftruncate(fd, 1 << 20) ||
        (at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
        return NULL;
    if (!CHECK(cudaHostRegister(at, 1 << 20, cudaHostRegisterMapped)) ||
        !CHECK(cudaHostGetDevicePointer((void **)device, at, 0)))
        return NULL;
    return (uint64_t *)at;
}

// An atomic of one lane on each kind of memory, waited for.
static __global__ void add_often(uint64_t *at, uint64_t *out)
{
    uint64_t start = clock_ns(), sum = 0;

    for (int i = 0; i < 1000; i++)
        sum += atomicAdd_system((unsigned long long *)at, 1ull + (sum >> 63));
    out[0] = clock_ns() - start;
    out[1] = sum;
}

static void atomic_cost(const char *name, uint64_t *at)
{
    uint64_t *out = (uint64_t *)pinned(64);

    if (!out)
        return;
    for (int twice = 0; twice < 2; twice++) {
        add_often<<<1, 1>>>(at, out);
        if (!CHECK(cudaDeviceSynchronize()))
            return;
    }
    say(text("atomic add, %s", name), "ok", text("%.3f us round trip", (double)out[0] / 1e6));
}

void ask_flag_host()
{
    uint64_t *host, *combining, *fd_device = NULL, *fd_host, *own;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    if (!CHECK(cudaSetDevice(0)) || !(host = (uint64_t *)pinned(1 << 20)))
        return;
    with_cpu("pinned (first use)", host, host, host + 64, host + 64);
    with_cpu("pinned", host, host, host + 64, host + 64);
    with_cpu("pinned, both flags in one line", host, host, host + 1, host + 1);
    combining = (uint64_t *)pinned(4096, cudaHostAllocMapped | cudaHostAllocWriteCombined);
    if (combining)
        with_cpu("write-combined towards the GPU", combining, combining, host, host);
    if ((fd_host = registered_memfd(&fd_device)))
        with_cpu("registered memfd", fd_host, fd_device, fd_host + 64, fd_device + 64);
    atomic_cost("pinned host memory", host);
    if (CHECK(cudaMalloc(&own, 4096)))
        atomic_cost("own memory", own);
}

struct table {
    uint64_t *word[2], *out[2];
    cudaStream_t stream[2];
};

template <int F> static void between(table *t, const char *name)
{
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMemset(t->word[d], 0, 4096));
        CHECK(cudaDeviceSynchronize());
    }
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        play<F><<<1, 1, 0, t->stream[d]>>>(t->word[d], t->word[1 - d], d == 0, t->out[d]);
        CHECK(cudaGetLastError());
    }
    for (int d = 0; d < 2; d++)
        CHECK(cudaStreamSynchronize(t->stream[d]));
    report_round_trip(name, t->out[0]);
}

void ask_flag_peer()
{
    table t = {};

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    for (int d = 0; d < 2; d++) {
        if (!CHECK(cudaSetDevice(d)) || !CHECK(cudaDeviceEnablePeerAccess(1 - d, 0)))
            return;
        if (!CHECK(cudaMalloc(&t.word[d], 4096)) || !(t.out[d] = (uint64_t *)pinned(64)))
            return;
        if (!CHECK(cudaStreamCreateWithFlags(&t.stream[d], cudaStreamNonBlocking)))
            return;
    }
    between<RELAXED>(&t, "relaxed (first use)");
    between<RELAXED>(&t, "relaxed");
    between<RELEASE_ACQUIRE>(&t, "st.release and ld.acquire");
    between<RELAXED_FENCES>(&t, "relaxed, fence.acq_rel before and fence.acquire after");
    CHECK(cudaSetDevice(0));
    atomic_cost("peer memory", t.word[1]);
}
