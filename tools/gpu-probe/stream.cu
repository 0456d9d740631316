// SPDX-License-Identifier: BSD-3-Clause
// Stream memory operations: which flavours work on which memory, in a graph, and how fast a stream answers the CPU.
#include "probe.cuh"

#include <sys/mman.h>
#include <unistd.h>

static cudaStream_t stream;

// A stream that waits is released by the CPU, so that no answer of the driver leaves it waiting.
static std::string after(CUresult r)
{
    return r ? name_of(r) : name_of(cudaStreamSynchronize(stream));
}

static void ask_words(const char *name, CUdeviceptr at)
{
    CUstream s = (CUstream)stream;
    unsigned relaxed = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
    std::string n = name;

    say(n + ": write 32", after(cuStreamWriteValue32(s, at, 6, 0)));
    say(n + ": write 64", after(cuStreamWriteValue64(s, at, 6, 0)));
    say(n + ": write 64 without barrier", after(cuStreamWriteValue64(s, at, 6, relaxed)));
    say(n + ": wait 32 geq", after(cuStreamWaitValue32(s, at, 5, CU_STREAM_WAIT_VALUE_GEQ)));
    say(n + ": wait 64 geq", after(cuStreamWaitValue64(s, at, 5, CU_STREAM_WAIT_VALUE_GEQ)));
    say(n + ": wait 64 eq", after(cuStreamWaitValue64(s, at, 6, CU_STREAM_WAIT_VALUE_EQ)));
    say(n + ": wait 64 and", after(cuStreamWaitValue64(s, at, 2, CU_STREAM_WAIT_VALUE_AND)));
    say(n + ": wait 64 nor", after(cuStreamWaitValue64(s, at, 1, CU_STREAM_WAIT_VALUE_NOR)));
    say(n + ": wait 64 geq, flush",
        after(cuStreamWaitValue64(s, at, 5, CU_STREAM_WAIT_VALUE_GEQ | CU_STREAM_WAIT_VALUE_FLUSH)));
}

static CUresult batch_ops(CUdeviceptr at)
{
    CUstreamBatchMemOpParams ops[2] = {};

    ops[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    ops[0].writeValue.address = at;
    ops[0].writeValue.value64 = 9;
    ops[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
    ops[1].waitValue.address = at;
    ops[1].waitValue.value64 = 9;
    ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
    return cuStreamBatchMemOp((CUstream)stream, 2, ops, 0);
}

static CUresult flush_op()
{
    CUstreamBatchMemOpParams op = {};

    op.flushRemoteWrites.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
    return cuStreamBatchMemOp((CUstream)stream, 1, &op, 0);
}

// Both operations captured, and the graph run.
static void ask_graph(uint64_t *host)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec;
    CUresult w, r;

    *host = 0;
    if (!CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)))
        return;
    w = cuStreamWriteValue64((CUstream)stream, (CUdeviceptr)host, 3, 0);
    r = cuStreamWaitValue64((CUstream)stream, (CUdeviceptr)host, 3, CU_STREAM_WAIT_VALUE_GEQ);
    say("captured into a graph", name_of(w ? w : r));
    if (!CHECK(cudaStreamEndCapture(stream, &graph)) || w || r ||
        !CHECK(cudaGraphInstantiate(&exec, graph, 0)))
        return;
    if (CHECK(cudaGraphLaunch(exec, stream)) && CHECK(cudaStreamSynchronize(stream)))
        say("the graph's write", *(volatile uint64_t *)host == 3 ? "ok" : "not seen");
}

// Rounds of: the stream waits for the CPU's word, then writes one that the CPU waits for.
static void ask_latency(volatile uint64_t *host)
{
    const uint64_t rounds = 200;
    double start, us = 0, end = now_us() + 3e6;

    host[0] = host[64] = 0;
    for (uint64_t r = 1; r <= rounds; r++) {
        if (!CHECK(cuStreamWaitValue64((CUstream)stream, (CUdeviceptr)host, r, CU_STREAM_WAIT_VALUE_GEQ)) ||
            !CHECK(cuStreamWriteValue64((CUstream)stream, (CUdeviceptr)(host + 64), r, 0)))
            return;
        sleep_us(200); // the stream has come to its wait
        start = now_us();
        host[0] = r;
        while (host[64] < r)
            if (now_us() > end) {
                say("round trip of CPU and stream", "failed: no answer in 3 s");
                return;
            }
        us += now_us() - start;
    }
    say("round trip of CPU and stream", "ok",
        text("%.2f us, mean of %lu", us / rounds, (unsigned long)rounds));
}

static void ask_memfd()
{
    int fd = memfd_create("warpshmem-probe", MFD_CLOEXEC);
    void *at = MAP_FAILED, *device;

    if (fd >= 0 && !ftruncate(fd, 1 << 20))
        at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED || !CHECK(cudaHostRegister(at, 1 << 20, cudaHostRegisterMapped)))
        return;
    if (CHECK(cudaHostGetDevicePointer(&device, at, 0)))
        ask_words("registered memfd", (CUdeviceptr)device);
}

void ask_stream()
{
    uint64_t *own, *host;

    if (!CHECK(cudaSetDevice(0)) || !CHECK(cudaMalloc(&own, 4096)) || !(host = (uint64_t *)pinned(4096)))
        return;
    if (!CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)))
        return;
    ask_latency(host);
    ask_words("device memory", (CUdeviceptr)own);
    ask_words("pinned host memory", (CUdeviceptr)host);
    ask_memfd();
    say("two operations in a batch", after(batch_ops((CUdeviceptr)own)));
    say("flush of remote writes", after(flush_op()));
    say("cuFlushGPUDirectRDMAWrites",
        name_of(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                           CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER)));
    ask_graph(host);
}
