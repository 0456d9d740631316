/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoallv by a block, by a grid and on a stream, direct and in a graph that is launched again and again, in both
 * forms, with counts of every kind: nothing, all to one, from one, to oneself, equal, any; in the second form with too
 * little room at some PEs, where dest stays as it is. Every element and count is looked at, on teams of every shape.
 * WSH_TEST_ROUNDS: rounds of each.
 * paths: gpu:1,2,4 gpuipc:2,4 gpu1:2,4,8
 * timeout: 600
 */
#include "test/device/coll.cuh"
#include "test/device/vector_counts.h"

#include <stdlib.h>

enum { LONGEST = 80000, REMOTE_LONGEST = 5000, POISON = 77 };

struct arrays {
    unsigned *dest, *source;
    size_t room;                                  /* elements of each */
    size_t *counts, *offsets, *found, *places, *need; /* of this PE alone */
    unsigned *round; /* counted by kernels, so that a graph that is launched again moves on */
    int *status;
    struct dev_report *report;
};

/* Elements of a block, at most: as many as LL lines take, and more; once in a while far more. */
static __device__ size_t most_of(const struct arrays &a, unsigned round)
{
    return round % 32 == 13 || round % 32 == 17 ? a.room : round / 16 % 2 ? 3000 : 300;
}

static __device__ void prepare(shmem_team_t team, const struct arrays &a, unsigned round, bool packed)
{
    int me = shmem_team_my_pe(team), n = shmem_team_n_pes(team);
    size_t most = most_of(a, round), all;

    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) {
        a.counts[i] = vector_count(round, me, i, n, most);
        a.offsets[i] = vector_source_at(round, me, i, n, most);
        a.found[i] = packed ? 99 : vector_count(round, i, me, n, most);
        a.places[i] = packed ? 99 : vector_dest_at(round, i, me, n, most);
    }
    for (int to = 0; to < n; to++)
        for (size_t i = threadIdx.x, count = vector_count(round, me, to, n, most),
                    at = vector_source_at(round, me, to, n, most);
             i < count; i += blockDim.x)
            a.source[at + i] = vector_value(round, me, to, i);
    all = packed ? vector_packed_at(round, n, me, n, most) + 8
                 : vector_dest_at(round, 0, me, n, most) + vector_count(round, 0, me, n, most) + 1;
    for (size_t i = threadIdx.x; i < all; i += blockDim.x)
        a.dest[i] = POISON;
    __syncthreads();
}

static __device__ void look_block(const struct arrays &a, unsigned round, int from, int me, size_t at, size_t n,
                                  bool there)
{
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        dev_expect(a.report, round * 1000000ull + i, there ? vector_value(round, from, me, i) : POISON, a.dest[at + i]);
}

static __device__ void look(shmem_team_t team, const struct arrays &a, unsigned round, bool packed)
{
    int me = shmem_team_my_pe(team), n = shmem_team_n_pes(team);
    size_t most = most_of(a, round), end = vector_packed_at(round, n, me, n, most);
    bool there = !packed || end <= vector_dest_max(round, me, n, most);

    for (int from = 0; from < n; from++) {
        size_t count = vector_count(round, from, me, n, most);
        size_t at = packed ? vector_packed_at(round, from, me, n, most) : vector_dest_at(round, from, me, n, most);

        if (threadIdx.x == 0) {
            dev_expect(a.report, 1000 + (unsigned)from, count, a.found[from]);
            dev_expect(a.report, 2000 + (unsigned)from, at, a.places[from]);
        }
        look_block(a, round, from, me, at, count, there);
        if (!packed && threadIdx.x == 0)
            dev_expect(a.report, 3000 + (unsigned)from, POISON, a.dest[at + count]); /* what lies between blocks */
    }
    for (unsigned i = threadIdx.x; packed && i < 8; i += blockDim.x)
        dev_expect(a.report, 4000 + i, POISON, a.dest[end + i]);
    if (packed && threadIdx.x == 0)
        dev_expect(a.report, 5000, end, *a.need);
    __syncthreads();
}

/* dest_max and the arguments behind it. */
static __device__ size_t max_of(shmem_team_t team, const struct arrays &a, unsigned round)
{
    return vector_dest_max(round, shmem_team_my_pe(team), shmem_team_n_pes(team), most_of(a, round));
}

/* Rounds by one block. */
__global__ void __launch_bounds__(1024) by_block(shmem_team_t team, struct arrays a, unsigned first, unsigned rounds)
{
    int me = shmem_team_my_pe(team), n = shmem_team_n_pes(team), rc;

    for (unsigned round = first; round < first + rounds; round++) {
        bool packed = round / 8 % 2;
        size_t max = packed ? max_of(team, a, round) : 0;

        prepare(team, a, round, packed);
        shmemx_team_barrier_block(team);
        if (packed)
            rc = shmemx_uint_alltoallv_packed_nelems_block(team, a.dest, a.found, a.places, max, vector_align(round),
                                                           a.need, a.source, a.counts, a.offsets);
        else
            rc = shmemx_uint_alltoallv_block(team, a.dest, a.found, a.places, a.source, a.counts, a.offsets);
        dev_expect(a.report, 6000, packed && vector_packed_at(round, n, me, n, most_of(a, round)) > max, (unsigned)rc);
        look(team, a, round, packed);
        shmemx_team_barrier_block(team);
    }
}

__global__ void __launch_bounds__(1024) before(shmem_team_t team, struct arrays a, bool packed)
{
    prepare(team, a, *a.round, packed);
    if (packed && threadIdx.x == 0)
        *a.need = 0;
    shmemx_team_barrier_block(team);
}

__global__ void __launch_bounds__(1024) after(shmem_team_t team, struct arrays a, bool packed)
{
    look(team, a, *a.round, packed);
    shmemx_team_barrier_block(team);
    if (threadIdx.x == 0)
        ++*a.round;
}

/* By all blocks; of the second form the room is that of every round. */
__global__ void __launch_bounds__(512) by_grid(shmem_team_t team, struct arrays a, bool packed)
{
    if (packed)
        shmemx_uint_alltoallv_packed_nelems_grid(team, a.dest, a.found, a.places, max_of(team, a, *a.round),
                                                 vector_align(*a.round), a.need, a.source, a.counts, a.offsets);
    else
        shmemx_uint_alltoallv_grid(team, a.dest, a.found, a.places, a.source, a.counts, a.offsets);
}

/* how 0: on a stream; 1: the second form by a grid; 2: some members by a grid, the others on a stream. */
static void put_round(const struct coll_team &team, const struct arrays &a, int how, cudaStream_t stream)
{
    int rc = 0;

    before<<<1, 512, 0, stream>>>(team.handle, a, how == 1);
    if (how == 1 || (how == 2 && team.my_pe % 2 == 0))
        by_grid<<<5, 160, 0, stream>>>(team.handle, a, how == 1);
    else
        rc = shmemx_uint_alltoallv_on_stream(team.handle, a.dest, a.found, a.places, a.source, a.counts, a.offsets,
                                                stream);
    mp_check(!rc && cudaGetLastError() == cudaSuccess, "alltoallv on a stream: %d", rc);
    after<<<1, 512, 0, stream>>>(team.handle, a, how == 1);
}

/* Its dest_max, align and size are one for all rounds: places are looked at, and the elements where all fit. */
__global__ void after_packed(shmem_team_t team, struct arrays a, size_t max)
{
    int me = shmem_team_my_pe(team), n = shmem_team_n_pes(team);
    unsigned round = *a.round;
    size_t end = 0;

    for (int from = 0; from < n; from++) {
        size_t count = vector_count(round, from, me, n, most_of(a, round)), at = (end + 3) / 4 * 4;

        if (threadIdx.x == 0) {
            dev_expect(a.report, 7000 + (unsigned)from, count, a.found[from]);
            dev_expect(a.report, 8000 + (unsigned)from, at, a.places[from]);
        }
        end = at + count;
    }
    for (int from = 0; end <= max && from < n; from++)
        look_block(a, round, from, me, a.places[from], a.found[from], true);
    if (threadIdx.x == 0)
        dev_expect(a.report, 9000, end, *a.need);
    shmemx_team_barrier_block(team);
    if (threadIdx.x == 0)
        ++*a.round;
}

static void put_packed(const struct coll_team &team, const struct arrays &a, cudaStream_t stream)
{
    size_t max = 20000;
    int rc;

    before<<<1, 512, 0, stream>>>(team.handle, a, true);
    rc = shmemx_uint_alltoallv_packed_nelems_on_stream(team.handle, a.dest, a.found, a.places, max, 4, a.need, a.source,
                                                       a.counts, a.offsets, stream);
    mp_check(!rc, "packed alltoallv on a stream: %d", rc);
    after_packed<<<1, 512, 0, stream>>>(team.handle, a, max);
}

static void on_streams(const struct coll_team &team, const struct arrays &a, unsigned rounds, cudaStream_t stream)
{
    cudaGraphExec_t exec = NULL;
    cudaGraph_t graph = NULL;

    mp_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess, "capture begins");
    for (int how = 0; how < 3; how++)
        put_round(team, a, how, stream);
    put_packed(team, a, stream);
    mp_check(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "capture ends");
    mp_check(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess, "a graph of what was captured");
    cudaGraphDestroy(graph);
    for (unsigned i = 0; i < rounds / 4 && exec; i++) {
        mp_check(cudaGraphLaunch(exec, stream) == cudaSuccess, "a replay");
        if (i % 3 == 0)
            put_round(team, a, (int)(i % 2), stream);
        if (i % 5 == 0)
            put_packed(team, a, stream);
        if (i % 50 == 49)
            mp_check(cudaStreamSynchronize(stream) == cudaSuccess, "the stream");
    }
    mp_check(cudaStreamSynchronize(stream) == cudaSuccess, "the stream");
    dev_check_report(a.report, "alltoallv on a stream");
    cudaGraphExecDestroy(exec);
}

static void check_team(const struct coll_team &team, const struct arrays &a, cudaStream_t stream)
{
    const char *asked = getenv("WSH_TEST_ROUNDS");
    unsigned rounds = asked ? (unsigned)atoi(asked) : dev_has_other_hosts() ? 32 : 128, first = 0;

    for (unsigned threads : {256u, 1024u, 77u, 16u}) {
        by_block<<<1, threads, 0, stream>>>(team.handle, a, first, rounds / 4);
        mp_check(cudaStreamSynchronize(stream) == cudaSuccess, "the stream");
        dev_check_report(a.report, "alltoallv by a block");
        first += rounds / 4;
    }
    on_streams(team, a, rounds, stream);
}

int main(void)
{
    struct coll_team teams[COLL_TEAMS];
    struct arrays a;
    cudaStream_t stream;
    size_t len;

    /* A few calls before the numbers in LL lines wrap. */
    setenv("SHMEM_DEVICE_EPOCH", "4294967200", 0);
    dev_begin();
    dev_case("teams");
    a.room = dev_has_other_hosts() ? REMOTE_LONGEST : LONGEST;
    len = (size_t)shmem_n_pes() * (a.room + 64) * sizeof(unsigned);
    a.report = (struct dev_report *)dev_share(sizeof *a.report);
    a.dest = (unsigned *)dev_alloc(len);
    a.source = (unsigned *)dev_alloc(len);
    a.round = (unsigned *)dev_alloc(sizeof *a.round);
    len = (size_t)shmem_n_pes() * sizeof(size_t);
    mp_check(cudaMalloc(&a.counts, 4 * len + sizeof(size_t)) == cudaSuccess, "memory for counts");
    a.offsets = a.counts + shmem_n_pes();
    a.found = a.offsets + shmem_n_pes();
    a.places = a.found + shmem_n_pes();
    a.need = a.places + shmem_n_pes();
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
    cudaStreamDestroy(stream);
    cudaFree(a.counts);
    coll_split_end(teams);
    return dev_end();
}
