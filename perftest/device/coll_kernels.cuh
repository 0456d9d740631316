/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of collectives: one block whose lanes call the routine again and again. No PE looks at dest
 * meanwhile and every call writes the same there, so that nothing needs to stand between two calls.
 */
#ifndef PERFTEST_DEVICE_COLL_KERNELS_CUH
#define PERFTEST_DEVICE_COLL_KERNELS_CUH

#include "perftest/device/coll_api.cuh"

/* Threads that a kernel is compiled for, and those of the wide form: 128 and 64 registers each. */
enum { COLL_THREADS = 512, COLL_WIDE = 1024 };

struct coll_args {
    void *dest, *source; /* symmetric */
    size_t nelems;       /* of a block */
    size_t *counts;      /* perf_vector */
    long n;              /* calls */
    int me, npes;
    uint64_t *ended; /* of this GPU: the last launch whose calls are over */
    uint64_t launch;
};
typedef void coll_kernel(struct coll_args);

#ifdef PERF_NCCL

static coll_kernel *coll_kernel_of(const struct dev_row *)
{
    return NULL;
}

#else

#define COLL_LOOP(name, CALL)                                                                   \
    template <int S, int MOST> __global__ void __launch_bounds__(MOST) name(struct coll_args a) \
    {                                                                                           \
        _Pragma("unroll 1") for (long i = 0; i < a.n; i++) CALL;                                \
    }
#define COLL_MOVE(name, routine, TYPE, ...) \
    COLL_LOOP(name,                         \
              perf_##routine<S>(PERF_TEAM, (TYPE *)a.dest, (const TYPE *)a.source, a.nelems __VA_ARGS__))
COLL_MOVE(coll_alltoall, int64_alltoall, int64_t)
COLL_MOVE(coll_alltoall_int32, int32_alltoall, int32_t)
COLL_MOVE(coll_fcollect, int64_fcollect, int64_t)
COLL_MOVE(coll_broadcast, int64_broadcast, int64_t, , 0)
COLL_MOVE(coll_reduce, int64_sum_reduce, int64_t)
COLL_MOVE(coll_reduce_float, float_sum_reduce, float)
COLL_MOVE(coll_reducescatter, int64_sum_reducescatter, int64_t)
COLL_LOOP(coll_barrier, perf_barrier_all<S>())
COLL_LOOP(coll_sync, perf_sync_all<S>())
#undef COLL_MOVE
#undef COLL_LOOP

template <int S, int MOST> __global__ void __launch_bounds__(MOST) coll_puts_barrier(struct coll_args a)
{
#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
#pragma unroll 1
        for (int pe = 0; pe < a.npes; pe++)
            perf_putmem_nbi<S>((char *)a.dest + a.me * COLL_PUT, (const char *)a.source + pe * COLL_PUT,
                               COLL_PUT, pe);
        perf_barrier_all<S>();
    }
}

/* By a block alone. */
template <int MOST> __global__ void __launch_bounds__(MOST) coll_alltoallv(struct coll_args a)
{
#ifndef PERF_NVSHMEM
    const size_t *offsets = a.counts + a.npes;

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        shmemx_int64_alltoallv_block(PERF_TEAM, (int64_t *)a.dest, a.counts, offsets, (const int64_t *)a.source,
                                     a.counts, offsets);
#endif
}

template <int MOST> __global__ void __launch_bounds__(MOST) coll_alltoallv_packed(struct coll_args a)
{
#ifndef PERF_NVSHMEM
    size_t pes = (size_t)a.npes, *found = a.counts + 2 * pes;

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        shmemx_int64_alltoallv_packed_nelems_block(PERF_TEAM, (int64_t *)a.dest, found, found + pes, a.nelems * pes, 1,
                                                   found + 2 * pes, (const int64_t *)a.source, a.counts,
                                                   a.counts + pes);
#endif
}

template <int MOST> __global__ void __launch_bounds__(MOST) coll_alltoallv_puts(struct coll_args a)
{
#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
#pragma unroll 1
        for (int pe = 0; pe < a.npes; pe++)
            perf_putmem_nbi<DEV_BLOCK>((int64_t *)a.dest + (size_t)a.me * a.nelems,
                                       (const int64_t *)a.source + (size_t)pe * a.nelems, a.nelems * sizeof(int64_t),
                                       pe);
        perf_barrier_all<DEV_BLOCK>();
    }
}

/* Block 0 is measured; the others put until it has finished. */
template <int MOST> __global__ void __launch_bounds__(MOST) coll_barrier_loaded(struct coll_args a)
{
    volatile uint64_t *ended = a.ended;
    char *dest = (char *)a.dest + (size_t)blockIdx.x * COLL_PIECE;

    if (blockIdx.x == 0) {
#pragma unroll 1
        for (long i = 0; i < a.n; i++)
            perf_barrier_all<DEV_BLOCK>();
        if (threadIdx.x == 0)
            *ended = a.launch;
        return;
    }
    do {
        perf_putmem_nbi<DEV_BLOCK>(dest, (const char *)a.source + (size_t)blockIdx.x * COLL_PIECE, COLL_PIECE,
                                   (a.me + 1) % a.npes);
    } while (!__syncthreads_or(*ended == a.launch));
    perf_quiet<DEV_BLOCK>();
}

#define COLL_EACH(kernel)                                                                                  \
    {                                                                                                      \
        kernel<DEV_THREAD, COLL_THREADS>, kernel<DEV_WARP, COLL_THREADS>, kernel<DEV_BLOCK, COLL_THREADS>, \
            kernel<DEV_BLOCK, COLL_WIDE>                                                                   \
    }

#define COLL_BLOCK(kernel)                                        \
    {                                                             \
        NULL, NULL, kernel<COLL_THREADS>, kernel<COLL_WIDE>       \
    }

/* NULL: there is no such form. */
static coll_kernel *coll_kernel_of(const struct dev_row *row)
{
    static coll_kernel *const kernels[][DEV_BLOCK + 2] = {
        COLL_EACH(coll_alltoall),       /* COLL_ALLTOALL */
        COLL_EACH(coll_alltoall_int32), /* COLL_ALLTOALL_INT32 */
        COLL_BLOCK(coll_alltoallv),        /* COLL_ALLTOALLV */
        COLL_BLOCK(coll_alltoallv_packed), /* COLL_ALLTOALLV_PACKED */
        COLL_BLOCK(coll_alltoallv_puts),   /* COLL_ALLTOALLV_PUTS */
        COLL_EACH(coll_fcollect),       /* COLL_FCOLLECT */
        COLL_EACH(coll_broadcast),      /* COLL_BROADCAST */
        COLL_EACH(coll_reduce),         /* COLL_REDUCE */
        COLL_EACH(coll_reduce_float),   /* COLL_REDUCE_FLOAT */
        COLL_EACH(coll_reducescatter),  /* COLL_REDUCESCATTER */
        COLL_EACH(coll_barrier),        /* COLL_BARRIER */
        COLL_EACH(coll_sync),           /* COLL_SYNC */
        COLL_EACH(coll_puts_barrier),   /* COLL_PUTS_BARRIER */
        COLL_BLOCK(coll_barrier_loaded), /* COLL_BARRIER_LOADED */
    };
    static_assert(sizeof kernels / sizeof kernels[0] == COLL_KINDS, "one line a kind, in their order");

#ifdef PERF_NVSHMEM
    if (row->kind == COLL_ALLTOALLV || row->kind == COLL_ALLTOALLV_PACKED)
        return NULL;
#endif
    return kernels[row->kind][row->scope + (row->threads > COLL_THREADS)];
}

#endif
#endif
