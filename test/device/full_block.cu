/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels without launch bounds that call routines of blocks, or puts and gets of warps, start with 1024 threads, the
 * most a block has, and move right data: none takes more than the 64 registers that each thread then has. Reductions,
 * collect and broadcast do, and are not here.
 * paths: gpu:2 gpuipc:2 gpureg:2 gpugda:2
 */
#include "test/device/dev.cuh"

#include <stdlib.h>

enum { FULL = 1024, LEN = 40000, SCRATCH = 8192 };

struct move {
    char *dest, *source, *skewed; /* skewed: the same data, at no multiple of 16 */
    uint64_t *flag;
    shmemx_counter_t counter;
    int right;
};

typedef void kernel(struct move);

static __global__ void put(struct move m)
{
    shmem_putmem_block(m.dest, m.source, LEN, m.right);
}

static __global__ void put_nbi(struct move m)
{
    shmem_putmem_nbi_block(m.dest, m.source, LEN, m.right);
    shmem_quiet_block();
}

static __global__ void put_misaligned(struct move m)
{
    shmem_putmem_block(m.dest, m.skewed, LEN, m.right);
}

/* Each warp its part, at no multiple of 16. */
static __global__ void put_by_warps(struct move m)
{
    size_t part = LEN / (FULL / 32), at = threadIdx.x / 32 * part;

    shmem_putmem_warp(m.dest + at, m.skewed + at, part, m.right);
}

static __global__ void put_signal(struct move m)
{
    shmem_putmem_signal_block(m.dest, m.source, LEN, m.flag, 1, SHMEM_SIGNAL_ADD, m.right);
}

static __global__ void put_signal_nbi(struct move m)
{
    shmem_putmem_signal_nbi_block(m.dest, m.source, LEN, m.flag, 1, SHMEM_SIGNAL_ADD, m.right);
    shmem_quiet_block();
}

static __global__ void put_counted(struct move m)
{
    shmemx_putmem_counted_nbi_block(m.dest, m.source, LEN, m.counter, m.right);
    shmem_quiet_block();
}

static __global__ void iput(struct move m)
{
    shmem_int64_iput_block((int64_t *)m.dest, (const int64_t *)m.source, 1, 1, LEN / 8, m.right);
}

static __global__ void put_bulk(struct move m)
{
    __shared__ __align__(128) char scratch[SCRATCH];

    shmemx_putmem_bulk_block(m.dest, m.source, LEN, m.right, scratch, SCRATCH);
}

static __global__ void get(struct move m)
{
    shmem_getmem_block(m.dest, m.source, LEN, m.right);
}

static __global__ void get_misaligned(struct move m)
{
    shmem_getmem_block(m.dest, m.skewed, LEN, m.right);
}

static __global__ void get_by_warps(struct move m)
{
    size_t part = LEN / (FULL / 32), at = threadIdx.x / 32 * part;

    shmem_getmem_warp(m.dest + at, m.skewed + at, part, m.right);
}

static __global__ void iget(struct move m)
{
    shmem_int64_iget_block((int64_t *)m.dest, (const int64_t *)m.source, 1, 1, LEN / 8, m.right);
}

static __global__ void get_bulk(struct move m)
{
    __shared__ __align__(128) char scratch[SCRATCH];

    shmemx_getmem_bulk_block(m.dest, m.source, LEN, m.right, scratch, SCRATCH);
}

static __global__ void barrier(void)
{
    shmem_barrier_all_block();
}

static __global__ void sync(void)
{
    shmem_sync_all_block();
}

static __global__ void warp_barrier(void)
{
    if (threadIdx.x < 32)
        shmem_barrier_all_warp();
}

/*
 * Collectives: all parts of a source are the same, and the first part of the target is that of PE 0. In a program of
 * their own they take more registers than 1024 threads have; the bound keeps them within.
 */
static __global__ void __launch_bounds__(1024) alltoall(struct move m)
{
    shmem_alltoallmem_block(SHMEM_TEAM_WORLD, m.dest, m.source, LEN);
}

static __global__ void __launch_bounds__(1024) alltoalls(struct move m)
{
    shmem_int64_alltoalls_block(SHMEM_TEAM_WORLD, (int64_t *)m.dest, (const int64_t *)m.source, 1, 1,
                                LEN / 8);
}

static __global__ void __launch_bounds__(1024) fcollect(struct move m)
{
    shmem_int64_fcollect_block(SHMEM_TEAM_WORLD, (int64_t *)m.dest, (const int64_t *)m.source, LEN / 8);
}

/* The first part of the target is PE `writer`'s. */
static void run(const char *what, kernel *move, struct move m, char *host, int writer)
{
    dev_case("%s by 1024 threads", what);
    cudaMemset(m.dest, 0, LEN);
    dev_wait();
    shmem_barrier_all();
    move<<<1, FULL>>>(m);
    mp_check(cudaGetLastError() == cudaSuccess, "%s: the kernel does not start", what);
    dev_wait();
    shmem_barrier_all();
    dev_download(host, m.dest, LEN);
    mp_check(!mp_wrong(host, LEN, (uint64_t)writer), "%s: data differ", what);
    shmem_barrier_all();
}

static void meet(const char *what, void (*kernel)(void))
{
    dev_case("%s by 1024 threads", what);
    kernel<<<1, FULL>>>();
    mp_check(cudaGetLastError() == cudaSuccess, "%s: the kernel does not start", what);
    dev_wait();
}

int main(void)
{
    struct move m;
    char *host = (char *)malloc(LEN);

    dev_begin();
    m.dest = (char *)dev_alloc(LEN * (size_t)mp_npes);
    m.source = (char *)dev_alloc(LEN * (size_t)mp_npes);
    m.skewed = (char *)dev_alloc(LEN + 3) + 3;
    m.flag = (uint64_t *)dev_alloc(sizeof *m.flag);
    m.right = mp_right();
    mp_fill(host, LEN, (uint64_t)mp_me);
    for (int i = 0; i < mp_npes; i++)
        dev_upload(m.source + (size_t)i * LEN, host, LEN);
    dev_upload(m.skewed, host, LEN);
    shmem_barrier_all();
    run("put", put, m, host, mp_left());
    run("put_nbi", put_nbi, m, host, mp_left());
    run("put, misaligned", put_misaligned, m, host, mp_left());
    run("put by warps", put_by_warps, m, host, mp_left());
    run("put_signal", put_signal, m, host, mp_left());
    run("put_signal_nbi", put_signal_nbi, m, host, mp_left());
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &m.counter), "no counter");
    run("put_counted", put_counted, m, host, mp_left());
    run("iput", iput, m, host, mp_left());
    run("put_bulk", put_bulk, m, host, mp_left());
    run("get", get, m, host, mp_right());
    run("get, misaligned", get_misaligned, m, host, mp_right());
    run("get by warps", get_by_warps, m, host, mp_right());
    run("iget", iget, m, host, mp_right());
    run("get_bulk", get_bulk, m, host, mp_right());
    meet("barrier", barrier);
    meet("sync", sync);
    meet("barrier by a warp", warp_barrier);
    run("alltoall", alltoall, m, host, 0);
    run("alltoalls", alltoalls, m, host, 0);
    run("fcollect", fcollect, m, host, 0);
    free(host);
    return dev_end();
}
