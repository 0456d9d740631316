/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What jacobi asks of a library: the state that its PEs share, and the two things that the variant `stream` puts into
 * streams, which with -DPERF_NCCL are NCCL's.
 */
#ifndef PERFTEST_DEVICE_JACOBI_API_CUH
#define PERFTEST_DEVICE_JACOBI_API_CUH

#ifdef PERF_NCCL
#include "perftest/device/nccl.cuh"
#define PERF_NAME "nccl"
#else
#include "perftest/device/api.cuh"
#ifdef PERF_NVSHMEM
#define PERF_NAME "nvshmem"
#define PERF_SIGNAL_ADD NVSHMEM_SIGNAL_ADD
#define PERF_NE NVSHMEM_CMP_NE
#else
#define PERF_NAME "warpshmem"
#define PERF_SIGNAL_ADD SHMEM_SIGNAL_ADD
#define PERF_NE SHMEM_CMP_NE
#endif
#endif

#include "perftest/device/jacobi_stencil.cuh"

/* All arrays are symmetric. */
struct jacobi_args {
    struct jacobi_grid grid;
    int me, npes;
    int above, below;  /* PEs */
    int above_halo;    /* the row of `above` that follows its last */
    int norm;          /* a sum every so many iterations */
    uint64_t *arrived; /* for the halo above, for that below: pieces, or the number of the last iteration */
    double *changed;   /* this PE's sums of squares, one a norm */
    double *norms;     /* all PEs' */
    uint64_t *sums_seen; /* PE p's n-th sum as bits at n * npes + p, before that JACOBI_NO_SUM */
};
#define JACOBI_NO_SUM (~(uint64_t)0)

#ifdef PERF_NCCL

static ncclComm_t jacobi_sums;

/* The sums have a communicator of their own, so that they need not wait for the edges'. */
static void jacobi_open()
{
    perf_nccl_must(ncclCommSplit(perf_nccl.comm, 0, perf_nccl.launch.pe, &jacobi_sums, NULL), "ncclCommSplit");
}

static void jacobi_close()
{
    ncclCommDestroy(jacobi_sums);
}

/* Edge rows of iteration k to the neighbours' halos, theirs to this PE's, in stream order. */
static void jacobi_exchange(const struct jacobi_args &a, int k, cudaStream_t stream)
{
    const struct jacobi_grid &g = a.grid;
    float *to = jacobi_array(g, (k + 1) % 2);
    size_t pitch = (size_t)g.pitch;

    ncclGroupStart();
    ncclSend(to + pitch, pitch, ncclFloat, a.above, perf_nccl.comm, stream);
    ncclSend(to + pitch * g.rows, pitch, ncclFloat, a.below, perf_nccl.comm, stream);
    ncclRecv(to + pitch * (g.rows + 1), pitch, ncclFloat, a.below, perf_nccl.comm, stream);
    ncclRecv(to, pitch, ncclFloat, a.above, perf_nccl.comm, stream);
    perf_nccl_must(ncclGroupEnd(), "send and recv of the edges");
}

/* The n-th sum of all PEs. */
static void jacobi_sum(const struct jacobi_args &a, int n, cudaStream_t stream)
{
    perf_nccl_must(ncclAllReduce(a.changed + n, a.norms + n, 1, ncclDouble, ncclSum, jacobi_sums, stream),
                   "the sum of squares");
}

#else

static void jacobi_open()
{
}

static void jacobi_close()
{
}

static void jacobi_exchange(const struct jacobi_args &a, int k, cudaStream_t stream)
{
    const struct jacobi_grid &g = a.grid;
    float *to = jacobi_array(g, (k + 1) % 2);
    size_t pitch = (size_t)g.pitch, len = pitch * sizeof *to;
    uint64_t value = (uint64_t)k + 1;

    PERF_X(putmem_signal_on_stream)(to + pitch * a.above_halo, to + pitch, len, a.arrived + 1, value, PERF_SIGNAL_SET,
                                    a.above, stream);
    PERF_X(putmem_signal_on_stream)(to, to + pitch * g.rows, len, a.arrived, value, PERF_SIGNAL_SET, a.below, stream);
    PERF_X(signal_wait_until_on_stream)(a.arrived, PERF_GE, value, stream);
    PERF_X(signal_wait_until_on_stream)(a.arrived + 1, PERF_GE, value, stream);
}

static void jacobi_sum(const struct jacobi_args &a, int n, cudaStream_t stream)
{
    PERF_X(double_sum_reduce_on_stream)(PERF_TEAM, a.norms + n, a.changed + n, 1, stream);
}

#endif
#endif
