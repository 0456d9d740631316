/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues of a program for NVSHMEM: puts, gets, signals and words by queues of its own, by the default one and by any;
 * quiet and fence of one, of several and of all; nvshmem_quiet completes what went by queues too. With four PEs on two
 * hosts: how long the quiet of one queue takes beside a large put by another.
 * paths: gpu:2 gpu1:2 gpumixed:2,4 gpuhmemefa:2,4
 * timeout: 300
 */
#include <nvshmem.h>
#include <nvshmemx.h>

#include "check.h"

enum { QUEUES = 5, THREADS = 128, LARGE = 48 << 20 };

struct place {
    char *dest, *source;
    int *words;
    uint64_t *signals;
    int *wrong;
    nvshmemx_qp_handle_t *queues; /* [QUEUES], in device memory */
    int peer;
    char *large; /* in the host heap, which the proxy's transports read: nothing is copied by the kernel */
};

static __device__ char value(int from, int round, size_t i)
{
    return (char)(from * 57 + round * 11 + i * 3);
}

static __device__ void expect(const struct place &p, bool holds, int weight)
{
    if (!holds)
        atomicAdd(p.wrong, weight);
}

/* The block's own queue: as many bytes as a row has, then a signal. `how`: by a thread, warp or block. */
__global__ void rows(struct place p, size_t len, int round)
{
    int me = nvshmem_my_pe(), how = round % 3;
    nvshmemx_qp_handle_t queue = p.queues[blockIdx.x];
    char *dest = p.dest + blockIdx.x * len, *source = p.source + blockIdx.x * len;
    uint64_t *signal = p.signals + blockIdx.x;

    for (size_t i = threadIdx.x; i < len; i += blockDim.x)
        source[i] = value(me, round, i);
    __syncthreads();
    if (how == 0 && threadIdx.x == 0) {
        nvshmemx_qp_char_put_nbi(dest, source, len, p.peer, queue);
        nvshmemx_qp_fence(p.peer, &queue, 1);
        nvshmemx_qp_signal_op(signal, round, NVSHMEM_SIGNAL_SET, p.peer, queue);
    }
    if (how == 1 && threadIdx.x < 32) {
        nvshmemx_qp_char_put_nbi_warp(dest, source, len / 2, p.peer, queue);
        nvshmemx_qp_fence_warp(p.peer, &queue, 1);
        nvshmemx_qp_char_put_signal_nbi_warp(dest + len / 2, source + len / 2, len - len / 2, signal, round,
                                             NVSHMEM_SIGNAL_SET, p.peer, queue);
    }
    if (how == 2)
        nvshmemx_qp_char_put_signal_block(dest, source, len, signal, round, NVSHMEM_SIGNAL_SET, p.peer, queue);
    if (threadIdx.x == 0)
        nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, round);
    __syncthreads();
    for (size_t i = threadIdx.x; i < len; i += blockDim.x)
        expect(p, dest[i] == value(p.peer, round, i), 1);
    __syncthreads();
    nvshmemx_qp_quiet_block(p.peer, &queue, 1);
    /* What is there, read back by the queue: the peer's rows are this PE's. */
    nvshmemx_qp_char_get_block(source, dest, len, p.peer, queue);
    for (size_t i = threadIdx.x; i < len; i += blockDim.x)
        expect(p, source[i] == value(me, round, i), 1);
}

/* One thread: words by each kind of handle, completed in each way. */
__global__ void words(struct place p, int round)
{
    nvshmemx_qp_handle_t handles[] = {p.queues[0], NVSHMEMX_QP_DEFAULT, NVSHMEMX_QP_ANY, p.queues[3], NVSHMEMX_QP_HOST};
    nvshmemx_qp_handle_t all = NVSHMEMX_QP_ALL;

    for (int i = 0; i < 5; i++)
        nvshmemx_qp_int_p(p.words + i, round + i, p.peer, handles[i]);
    if (round % 4 == 0)
        nvshmem_quiet();
    else if (round % 4 == 1)
        nvshmemx_qp_quiet(NVSHMEMX_PE_ALL, NULL, NVSHMEMX_QP_ALL);
    else if (round % 4 == 2)
        nvshmemx_qp_quiet(p.peer, &all, 1);
    else {
        handles[2] = p.queues[4];
        nvshmemx_qp_quiet(p.peer, handles, 5);
    }
    for (int i = 0; i < 5; i++)
        expect(p, nvshmemx_qp_int_g(p.words + i, p.peer, p.queues[i]) == round + i, 100);
}

/* A barrier in a kernel completes what went by queues. */
__global__ void barrier(struct place p, int round)
{
    if (threadIdx.x < QUEUES)
        nvshmemx_qp_int_p(p.words + 8 + threadIdx.x, round * 10 + threadIdx.x, p.peer, p.queues[threadIdx.x]);
    nvshmemx_barrier_all_block();
    if (threadIdx.x < QUEUES)
        expect(p, p.words[8 + threadIdx.x] == round * 10 + (int)threadIdx.x, 1000);
    nvshmemx_barrier_all_block();
}

/* times[0]: until a word's quiet; times[1]: until that of the large put, which began before. */
__global__ void large(struct place p, int other, unsigned long long *times)
{
    nvshmemx_qp_handle_t a = p.queues[0], b = p.queues[1];
    unsigned long long began, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began));
    nvshmemx_qp_char_put_nbi(p.large, p.large, LARGE, p.peer, a);
    nvshmemx_qp_int_p(p.words, 4711, other, b);
    nvshmemx_qp_quiet(other, &b, 1);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    times[0] = now - began;
    nvshmemx_qp_quiet(p.peer, &a, 1);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    times[1] = now - began;
}

static void check_wrong(const struct place *p, const char *what, int round)
{
    int wrong;

    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemcpy(&wrong, p->wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    if (wrong)
        fprintf(stderr, "PE %d, %s, round %d: %d\n", nvshmem_my_pe(), what, round, wrong);
    CHECK(!wrong);
    nvshmem_barrier_all();
}

/*
 * By PE 0: to the PE beyond the middle, and one more. Printed, not judged: an emulated NIC lands data in the thread
 * that polls it (emulator/README.md), here the proxy's, which serves the other queue only afterwards; over tcp that
 * thread copies into the socket. test/mp/device_queues judges, without a GPU: there the target is stopped.
 */
static void check_large(const struct place *p)
{
    unsigned long long *times, got[2];

    if (nvshmem_n_pes() < 4 || nvshmem_ptr(p->dest, p->peer)) {
        if (!nvshmem_my_pe())
            printf("a large put beside a small one: not run, for two PEs of another host are needed\n");
        return;
    }
    CHECK_CUDA(cudaMalloc(&times, sizeof got));
    if (!nvshmem_my_pe()) {
        large<<<1, 1>>>(*p, p->peer + 1, times);
        CHECK_CUDA(cudaMemcpy(got, times, sizeof got, cudaMemcpyDeviceToHost));
        printf("quiet of a word beside a put of %d MiB: %.0f us; of the put: %.0f us\n", LARGE >> 20, got[0] / 1e3,
               got[1] / 1e3);
    }
    nvshmem_barrier_all();
    cudaFree(times);
}

int main(void)
{
    static const size_t lens[] = {1, 64, 700, 7168, 40000, 300001};
    nvshmemx_qp_handle_t *queues;
    struct place p;
    int round = 0;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    nvshmem_init();
    p.large = (char *)shmem_malloc(LARGE);
    p = {(char *)nvshmem_malloc(4 << 20), (char *)nvshmem_malloc(4 << 20), (int *)nvshmem_calloc(64, sizeof(int)),
         (uint64_t *)nvshmem_calloc(QUEUES, 8), (int *)nvshmem_calloc(1, sizeof(int)), NULL,
         (nvshmem_my_pe() + nvshmem_n_pes() / 2) % nvshmem_n_pes(), p.large};
    CHECK(p.large && p.dest && p.source && p.words && p.signals && p.wrong);
    CHECK(!nvshmemx_qp_create(QUEUES, &queues));
    for (int i = 0; i < QUEUES; i++)
        CHECK(queues[i] > NVSHMEMX_QP_DEFAULT && (!i || queues[i] != queues[i - 1]));
    CHECK_CUDA(cudaMalloc(&p.queues, QUEUES * sizeof *queues));
    CHECK_CUDA(cudaMemcpy(p.queues, queues, QUEUES * sizeof *queues, cudaMemcpyHostToDevice));
    for (size_t len : lens)
        for (int i = 0; i < 6; i++) {
            rows<<<QUEUES, THREADS>>>(p, len, ++round);
            check_wrong(&p, "rows", round);
        }
    for (int i = 0; i < 12; i++) {
        words<<<1, 1>>>(p, ++round);
        check_wrong(&p, "words", round);
        barrier<<<1, THREADS>>>(p, round);
        check_wrong(&p, "barrier", round);
    }
    check_large(&p);
    free(queues);
    nvshmem_finalize();
    return 0;
}
