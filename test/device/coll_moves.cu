/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barrier, alltoall, alltoalls, fcollect, collect and broadcast in kernels, at each scope, on teams of every shape: all
 * data arrives, for every length, in rounds that follow each other without a pause; a barrier completes puts; every
 * kind of call follows every other; numbers of calls wrap.
 * paths: gpu:1,2,4 gpuipc:2,4 gpu1:2,4,8
 * timeout: 600
 */
#include "test/device/coll.cuh"

#include <stdlib.h>

DEV_SCOPED(uint_alltoall)
DEV_SCOPED(uint_fcollect)
DEV_SCOPED(uint_broadcast)
DEV_SCOPED(fcollectmem)
DEV_SCOPED(uint_collect)
DEV_SCOPED(collectmem)
DEV_SCOPED(uint_alltoalls)
DEV_SCOPED(team_sync)

template <int S> __device__ void team_barrier(shmem_team_t team)
{
    if constexpr (S == THREAD)
        shmemx_team_barrier(team);
    else if constexpr (S == WARP)
        shmemx_team_barrier_warp(team);
    else
        shmemx_team_barrier_block(team);
}

struct arrays {
    unsigned *dest, *source;
    struct dev_report *report;
};

enum { ROUNDS = 5 };

static __device__ void fill(unsigned *source, unsigned round, int me, int blocks, size_t n)
{
    for (size_t i = threadIdx.x; i < n * (size_t)blocks; i += blockDim.x)
        source[i] = coll_value(round, me, (int)(i / n), i % n);
    __syncthreads();
}

/* dest is blocks[from], each of n elements, from member `from` to member `to`. */
static __device__ void look(const struct arrays &a, unsigned round, int to, int blocks, size_t n)
{
    for (size_t i = threadIdx.x; i < n * (size_t)blocks; i += blockDim.x)
        dev_expect(a.report, i, coll_value(round, (int)(i / n), to, i % n), a.dest[i]);
    __syncthreads();
}

/* The barrier between rounds: nobody writes into a dest that is still being looked at. */
template <int S> __global__ void exchange(shmem_team_t team, struct arrays a, size_t n)
{
    int me = shmem_team_my_pe(team), n_pes = shmem_team_n_pes(team);

    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(a.source, round, me, n_pes, n);
        dev_uint_alltoall<S>(team, a.dest, a.source, n);
        look(a, round, me, n_pes, n);
        team_barrier<S>(team);
        dev_uint_fcollect<S>(team, a.dest, a.source, n);
        look(a, round, 0, n_pes, n);
        team_barrier<S>(team);
        dev_uint_broadcast<S>(team, a.dest, a.source + n, n_pes > 1 ? n : 0, (int)(round % (unsigned)n_pes));
        for (size_t i = threadIdx.x; i < n && n_pes > 1; i += blockDim.x)
            dev_expect(a.report, i, coll_value(round, (int)(round % (unsigned)n_pes), 1, i), a.dest[i]);
        __syncthreads();
        dev_team_sync<S>(team);
    }
}

/* Calls by LL lines need no barrier between them but that each round has its own dest. */
template <int S> __global__ void in_a_row(shmem_team_t team, struct arrays a, unsigned rounds)
{
    int me = shmem_team_my_pe(team), n_pes = shmem_team_n_pes(team);

    fill(a.source, 7, me, (int)rounds, 1);
    for (unsigned round = 0; round < rounds; round++) {
        if (round % 3 == 0)
            dev_uint_fcollect<S>(team, a.dest + round * (unsigned)n_pes, a.source + round, 1);
        else
            dev_uint_broadcast<S>(team, a.dest + round * (unsigned)n_pes, a.source + round, 1,
                                  (int)(round % (unsigned)n_pes));
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < rounds * (unsigned)n_pes; i += blockDim.x) {
        unsigned round = i / (unsigned)n_pes;
        int from = round % 3 ? (int)(round % (unsigned)n_pes) : (int)(i % (unsigned)n_pes);

        if (round % 3 == 0 || i % (unsigned)n_pes == 0)
            dev_expect(a.report, i, coll_value(7, from, (int)round, 0), a.dest[i]);
    }
    __syncthreads();
    team_barrier<S>(team);
}

/* A barrier completes puts of all lanes to every member. */
template <int S> __global__ void after_puts(shmem_team_t team, struct arrays a)
{
    int me = shmem_team_my_pe(team), n_pes = shmem_team_n_pes(team);

    for (unsigned round = 1; round < 50; round++) {
        for (int to = (int)threadIdx.x; to < n_pes; to += (int)blockDim.x)
            shmem_uint_p(a.dest + me, coll_value(round, me, to, 0),
                         shmem_team_translate_pe(team, to, SHMEM_TEAM_WORLD));
        team_barrier<S>(team);
        look(a, round, me, n_pes, 1);
        team_barrier<S>(team);
    }
}

/* Odd addresses and lengths in bytes. */
template <int S> __global__ void bytes(shmem_team_t team, struct arrays a, size_t len, unsigned skew)
{
    int me = shmem_team_my_pe(team), n_pes = shmem_team_n_pes(team);
    unsigned char *dest = (unsigned char *)a.dest + skew, *source = (unsigned char *)a.source + 2 * skew;

    for (size_t i = threadIdx.x; i < len; i += blockDim.x)
        source[i] = (unsigned char)coll_value(skew, me, 0, i);
    __syncthreads();
    dev_fcollectmem<S>(team, dest, source, len);
    for (size_t i = threadIdx.x; i < len * (size_t)n_pes; i += blockDim.x)
        dev_expect(a.report, i, coll_value(skew, (int)(i / len), 0, i % len) & 255, dest[i]);
    __syncthreads();
    team_barrier<S>(team);
}

/* What member `from` gives to a collect: nothing, a few, or about n; one of them many more. */
static __device__ size_t share_of(unsigned round, int from, size_t n)
{
    size_t base = (round + (unsigned)from) % 3 == 0 ? 0 : n / (1 + (unsigned)from % 4);

    return from == (int)round ? base + COLL_MAX - n : base;
}

/* Parts of unequal length, which begin at any address of 4 bytes; and the same in bytes, at any. */
template <int S> __global__ void collect(shmem_team_t team, struct arrays a, size_t n)
{
    int me = shmem_team_my_pe(team), n_pes = shmem_team_n_pes(team);

    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned char *bytes = (const unsigned char *)a.dest + 1;
        size_t at = 0;

        fill(a.source, round, me, 1, COLL_MAX);
        dev_uint_collect<S>(team, a.dest, a.source, share_of(round, me, n));
        __syncthreads();
        for (int from = 0; from < n_pes; at += share_of(round, from, n), from++)
            for (size_t i = threadIdx.x; i < share_of(round, from, n); i += blockDim.x)
                dev_expect(a.report, i, coll_value(round, from, 0, i), a.dest[at + i]);
        __syncthreads();
        team_barrier<S>(team);
        dev_collectmem<S>(team, (char *)a.dest + 1, a.source, share_of(round, me, n));
        __syncthreads();
        at = 0;
        for (int from = 0; from < n_pes; at += share_of(round, from, n), from++)
            for (size_t i = threadIdx.x; i < share_of(round, from, n); i += blockDim.x)
                dev_expect(a.report, i, coll_value(round, from, 0, i / 4) >> 8 * (i % 4) & 255, bytes[at + i]);
        __syncthreads();
        team_barrier<S>(team);
    }
}

/* Elements two apart at the sender and three at the receiver, and what lies between is left as it is. */
template <int S> __global__ void apart(shmem_team_t team, struct arrays a, size_t n)
{
    int me = shmem_team_my_pe(team), n_pes = shmem_team_n_pes(team);
    size_t all = n * (size_t)n_pes;

    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = threadIdx.x; i < all; i += blockDim.x)
            a.source[2 * i] = coll_value(round, me, (int)(i / n), i % n);
        for (size_t i = threadIdx.x; i < 3 * all; i += blockDim.x)
            a.dest[i] = 77;
        __syncthreads();
        team_barrier<S>(team);
        dev_uint_alltoalls<S>(team, a.dest, a.source, 3, 2, n);
        __syncthreads();
        for (size_t i = threadIdx.x; i < 3 * all; i += blockDim.x)
            dev_expect(a.report, i, i % 3 ? 77 : coll_value(round, (int)(i / 3 / n), me, i / 3 % n), a.dest[i]);
        __syncthreads();
        team_barrier<S>(team);
    }
}

template <int S> static void one_team(const struct coll_team &team, const struct arrays &a)
{
    for (size_t n : coll_lengths) {
        exchange<S><<<1, dev_threads[S]>>>(team.handle, a, n);
        dev_check_report(a.report, "alltoall, fcollect, broadcast");
    }
    in_a_row<S><<<1, dev_threads[S]>>>(team.handle, a, 300);
    dev_check_report(a.report, "calls in a row");
    after_puts<S><<<1, dev_threads[S]>>>(team.handle, a);
    dev_check_report(a.report, "barrier after puts");
    for (unsigned skew = 0; skew < 5; skew++)
        for (size_t len : {1u, 13u, 517u, 6001u}) {
            bytes<S><<<1, dev_threads[S]>>>(team.handle, a, len, skew);
            dev_check_report(a.report, "fcollectmem");
        }
}

template <int S> static void uneven(const struct coll_team &team, const struct arrays &a)
{
    for (size_t n : coll_lengths) {
        collect<S><<<1, dev_threads[S]>>>(team.handle, a, n);
        dev_check_report(a.report, "collect");
        if (3 * n <= COLL_MAX)
            apart<S><<<1, dev_threads[S]>>>(team.handle, a, n);
        dev_check_report(a.report, "alltoalls");
    }
}

template <int S> static void each_team(const struct coll_team *teams, const struct arrays &a)
{
    for (int i = 0; i < COLL_TEAMS; i++) {
        dev_case("%s scope, team %s", dev_scope_name[S], teams[i].name);
        if (teams[i].handle != SHMEM_TEAM_INVALID)
            one_team<S>(teams[i], a);
        dev_wait();
        shmem_barrier_all();
        dev_case("%s scope, team %s, uneven", dev_scope_name[S], teams[i].name);
        if (teams[i].handle != SHMEM_TEAM_INVALID)
            uneven<S>(teams[i], a);
        dev_wait();
        shmem_barrier_all();
    }
}

int main(void)
{
    struct coll_team teams[COLL_TEAMS];
    struct arrays a;
    size_t len;

    /* A few calls before the numbers in LL lines wrap. */
    setenv("SHMEM_DEVICE_EPOCH", "4294967200", 0);
    dev_begin();
    dev_case("teams from before the GPU is attached");
    coll_split(teams);
    len = (size_t)(shmem_n_pes() + 1) * COLL_MAX * sizeof(unsigned) + 64;
    a.report = (struct dev_report *)dev_share(sizeof *a.report);
    a.dest = (unsigned *)dev_alloc(len);
    a.source = (unsigned *)dev_alloc(len);
    DEV_EACH_SCOPE(each_team<S>(teams, a));
    dev_case("teams made again, in memory of others");
    dev_wait();
    coll_split_end(teams);
    coll_split(teams);
    each_team<BLOCK>(teams, a);
    coll_split_end(teams);
    return dev_end();
}
