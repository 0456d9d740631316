/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts, gets, signals and waits on streams: all data arrives, by one block and by many, direct and replayed from a
 * captured graph, with the same done by kernels of the program in between.
 * paths: gpu:1,2,4 gpuipc:2,4 gpu1:2,4 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4 gpugda:2
 * timeout: 600
 */
#include "test/device/coll.cuh"

#include <stdlib.h>

/* Elements from one PE to another, at most: 64 blocks do not divide them. */
enum { MOST = 300007 };

/* Blocks [n_pes] of elements; words[n_pes]; signals[2 * n_pes]. */
struct arrays {
    unsigned *dest, *source, *got, *strided, *words;
    uint64_t *signals, *values;
    unsigned *round; /* counted by kernels, so that a replayed graph moves on */
    struct dev_report *report;
};

static int me, n_pes;

#define ON_STREAM(call) mp_check((call) == 0, "%s", #call)

__global__ void fill(struct arrays a, int me, int n_pes, size_t n)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n * (size_t)n_pes; i += gridDim.x * blockDim.x)
        a.source[i] = coll_value(*a.round, me, (int)(i / n), i % n);
}

/* What all have sent here, and at every second place of `strided` when that is asked for. */
__global__ void look(struct arrays a, int me, int n_pes, size_t n, bool got)
{
    for (size_t i = threadIdx.x; i < n * (size_t)n_pes; i += blockDim.x) {
        unsigned expected = coll_value(*a.round, (int)(i / n), me, i % n);

        dev_expect(a.report, i, expected, a.dest[i]);
        if (got)
            dev_expect(a.report, i, expected, a.got[i]);
        if (got && n < 100)
            dev_expect(a.report, i, expected, a.strided[2 * i]);
    }
    for (int i = (int)threadIdx.x; got && i < n_pes; i += (int)blockDim.x)
        dev_expect(a.report, (unsigned)i, (unsigned)i + 1, a.words[i]);
}

/* Signals are counted up and begin at zero in each round. */
__global__ void next(struct arrays a, int n_pes)
{
    for (int i = (int)threadIdx.x; i < 2 * n_pes; i += (int)blockDim.x)
        a.signals[i] = 0;
    for (int i = (int)threadIdx.x; i < n_pes; i += (int)blockDim.x)
        a.words[i] = 0;
    if (threadIdx.x == 0)
        ++*a.round;
}

/* The program's own puts, where a round on a stream has its. */
__global__ void put_in_kernel(struct arrays a, int me, int n_pes, size_t n)
{
    for (int to = 0; to < n_pes; to++)
        shmem_uint_put_signal_block(a.dest + (size_t)me * n, a.source + (size_t)to * n, n, a.signals + me, 1,
                                    SHMEM_SIGNAL_ADD, to);
}

static void begin_round(const struct arrays &a, size_t n, cudaStream_t stream)
{
    fill<<<16, 256, 0, stream>>>(a, me, n_pes, n);
    shmemx_barrier_all_on_stream(stream);
}

static void end_round(const struct arrays &a, size_t n, bool got, cudaStream_t stream)
{
    look<<<1, 512, 0, stream>>>(a, me, n_pes, n, got);
    shmemx_barrier_all_on_stream(stream);
    next<<<1, 32, 0, stream>>>(a, n_pes);
    shmemx_barrier_all_on_stream(stream);
}

/* Puts and gets, their data looked at behind quiet and barrier. */
static void move_round(const struct arrays &a, size_t n, bool nbi, cudaStream_t stream)
{
    size_t mine = (size_t)me * n;

    begin_round(a, n, stream);
    for (int i = 0; i < n_pes; i++) {
        int pe = (me + i) % n_pes;
        size_t theirs = (size_t)pe * n;

        if (nbi) {
            ON_STREAM(shmemx_putmem_nbi_on_stream(a.dest + mine, a.source + theirs, 4 * n, pe, stream));
            ON_STREAM(shmemx_get32_nbi_on_stream(a.got + theirs, a.source + mine, n, pe, stream));
        } else {
            ON_STREAM(shmemx_uint_put_on_stream(a.dest + mine, a.source + theirs, n, pe, stream));
            ON_STREAM(shmemx_uint_get_on_stream(a.got + theirs, a.source + mine, n, pe, stream));
        }
        if (n < 100 && nbi)
            ON_STREAM(shmemx_uint_iput_on_stream(a.strided + 2 * mine, a.source + theirs, 2, 1, n, pe, stream));
        else if (n < 100)
            ON_STREAM(shmemx_iget32_on_stream(a.strided + 2 * theirs, a.source + mine, 2, 1, n, pe, stream));
        ON_STREAM(shmemx_uint_p_on_stream(a.words + me, (unsigned)me + 1, pe, stream));
    }
    ON_STREAM(shmemx_quiet_on_stream(stream));
    shmemx_barrier_all_on_stream(stream);
    end_round(a, n, true, stream);
}

/* Puts whose signals alone say that the data is there. */
static void signal_round(const struct arrays &a, size_t n, bool vector, cudaStream_t stream)
{
    begin_round(a, n, stream);
    for (int i = 0; i < n_pes; i++) {
        int to = (me + i) % n_pes;

        ON_STREAM(shmemx_uint_put_signal_on_stream(a.dest + (size_t)me * n, a.source + (size_t)to * n, n,
                                                   a.signals + me, 1, SHMEM_SIGNAL_ADD, to, stream));
        ON_STREAM(shmemx_signal_op_on_stream(a.signals + n_pes + me, 7, i % 2 ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD,
                                             to, stream));
    }
    for (int from = 0; from < n_pes; from++)
        ON_STREAM(shmemx_signal_wait_until_on_stream(a.signals + from, SHMEM_CMP_EQ, 1, stream));
    if (vector)
        ON_STREAM(shmemx_uint64_wait_until_all_vector_on_stream(a.signals + n_pes, (size_t)n_pes, NULL, SHMEM_CMP_EQ,
                                                                a.values, stream));
    else
        ON_STREAM(shmemx_uint64_wait_until_all_on_stream(a.signals + n_pes, (size_t)n_pes, NULL, SHMEM_CMP_EQ, 7,
                                                         stream));
    ON_STREAM(shmemx_uint64_wait_until_on_stream(a.signals + n_pes + me, SHMEM_CMP_GT, 6, stream));
    end_round(a, n, false, stream);
}

/* Puts of a kernel, awaited on the stream. */
static void kernel_round(const struct arrays &a, size_t n, cudaStream_t stream)
{
    begin_round(a, n, stream);
    put_in_kernel<<<1, 256, 0, stream>>>(a, me, n_pes, n);
    ON_STREAM(shmemx_uint64_wait_until_all_on_stream(a.signals, (size_t)n_pes, NULL, SHMEM_CMP_EQ, 1, stream));
    end_round(a, n, false, stream);
}

static void settle(const struct arrays &a, const char *what, cudaStream_t stream)
{
    mp_check(cudaStreamSynchronize(stream) == cudaSuccess, "the stream");
    dev_check_report(a.report, what);
}

static void direct(const struct arrays &a, cudaStream_t stream)
{
    for (size_t n : {1, 77, 4099, 16384, 65537, (int)MOST})
        for (bool other : {false, true}) {
            dev_case("%zu elements, %d", n, other);
            move_round(a, n, other, stream);
            settle(a, "puts and gets on a stream", stream);
            signal_round(a, n, other, stream);
            settle(a, "puts with signal on a stream", stream);
            kernel_round(a, n, stream);
            settle(a, "waits for kernels' puts", stream);
        }
}

/* Alone it waits for its value. */
static void one_by_one(const struct arrays &a, cudaStream_t stream)
{
    dev_case("g");
    for (int to = 0; to < n_pes; to++)
        ON_STREAM(shmemx_uint_p_on_stream(a.words + me, 1000u + (unsigned)me, to, stream));
    shmemx_barrier_all_on_stream(stream);
    for (int pe = 0; pe < n_pes; pe++)
        mp_check(shmemx_uint_g_on_stream(a.words + (pe + 1) % n_pes, pe, stream) ==
                     1000u + (unsigned)((pe + 1) % n_pes),
                 "g from PE %d", pe);
    shmemx_barrier_all_on_stream(stream);
}

static cudaGraphExec_t capture(const struct arrays &a, cudaStream_t stream)
{
    cudaGraphExec_t exec = NULL;
    cudaGraph_t graph = NULL;

    mp_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess, "capture begins");
    move_round(a, 99, true, stream);
    signal_round(a, 40001, false, stream);
    kernel_round(a, 1000, stream);
    move_round(a, 40001, false, stream);
    mp_check(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "capture ends");
    mp_check(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess, "a graph of what was captured");
    cudaGraphDestroy(graph);
    return exec;
}

/* WSH_TEST_ROUNDS replays. */
static void replay(const struct arrays &a, cudaStream_t stream)
{
    const char *rounds = getenv("WSH_TEST_ROUNDS");
    cudaGraphExec_t exec;

    dev_case("replays of a graph");
    exec = capture(a, stream);
    for (int i = 0, n = rounds ? atoi(rounds) : 60; i < n && exec; i++) {
        mp_check(cudaGraphLaunch(exec, stream) == cudaSuccess, "a replay");
        if (i % 7 == 0)
            signal_round(a, 5, i % 2, stream);
        if (i % 20 == 19)
            settle(a, "replays", stream);
    }
    settle(a, "replays", stream);
    cudaGraphExecDestroy(exec);
}

static unsigned *elements(size_t n)
{
    return (unsigned *)dev_alloc(n * sizeof(unsigned));
}

int main(void)
{
    struct arrays a;
    cudaStream_t stream;

    dev_begin();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    dev_case("arrays");
    a.report = (struct dev_report *)dev_share(sizeof *a.report);
    a.dest = elements((size_t)n_pes * MOST);
    a.source = elements((size_t)n_pes * MOST);
    a.got = elements((size_t)n_pes * MOST);
    a.strided = elements((size_t)n_pes * 200);
    a.words = elements((size_t)n_pes);
    a.round = elements(1);
    a.signals = (uint64_t *)dev_alloc(2 * (size_t)n_pes * sizeof *a.signals);
    a.values = (uint64_t *)dev_share((size_t)n_pes * sizeof *a.values);
    for (int i = 0; i < n_pes; i++)
        a.values[i] = 7;
    mp_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "a stream");
    direct(a, stream);
    one_by_one(a, stream);
    replay(a, stream);
    cudaStreamDestroy(stream);
    dev_wait();
    shmem_barrier_all();
    return dev_end();
}
