/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on streams: each gives the result of its kernel form; captured in a graph and replayed many times, with
 * direct launches, calls in kernels and collectives of the host on the same team in between.
 * paths: gpu:1,2,4 gpuipc:2,4 gpu1:2,4
 * timeout: 600
 */
#include "test/device/coll.cuh"

#include <stdlib.h>

/* Elements for each member, at most: no number of blocks divides them. */
enum { MOST = 400009, REMOTE_MOST = 16411, FEW = 5001 /* from here on no collect and alltoalls */ };

struct arrays {
    unsigned *dest, *source, *sum, *part, *cast, *parts, *apart;
    unsigned *round; /* counted by kernels, so that a replayed graph moves on */
    struct dev_report *report;
};

__global__ void fill(shmem_team_t team, struct arrays a, size_t n)
{
    int me = shmem_team_my_pe(team), n_pes = shmem_team_n_pes(team);
    unsigned round = *a.round;

    for (size_t i = threadIdx.x; i < n * (size_t)n_pes; i += blockDim.x)
        a.source[i] = coll_value(round, me, (int)(i / n), i % n);
}

static __device__ unsigned sum_for(unsigned round, int n_pes, int to, size_t i)
{
    unsigned sum = 0;

    for (int from = 0; from < n_pes; from++)
        sum += coll_value(round, from, to, i);
    return sum;
}

/* What member `from` gives to a collect. */
static __host__ __device__ size_t parts_of(int from, size_t n)
{
    return from % 3 == 1 ? 0 : n / (1 + (unsigned)from);
}

/* What is broadcast: two PEs do so in halves from 3 MiB on. */
static __host__ __device__ size_t cast_of(int n_pes, size_t n)
{
    return n_pes == 2 ? 2 * n : n;
}

/* dest: what all have sent to this member; sum, part: their sources, added up, sum twice. On to the next round. */
__global__ void look(shmem_team_t team, struct arrays a, size_t n, bool same)
{
    int me = shmem_team_my_pe(team), n_pes = shmem_team_n_pes(team);
    unsigned round = *a.round;
    size_t at = 0;

    for (size_t i = threadIdx.x; i < n * (size_t)n_pes; i += blockDim.x)
        dev_expect(a.report, i, coll_value(round, (int)(i / n), same ? 0 : me, i % n), a.dest[i]);
    for (int from = 0; n < FEW && from < n_pes; at += parts_of(from, n), from++)
        for (size_t i = threadIdx.x; i < parts_of(from, n); i += blockDim.x)
            dev_expect(a.report, i, coll_value(round, from, 0, i), a.parts[at + i]);
    for (size_t i = threadIdx.x; n < FEW && i < n * (size_t)n_pes; i += blockDim.x)
        dev_expect(a.report, i, coll_value(round, (int)(i / n), me, i % n), a.apart[2 * i]);
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
        dev_expect(a.report, i, (unsigned)n_pes * sum_for(round, n_pes, 0, i), a.sum[i]);
        dev_expect(a.report, i, sum_for(round, n_pes, me, i), a.part[i]);
    }
    for (size_t i = threadIdx.x; i < cast_of(n_pes, n); i += blockDim.x)
        dev_expect(a.report, i, coll_value(round, n_pes - 1, (int)(i / n), i % n), a.cast[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        ++*a.round;
}

/* The same in a kernel. */
__global__ void in_kernel(shmem_team_t team, struct arrays a, size_t n, bool same)
{
    if (same)
        shmem_uint_fcollect_block(team, a.dest, a.source, n);
    else
        shmem_uint_alltoall_block(team, a.dest, a.source, n);
    shmem_uint_sum_reduce_block(team, a.sum, a.source, n);
    shmem_uint_sum_reduce_block(team, a.sum, a.sum, n);
    shmemx_uint_sum_reducescatter_block(team, a.part, a.source, n);
    shmem_uint_broadcast_block(team, a.cast, a.source, cast_of(shmem_team_n_pes(team), n), shmem_team_n_pes(team) - 1);
    if (n >= FEW)
        return;
    shmem_uint_collect_block(team, a.parts, a.source, parts_of(shmem_team_my_pe(team), n));
    shmem_uint_alltoalls_block(team, a.apart, a.source, 2, 1, n);
}

static void on_stream(const struct coll_team &team, const struct arrays &a, size_t n, bool same, cudaStream_t stream)
{
    int rc = same ? shmemx_uint_fcollect_on_stream(team.handle, a.dest, a.source, n, stream)
                  : shmemx_uint_alltoall_on_stream(team.handle, a.dest, a.source, n, stream);

    mp_check(!rc, "fcollect or alltoall on a stream: %d", rc);
    rc = shmemx_uint_sum_reduce_on_stream(team.handle, a.sum, a.source, n, stream);
    mp_check(!rc, "reduce on a stream: %d", rc);
    rc = shmemx_uint_sum_reduce_on_stream(team.handle, a.sum, a.sum, n, stream);
    mp_check(!rc, "reduce in place on a stream: %d", rc);
    rc = shmemx_uint_sum_reducescatter_on_stream(team.handle, a.part, a.source, n, stream);
    mp_check(!rc, "reducescatter on a stream: %d", rc);
    rc = shmemx_uint_broadcast_on_stream(team.handle, a.cast, a.source, cast_of(team.n_pes, n), team.n_pes - 1, stream);
    mp_check(!rc, "broadcast on a stream: %d", rc);
    if (n >= FEW)
        return;
    rc = shmemx_uint_collect_on_stream(team.handle, a.parts, a.source, parts_of(team.my_pe, n), stream);
    mp_check(!rc, "collect on a stream: %d", rc);
    rc = shmemx_uint_alltoalls_on_stream(team.handle, a.apart, a.source, 2, 1, n, stream);
    mp_check(!rc, "alltoalls on a stream: %d", rc);
}

/* One round on a stream; `kernel`: by a kernel's own calls. */
static void put_round(const struct coll_team &team, const struct arrays &a, size_t n, bool same, cudaStream_t stream,
                      bool kernel = false)
{
    int rc;

    fill<<<1, 256, 0, stream>>>(team.handle, a, n);
    if (kernel)
        in_kernel<<<1, 256, 0, stream>>>(team.handle, a, n, same);
    else
        on_stream(team, a, n, same, stream);
    look<<<1, 256, 0, stream>>>(team.handle, a, n, same);
    rc = shmemx_team_barrier_on_stream(team.handle, stream);
    mp_check(!rc, "barrier on a stream: %d", rc);
}

static void direct(const struct coll_team &team, const struct arrays &a, cudaStream_t stream)
{
    for (size_t n : {1, 77, 3000, 5000, 16411, 100003, (int)MOST}) {
        if (dev_has_other_hosts() && n > REMOTE_MOST)
            break;
        put_round(team, a, n, false, stream);
        put_round(team, a, n, true, stream);
        put_round(team, a, n, true, stream, true);
        put_round(team, a, n, false, stream, true);
        mp_check(cudaStreamSynchronize(stream) == cudaSuccess, "the stream");
        dev_check_report(a.report, "on a stream");
    }
}

static cudaGraphExec_t capture(const struct coll_team &team, const struct arrays &a, cudaStream_t stream)
{
    cudaGraphExec_t exec = NULL;
    cudaGraph_t graph = NULL;

    mp_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess, "capture begins");
    put_round(team, a, 100, false, stream);
    put_round(team, a, 3000, true, stream);
    put_round(team, a, dev_has_other_hosts() ? REMOTE_MOST : 30011, false, stream);
    mp_check(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "capture ends");
    mp_check(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess, "a graph of what was captured");
    cudaGraphDestroy(graph);
    return exec;
}

/* WSH_TEST_ROUNDS replays. */
static void replay(const struct coll_team &team, const struct arrays &a, cudaStream_t stream)
{
    const char *rounds = getenv("WSH_TEST_ROUNDS");
    cudaGraphExec_t exec = capture(team, a, stream);

    for (int i = 0, n = rounds ? atoi(rounds) : dev_has_other_hosts() ? 20 : 100; i < n && exec; i++) {
        mp_check(cudaGraphLaunch(exec, stream) == cudaSuccess, "a replay");
        if (i % 7 == 0)
            put_round(team, a, 5, i % 2, stream);
        if (i % 50 == 49) {
            mp_check(cudaStreamSynchronize(stream) == cudaSuccess, "the stream");
            dev_check_report(a.report, "replays");
            shmem_team_sync(team.handle);
        }
    }
    mp_check(cudaStreamSynchronize(stream) == cudaSuccess, "the stream");
    dev_check_report(a.report, "replays");
    cudaGraphExecDestroy(exec);
}

static void check_team(const struct coll_team &team, const struct arrays &a, cudaStream_t stream)
{
    direct(team, a, stream);
    replay(team, a, stream);
}

int main(void)
{
    struct coll_team teams[COLL_TEAMS];
    struct arrays a;
    cudaStream_t stream;
    size_t len;

    setenv("SHMEM_DEVICE_EPOCH", "4294967200", 0);
    dev_begin();
    dev_case("teams");
    len = (size_t)shmem_n_pes() * MOST * sizeof(unsigned);
    a.report = (struct dev_report *)dev_share(sizeof *a.report);
    a.dest = (unsigned *)dev_alloc(len);
    a.source = (unsigned *)dev_alloc(len);
    a.sum = (unsigned *)dev_alloc(MOST * sizeof(unsigned));
    a.part = (unsigned *)dev_alloc(MOST * sizeof(unsigned));
    a.cast = (unsigned *)dev_alloc(2 * MOST * sizeof(unsigned));
    len = (size_t)shmem_n_pes() * FEW * sizeof(unsigned);
    a.parts = (unsigned *)dev_alloc(len);
    a.apart = (unsigned *)dev_alloc(2 * len);
    a.round = (unsigned *)dev_alloc(sizeof *a.round);
    mp_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "a stream");
    coll_split(teams);
    for (int i = 0; i < COLL_TEAMS; i++) {
        dev_case("team %s", teams[i].name);
        mp_check(cudaMemset(a.round, 0, sizeof *a.round) == cudaSuccess, "rounds begin");
        dev_wait();
        if (teams[i].handle != SHMEM_TEAM_INVALID)
            check_team(teams[i], a, stream);
        dev_wait();
        shmem_barrier_all();
    }
    dev_case("the world, without a team");
    for (int i = 0; i < 20; i++) {
        shmemx_sync_all_on_stream(stream);
        shmemx_barrier_all_on_stream(stream);
    }
    mp_check(cudaStreamSynchronize(stream) == cudaSuccess, "the stream");
    cudaStreamDestroy(stream);
    coll_split_end(teams);
    return dev_end();
}
