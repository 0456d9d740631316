// SPDX-License-Identifier: BSD-3-Clause
// Which CUDA calls wait for a spinning kernel. Each is made alone first, then beside the kernel.
#include "spin.cuh"

#include <stdlib.h>
#include <thread>

static const size_t small = 64;
static const size_t block_len = 1 << 20;

template <int N> static __global__ void never_run_before(uint64_t *out)
{
    out[N] = N;
}

static __constant__ uint64_t symbol_used[8];

static __global__ void use_symbol(uint64_t *out)
{
    out[0] = symbol_used[0];
}

static __global__ void tiny(uint64_t *out)
{
    out[1]++;
}

struct act {
    const char *name;
    cudaError_t (*run)(spin *s);
    bool once; // the first time is the question: not made alone before
};

static cudaError_t wait_others(spin *s)
{
    return cudaStreamSynchronize(s->others);
}

static cudaError_t copy_and_wait(spin *s, void *to, const void *from, size_t len, cudaMemcpyKind kind)
{
    cudaError_t r = cudaMemcpyAsync(to, from, len, kind, s->others);

    return r ? r : wait_others(s);
}

static cudaError_t launch_and_wait(spin *s, void (*kernel)(uint64_t *))
{
    kernel<<<1, 1, 0, s->others>>>((uint64_t *)s->device);
    return wait_others(s);
}

template <size_t LEN, cudaMemcpyKind KIND> static cudaError_t copy_kind(spin *s)
{
    char *to = KIND == cudaMemcpyDeviceToHost ? s->host : s->device + block_len;

    return copy_and_wait(s, to, KIND == cudaMemcpyHostToDevice ? s->host : s->device, LEN, KIND);
}

static cudaError_t copy_default(spin *s)
{
    return cudaMemcpy(s->device, s->host, small, cudaMemcpyHostToDevice);
}

static cudaError_t copy_driver(spin *s)
{
    return cuMemcpyHtoD((CUdeviceptr)s->device, s->host, small) ? cudaErrorUnknown : cudaSuccess;
}

static cudaError_t set_memory(spin *s)
{
    cudaError_t r = cudaMemsetAsync(s->device, 0, block_len, s->others);

    return r ? r : wait_others(s);
}

static cudaError_t run_tiny(spin *s)
{
    return launch_and_wait(s, tiny);
}

static cudaError_t run_new(spin *s)
{
    return launch_and_wait(s, never_run_before<1>);
}

static cudaError_t query_new(spin *)
{
    cudaFuncAttributes attributes;

    return cudaFuncGetAttributes(&attributes, never_run_before<2>);
}

static cudaError_t fill_symbol(spin *)
{
    uint64_t value = 1;

    return cudaMemcpyToSymbol(symbol_used, &value, sizeof value);
}

static cudaError_t fill_unloaded(spin *)
{
    return fill_other_module();
}

template <size_t LEN> static cudaError_t malloc_only(spin *)
{
    void *at;

    return cudaMalloc(&at, LEN);
}

static void *kept; // allocated before the kernel spins

static cudaError_t free_kept(spin *)
{
    return cudaFree(kept);
}

static cudaError_t malloc_async(spin *s)
{
    void *at = NULL;
    cudaError_t r = cudaMallocAsync(&at, block_len, s->others);

    if (!r)
        r = cudaFreeAsync(at, s->others);
    return r ? r : wait_others(s);
}

static cudaError_t host_alloc(spin *)
{
    static void *at;
    void *old = at;

    return old ? cudaFreeHost(old) : cudaHostAlloc(&at, block_len, cudaHostAllocMapped);
}

static cudaError_t host_register(spin *)
{
    void *at = aligned_alloc(4096, block_len);
    cudaError_t r = cudaHostRegister(at, block_len, cudaHostRegisterMapped);

    if (!r)
        r = cudaHostUnregister(at);
    return r;
}

static cudaError_t pageable(spin *s)
{
    static char buf[1 << 20];

    return copy_and_wait(s, s->device, buf, sizeof buf, cudaMemcpyHostToDevice);
}

static cudaError_t memops(spin *s)
{
    CUresult r = cuStreamWriteValue64((CUstream)s->others, (CUdeviceptr)(s->host + 64), 5, 0);

    if (!r)
        r = cuStreamWaitValue64((CUstream)s->others, (CUdeviceptr)(s->host + 64), 5,
                                CU_STREAM_WAIT_VALUE_GEQ);
    return r ? cudaErrorNotSupported : wait_others(s);
}

static cudaError_t make_stream(spin *)
{
    cudaStream_t stream;
    cudaError_t r = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    return r ? r : cudaStreamDestroy(stream);
}

static cudaError_t vmm_whole(spin *)
{
    CUmemAllocationProp prop = {};
    CUmemAccessDesc access = {};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at = 0;
    CUresult r;

    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    r = cuMemCreate(&handle, 2 << 20, &prop, 0);
    r = r ? r : cuMemAddressReserve(&at, 2 << 20, 0, 0, 0);
    r = r ? r : cuMemMap(at, 2 << 20, 0, handle, 0);
    r = r ? r : cuMemSetAccess(at, 2 << 20, &access, 1);
    r = r ? r : cuMemUnmap(at, 2 << 20);
    r = r ? r : cuMemRelease(handle);
    return r ? cudaErrorUnknown : cudaSuccess;
}

static cudaError_t graph(spin *s)
{
    cudaGraphExec_t exec;
    cudaGraph_t made;
    cudaError_t r = cudaStreamBeginCapture(s->others, cudaStreamCaptureModeThreadLocal);

    if (r)
        return r;
    tiny<<<1, 1, 0, s->others>>>((uint64_t *)s->device);
    if ((r = cudaStreamEndCapture(s->others, &made)) || (r = cudaGraphInstantiate(&exec, made, 0)) ||
        (r = cudaGraphLaunch(exec, s->others)))
        return r;
    return wait_others(s);
}

static cudaError_t host_function(spin *s)
{
    cudaError_t r = cudaLaunchHostFunc(
        s->others, [](void *) {}, NULL);

    return r ? r : wait_others(s);
}

static const act acts[] = {
    {"copy 64 B to the device, our stream", copy_kind<small, cudaMemcpyHostToDevice>, false},
    {"copy 64 B to the host, our stream", copy_kind<small, cudaMemcpyDeviceToHost>, false},
    {"copy 1 MiB to the host, our stream", copy_kind<block_len, cudaMemcpyDeviceToHost>, false},
    {"copy 64 B inside the device, our stream", copy_kind<small, cudaMemcpyDeviceToDevice>, false},
    {"copy 1 MiB inside the device, our stream", copy_kind<block_len, cudaMemcpyDeviceToDevice>, false},
    {"copy 1 MiB pageable, our stream", pageable, false},
    {"cudaMemcpy 64 B, default stream", copy_default, false},
    {"cuMemcpyHtoD 64 B", copy_driver, false},
    {"memset on our stream", set_memory, false},
    {"kernel already run, our stream", run_tiny, false},
    {"host function on our stream", host_function, false},
    {"stream write and wait value, our stream", memops, false},
    {"cudaMallocAsync and free, our stream", malloc_async, false},
    {"kernel never run before (lazy loading)", run_new, true},
    {"cudaFuncGetAttributes of such a kernel", query_new, true},
    {"cudaMemcpyToSymbol, loaded module", fill_symbol, false},
    {"cudaMemcpyToSymbol, module not loaded yet", fill_unloaded, true},
    {"cudaMalloc 1 MiB", malloc_only<block_len>, false},
    {"cudaMalloc 64 MiB", malloc_only<(size_t)64 << 20>, false},
    {"cudaFree", free_kept, true},
    {"cudaHostAlloc", host_alloc, true},
    {"cudaFreeHost", host_alloc, true},
    {"cudaHostRegister and unregister", host_register, false},
    {"cudaStreamCreate and destroy", make_stream, false},
    {"cuMemCreate, map, unmap, release", vmm_whole, false},
    {"graph: capture, instantiate, launch", graph, false},
};
static const size_t stream_acts = 13; // the first of them need nothing but a stream

static double timed(spin *s, const act &a, cudaError_t *r)
{
    double start = now_us();

    *r = a.run(s);
    cudaGetLastError();
    return now_us() - start;
}

static bool ask_act(spin *s, const act &a)
{
    cudaError_t alone = cudaSuccess, beside;
    double us_alone = a.once ? 0 : timed(s, a, &alone), us;

    if (!spin_begin(s))
        return false;
    us = timed(s, a, &beside);
    if (!spin_end(s))
        return false;
    say(a.name,
        beside || alone ? "failed: " + name_of(beside ? beside : alone)
                        : (us > (double)spin_limit_ns / 2e3 ? "WAITS for the kernel" : "does not wait"),
        text("%.0f us beside it, %.0f us alone", us, us_alone));
    return true;
}

// Everything but the acts that ask for the first time.
static void warm_up(spin *s)
{
    CHECK(cudaMalloc(&kept, block_len));
    launch_and_wait(s, use_symbol);
    launch_and_wait(s, tiny);
}

void ask_spin()
{
    spin s;

    if (!spin_init(&s, 1, 32))
        return;
    warm_up(&s);
    for (const auto &a : acts)
        if (!ask_act(&s, a))
            return;
}

// The same beside a kernel that leaves no room on any multiprocessor: copies and stream operations only.
void ask_spin_full()
{
    int count = 0, each = 0;
    spin s;

    if (!CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0)) ||
        !CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, spin_kernel, 1024, 0)))
        return;
    if (!spin_init(&s, count * each, 1024))
        return;
    warm_up(&s);
    say("blocks that fill the device", "ok", text("%d", s.blocks));
    for (size_t i = 0; i < stream_acts; i++)
        if (!ask_act(&s, acts[i]))
            return;
}

// How many launches fit behind the spinning kernel before the launching thread waits; returns at the kernel's end.
static int launches_before_wait(spin *s)
{
    double start;
    int n = 0;

    for (; n < 5000; n++) {
        start = now_us();
        tiny<<<1, 1, 0, s->mine>>>((uint64_t *)s->device);
        if (now_us() - start > 20000)
            break;
    }
    return n;
}

// A thread whose launch queue is full: does it hold up another thread's copies on another stream?
static void full_queue(spin *s)
{
    int count = 0;
    double us;
    cudaError_t r;

    if (!spin_begin(s))
        return;
    std::thread filler([&] { count = launches_before_wait(s); });
    sleep_us(150000);
    us = timed(s, acts[0], &r);
    say("copy beside a thread with a full launch queue",
        us > (double)spin_limit_ns / 4e3 ? "WAITS" : "does not wait",
        text("%.0f us, %s", us, name_of(r).c_str()));
    filler.join();
    spin_end(s);
    say("launches behind the kernel before the thread waits", count == 5000 ? "no wait" : "ok",
        text("%d", count));
}

// Streams share hardware queues: from which stream on does a small kernel wait for the spinning one?
static void many_streams(spin *s)
{
    cudaStream_t streams[64];
    double start;
    int i;

    for (auto &stream : streams)
        if (!CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)))
            return;
    if (!spin_begin(s))
        return;
    for (i = 0; i < 64; i++) {
        start = now_us();
        tiny<<<1, 1, 0, streams[i]>>>((uint64_t *)s->device);
        cudaStreamSynchronize(streams[i]);
        if (now_us() - start > (double)spin_limit_ns / 4e3)
            break;
    }
    spin_end(s);
    say("streams that run beside it before one waits", i == 64 ? "none waits" : "one waits",
        text("%d of 64", i));
}

void ask_spin_queue()
{
    spin s;

    if (!spin_init(&s, 1, 32))
        return;
    warm_up(&s);
    full_queue(&s);
    many_streams(&s);
}
