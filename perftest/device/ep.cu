/* SPDX-License-Identifier: BSD-3-Clause */
/* Expert parallelism in memory of the GPU: dispatch and combine by kernels on a stream, timed by events. */
#include <shmemx_ep.h>

extern "C" {
#include "perftest/ep/moe.h"
}

#include <stdlib.h>

#define EP_HOLD_US 600      /* how far the host is ahead of the stream */
#define EP_COPY_THREADS 1024
#define EP_COPY_DEEP 4      /* loads of a thread in flight */
#define EP_COMPUTE_THREADS 256

static cudaStream_t ep_stream;
static cudaEvent_t ep_marks[MOE_CHUNK * MOE_MARKS];
static int ep_gpus, ep_sms, ep_share; /* share: of the SMs, where several PEs have the GPU */
static float *ep_computed;
static cudaGraphExec_t ep_graph;

static void ep_cuda(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    perf_complain("%s: %s", what, cudaGetErrorString(status));
    shmem_global_exit(PERF_FAILED);
}

/* Some time, for the host to put what follows into the stream. */
static __global__ void ep_hold(int us)
{
    for (int i = 0; i < us; i += 10)
        __nanosleep(10000);
}

/* Just as long as it says, without sleep's coarse steps. */
static __global__ void ep_late(long us)
{
    unsigned long long now, until;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    until = now + (unsigned long long)us * 1000;
    while (now < until)
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
}

/* `n` words of 16 bytes, which go around in `window` of them, a power of two; past L1, where they would stay. */
static __global__ void __launch_bounds__(EP_COPY_THREADS) ep_copy(uint4 *to, const uint4 *from, size_t n, size_t window)
{
    size_t lanes = (size_t)gridDim.x * blockDim.x, at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint4 words[EP_COPY_DEEP];

    for (; at < n; at += EP_COPY_DEEP * lanes) {
        for (int i = 0; i < EP_COPY_DEEP; i++)
            if (at + i * lanes < n)
                words[i] = __ldcg(&from[(at + i * lanes) & (window - 1)]);
        for (int i = 0; i < EP_COPY_DEEP; i++)
            if (at + i * lanes < n)
                to[(at + i * lanes) & (window - 1)] = words[i];
    }
}

static __global__ void ep_compute(long rounds, float *result)
{
    float sum = threadIdx.x;

    for (long i = 0; i < rounds; i++)
        sum = sum * 0.999f + 1.0f;
    if (sum < 0)
        *result = sum;
}

static int ep_probe(void)
{
    /* A kernel that is loaded when it is first launched would wait for one that waits for it. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    if (cudaGetDeviceCount(&ep_gpus) == cudaSuccess && ep_gpus > 0)
        return PERF_OK;
    perf_complain("skip: no GPU that CUDA can use");
    return PERF_SKIP;
}

static int ep_open(void)
{
    int gpu = shmem_my_pe() % ep_gpus;

    ep_cuda(cudaSetDevice(gpu), "cudaSetDevice");
    ep_cuda(cudaDeviceGetAttribute(&ep_sms, cudaDevAttrMultiProcessorCount, gpu), "multiprocessors");
    ep_cuda(cudaStreamCreateWithFlags(&ep_stream, cudaStreamNonBlocking), "cudaStreamCreate");
    for (cudaEvent_t &mark : ep_marks)
        ep_cuda(cudaEventCreate(&mark), "cudaEventCreate");
    ep_cuda(cudaMalloc(&ep_computed, sizeof *ep_computed), "cudaMalloc");
    return 0;
}

static void ep_finish(void)
{
    ep_cuda(cudaGetLastError(), "a launch");
    ep_cuda(cudaStreamSynchronize(ep_stream), "a kernel");
}

static void ep_close(void)
{
    cudaFree(ep_computed);
    for (cudaEvent_t mark : ep_marks)
        cudaEventDestroy(mark);
    cudaStreamDestroy(ep_stream);
}

static int ep_blocks(int pes)
{
    int sharing = (pes + ep_gpus - 1) / ep_gpus;

    ep_share = ep_sms / sharing < 1 ? 1 : ep_sms / sharing;
    return ep_share;
}

static void *ep_take(size_t bytes)
{
    void *memory = NULL;

    if (cudaMalloc(&memory, bytes ? bytes : 1) == cudaSuccess)
        return memory;
    (void)cudaGetLastError();
    return NULL;
}

static void ep_release(void *memory)
{
    cudaFree(memory);
}

static void ep_write(void *to, const void *from, size_t bytes)
{
    ep_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copy to the GPU");
    ep_cuda(cudaDeviceSynchronize(), "copy to the GPU");
}

static void ep_read(void *to, const void *from, size_t bytes)
{
    ep_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copy from the GPU");
}

static void ep_fill(void *to, int byte, size_t bytes)
{
    ep_cuda(cudaMemset(to, byte, bytes), "cudaMemset");
    ep_cuda(cudaDeviceSynchronize(), "cudaMemset");
}

static void *ep_stream_of(void)
{
    return ep_stream;
}

static void ep_begin(void)
{
    ep_hold<<<1, 1, 0, ep_stream>>>(EP_HOLD_US);
}

static void ep_barrier(void)
{
    shmemx_barrier_all_on_stream(ep_stream);
}

static void ep_mark(int i)
{
    ep_cuda(cudaEventRecord(ep_marks[i], ep_stream), "cudaEventRecord");
}

static void ep_copy_start(void *to, const void *from, size_t bytes, size_t window, int blocks)
{
    ep_copy<<<blocks, EP_COPY_THREADS, 0, ep_stream>>>((uint4 *)to, (const uint4 *)from, bytes / sizeof(uint4),
                                                       window / sizeof(uint4));
}

static void ep_compute_start(long rounds)
{
    ep_compute<<<ep_share, EP_COMPUTE_THREADS, 0, ep_stream>>>(rounds, ep_computed);
}

static void ep_wait(long us)
{
    ep_late<<<1, 1, 0, ep_stream>>>(us);
}

static void ep_capture(void)
{
    ep_cuda(cudaStreamBeginCapture(ep_stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
}

static void ep_captured(void)
{
    cudaGraph_t graph = NULL;

    ep_cuda(cudaStreamEndCapture(ep_stream, &graph), "cudaStreamEndCapture");
    ep_cuda(cudaGraphInstantiate(&ep_graph, graph, 0), "cudaGraphInstantiate");
    cudaGraphDestroy(graph);
}

static void ep_replay(void)
{
    ep_cuda(cudaGraphLaunch(ep_graph, ep_stream), "cudaGraphLaunch");
}

static void ep_release_graph(void)
{
    cudaGraphExecDestroy(ep_graph);
}

static double ep_between(int first, int second)
{
    float ms = 0;

    ep_cuda(cudaEventElapsedTime(&ms, ep_marks[first], ep_marks[second]), "cudaEventElapsedTime");
    return ms * 1e3;
}

int main(int argc, char **argv)
{
    struct moe_backend gpu = {};

    gpu.name = "ep";
    gpu.what = "expert parallelism in memory of the GPU: dispatch and combine of tokens' rows by kernels";
    gpu.device = true;
    gpu.window = (size_t)128 << 20;
    gpu.transport = "loads and stores of the GPU";
    gpu.probe = ep_probe;
    gpu.open = ep_open;
    gpu.close = ep_close;
    gpu.blocks = ep_blocks;
    gpu.take = ep_take;
    gpu.release = ep_release;
    gpu.take_symmetric = shmemx_malloc_device;
    gpu.release_symmetric = shmemx_free_device;
    gpu.write = ep_write;
    gpu.read = ep_read;
    gpu.fill = ep_fill;
    gpu.stream = ep_stream_of;
    gpu.begin = ep_begin;
    gpu.barrier = ep_barrier;
    gpu.mark = ep_mark;
    gpu.copy = ep_copy_start;
    gpu.compute = ep_compute_start;
    gpu.wait = ep_wait;
    gpu.capture = ep_capture;
    gpu.captured = ep_captured;
    gpu.replay = ep_replay;
    gpu.release_graph = ep_release_graph;
    gpu.finish = ep_finish;
    gpu.between = ep_between;
    return moe_main(&gpu, argc, argv);
}
