/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An exchange for expert parallelism, with the calls of such programs by queue: dispatch sends each token's row to the
 * ranks of its experts, each expert by a queue of its own, and a count behind the rows; combine sends rows back, each
 * word one more, and a flag behind them. Rows to peers that the GPU reaches are stored, others are put. With no fence,
 * counts are right and rows are those of the round.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4 gpuhmemefa:2,4
 * timeout: 300
 */
#include <nvshmem.h>
#include <nvshmemx.h>
#include <device_host_transport/nvshmem_common_ibgda.h>

#include "check.h"

/* Tokens of a rank, words of a row, experts of a rank, and experts of a token. */
enum { TOKENS = 48, WORDS = 1792, EXPERTS = 3, TOPK = 2, BLOCKS = 8, THREADS = 256, ROUNDS = 20 };

/* Symmetric: rows [EXPERTS][ranks][TOKENS], and the word that says how many there are; and what comes back. */
struct buffers {
    int *rows, *counts, *back, *flags;
    int *sent, *slots, *x; /* of this rank: outgoing rows, and per expert how many rows have gone, and slots taken */
    int *wrong;
};

static __device__ int row_word(int rank, int token, int word, int round)
{
    return round * 1000003 + rank * 100019 + token * 211 + word;
}

/* The expert k of a token, any two different ones. */
static __device__ int expert_of(int rank, int token, int k, int ranks)
{
    return (rank * 7 + token * 5 + token / 3 + k * (1 + token % 2)) % (ranks * EXPERTS);
}

static __device__ int load_acquire(const int *at)
{
    int value;

    asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

static __device__ void store_release(int *at, int value)
{
    asm volatile("st.release.sys.global.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

/* One warp: the row to its place at `rank`, by the queue. */
static __device__ void send_row(int *dest, const int *source, int rank, int queue, int index)
{
    int lane = threadIdx.x % 32, me = nvshmemi_device_state_d.mype;
    uint64_t mapped = nvshmemi_get_p2p_ptr((uint64_t)dest, me, rank);

    if (!mapped)
        nvshmemi_ibgda_put_nbi_warp((uint64_t)dest, (uint64_t)source, WORDS * sizeof *source, rank, queue, lane, index);
    else
        for (int i = lane; i < WORDS; i += 32)
            ((int *)mapped)[i] = source[i];
    __syncwarp();
}

/* One lane, when all rows have gone: the word, which is 0 there. */
static __device__ void send_word(int *dest, int value, int rank, int queue, bool adds)
{
    uint64_t mapped = nvshmemi_get_p2p_ptr((uint64_t)dest, nvshmemi_device_state_d.mype, rank);

    if (mapped)
        store_release((int *)mapped, value);
    else if (adds)
        nvshmemi_ibgda_amo_nonfetch_add(dest, value, rank, queue);
    else
        nvshmemi_ibgda_rma_p(dest, value, rank, queue);
}

/* How many rows this rank sends to the expert. */
static __device__ int rows_to(int expert, int me, int ranks)
{
    int n = 0;

    for (int token = 0; token < TOKENS; token++)
        for (int k = 0; k < TOPK; k++)
            n += expert_of(me, token, k, ranks) == expert;
    return n;
}

__global__ void dispatch(struct buffers b, int round)
{
    int me = nvshmemi_device_state_d.mype, ranks = nvshmemi_device_state_d.npes, lane = threadIdx.x % 32;
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;

    for (int at = warp; at < TOKENS * TOPK; at += warps) {
        int token = at / TOPK, expert = expert_of(me, token, at % TOPK, ranks), slot = 0, local = expert % EXPERTS;
        int *row = b.x + token * WORDS;

        for (int i = lane; i < WORDS; i += 32)
            row[i] = row_word(me, token, i, round);
        if (lane == 0)
            slot = atomicAdd(&b.slots[expert], 1);
        slot = __shfl_sync(0xffffffff, slot, 0);
        __syncwarp();
        send_row(b.rows + (size_t)((local * ranks + me) * TOKENS + slot) * WORDS, row, expert / EXPERTS, local, slot);
        __threadfence();
        if (lane == 0)
            atomicAdd(&b.sent[expert], 1);
    }
    for (int expert = warp; expert < ranks * EXPERTS && lane == 0; expert += warps) {
        int n = rows_to(expert, me, ranks);

        while (atomicAdd(&b.sent[expert], 0) != n)
            continue;
        __threadfence();
        send_word(b.counts + expert % EXPERTS * ranks + me, -n - 1, expert / EXPERTS, expert % EXPERTS, true);
    }
}

/* A warp for each expert here and rank: what has come goes back, word by word one more, and a flag behind it. */
__global__ void combine(struct buffers b, int round)
{
    int me = nvshmemi_device_state_d.mype, ranks = nvshmemi_device_state_d.npes, lane = threadIdx.x % 32;
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;

    for (int at = warp; at < EXPERTS * ranks; at += warps) {
        int local = at / ranks, from = at % ranks, n, expert = me * EXPERTS + local;

        while (!(n = load_acquire(&b.counts[at])))
            continue;
        n = -n - 1;
        if (lane == 0 && n != rows_to(expert, from, ranks))
            atomicAdd(b.wrong, 1);
        for (int slot = 0; slot < n; slot++) {
            int *row = b.rows + (size_t)(at * TOKENS + slot) * WORDS;
            int token = (row[0] - row_word(from, 0, 0, round)) / 211, bad = 0;

            __syncwarp();
            for (int i = lane; i < WORDS; i += 32) {
                bad += row[i] != row_word(from, token, i, round);
                row[i]++;
            }
            if (bad)
                atomicAdd(b.wrong, bad);
            __syncwarp();
            send_row(b.back + (size_t)(expert * TOKENS + slot) * WORDS, row, from, local, slot);
        }
        if (lane == 0)
            send_word(b.flags + expert, 1, from, local, round % 2);
        __syncwarp();
        if (lane == 0 && !nvshmemi_get_p2p_ptr((uint64_t)b.flags, me, from))
            nvshmemi_ibgda_quiet(from, local);
        __syncwarp();
    }
}

/* What has come back, from each expert. */
__global__ void look(struct buffers b, int round)
{
    int me = nvshmemi_device_state_d.mype, ranks = nvshmemi_device_state_d.npes, expert = blockIdx.x;

    while (!load_acquire(&b.flags[expert]))
        continue;
    for (int slot = 0; slot < rows_to(expert, me, ranks); slot++) {
        int *row = b.back + (size_t)(expert * TOKENS + slot) * WORDS;
        int token = (row[0] - 1 - row_word(me, 0, 0, round)) / 211;

        for (int i = threadIdx.x; i < WORDS; i += blockDim.x)
            if (row[i] != row_word(me, token, i, round) + 1)
                atomicAdd(b.wrong, 1);
    }
}

/* Where heaps lie, as nvshmem_ptr says it; and that there are queues. */
__global__ void bases(struct buffers b, int queues)
{
    int me = nvshmemi_device_state_d.mype, pe = threadIdx.x;
    auto state = ibgda_get_state();

    if (nvshmemi_device_state_d.npes != nvshmem_n_pes() || me != nvshmem_my_pe() ||
        state->num_rc_per_pe * state->num_devices_initialized != queues)
        atomicAdd(b.wrong, 1000);
    if (nvshmemi_get_p2p_ptr((uint64_t)b.rows, me, pe) !=
        (pe == me ? (uint64_t)b.rows : (uint64_t)nvshmem_ptr(b.rows, pe)))
        atomicAdd(b.wrong, 10000);
    if (!reinterpret_cast<uint64_t *>(nvshmemi_device_state_d.peer_heap_base_p2p)[me] ||
        !nvshmemi_device_state_d.heap_base)
        atomicAdd(b.wrong, 100000);
}

static void check_wrong(const struct buffers *b, const char *what, int round)
{
    int wrong;

    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemcpy(&wrong, b->wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    if (wrong)
        fprintf(stderr, "PE %d, round %d, %s: %d\n", nvshmem_my_pe(), round, what, wrong);
    CHECK(!wrong);
}

static void exchange(const struct buffers *b, int round)
{
    int ranks = nvshmem_n_pes();

    CHECK_CUDA(cudaMemset(b->counts, 0, EXPERTS * ranks * sizeof(int)));
    CHECK_CUDA(cudaMemset(b->flags, 0, EXPERTS * ranks * sizeof(int)));
    CHECK_CUDA(cudaMemset(b->sent, 0, 2 * EXPERTS * ranks * sizeof(int)));
    CHECK_CUDA(cudaDeviceSynchronize());
    nvshmem_barrier_all();
    dispatch<<<BLOCKS, THREADS>>>(*b, round);
    combine<<<BLOCKS, THREADS>>>(*b, round);
    look<<<EXPERTS * ranks, THREADS>>>(*b, round);
    check_wrong(b, "rows or counts", round);
    nvshmem_barrier_all();
}

int main(void)
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    setenv("NVSHMEM_IBGDA_NUM_RC_PER_PE", "4", 1);
    nvshmem_init();
    int ranks = nvshmem_n_pes();
    size_t rows = (size_t)EXPERTS * ranks * TOKENS * WORDS * sizeof(int), words = EXPERTS * ranks * sizeof(int);
    struct buffers b = {(int *)nvshmem_align(128, rows), (int *)nvshmem_align(128, words),
                        (int *)nvshmem_align(128, rows), (int *)nvshmem_align(128, words),
                        (int *)nvshmem_calloc(1, 2 * words), NULL,
                        (int *)nvshmem_align(128, TOKENS * WORDS * sizeof(int)), (int *)nvshmem_calloc(1, sizeof(int))};

    CHECK(b.rows && b.counts && b.back && b.flags && b.sent && b.x && b.wrong);
    b.slots = b.sent + EXPERTS * ranks;
    bases<<<1, ranks>>>(b, 4);
    check_wrong(&b, "what kernels know of peers", 0);
    for (int round = 1; round <= ROUNDS; round++)
        exchange(&b, round);
    nvshmem_finalize();
    return 0;
}
