/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Producers and a consumer: all PEs write messages into a queue at PE 0, whose places they get by fetch_add; the
 * consumer takes them in the order of the places and frees them.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { MESSAGES = 100, PLACES = 8, WORDS = 6 };

struct queue {
    uint64_t tail;           /* the next place to be given */
    uint64_t turn[PLACES];   /* 2 * lap: free in that lap; 2 * lap + 1: full */
    long body[PLACES][WORDS];
    long sum;
};

__global__ void produce(struct queue *queue, long *message)
{
    int mype = nvshmem_my_pe();

    for (int i = 0; i < MESSAGES; i++) {
        uint64_t ticket = nvshmem_uint64_atomic_fetch_add(&queue->tail, 1, 0), lap = ticket / PLACES;
        int place = ticket % PLACES;

        while (nvshmem_uint64_atomic_fetch(&queue->turn[place], 0) != 2 * lap)
            ;
        for (int k = 0; k < WORDS; k++)
            message[k] = 1000 * (mype + 1) + i + k;
        nvshmem_long_put(queue->body[place], message, WORDS, 0);
        nvshmem_fence();
        nvshmem_uint64_atomic_set(&queue->turn[place], 2 * lap + 1, 0);
    }
    nvshmem_quiet();
}

__global__ void consume(struct queue *queue, int count, int *wrong)
{
    for (uint64_t ticket = 0; ticket < (uint64_t)count; ticket++) {
        uint64_t lap = ticket / PLACES;
        int place = ticket % PLACES;
        long first;

        nvshmem_uint64_wait_until(&queue->turn[place], NVSHMEM_CMP_EQ, 2 * lap + 1);
        first = queue->body[place][0];
        for (int k = 0; k < WORDS; k++)
            *wrong += queue->body[place][k] != first + k;
        queue->sum += first;
        nvshmem_fence();
        nvshmem_uint64_atomic_set(&queue->turn[place], 2 * lap + 2, 0);
    }
}

int main(void)
{
    begin();
    struct queue *queue = symmetric<struct queue>(1);
    long *message = symmetric<long>(WORDS), sum = 0;
    int *wrong = symmetric<int>(1);
    cudaStream_t other;

    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    for (int pe = 0; pe < n; pe++)
        sum += MESSAGES * 1000 * (pe + 1) + MESSAGES * (MESSAGES - 1) / 2;
    nvshmem_barrier_all();
    if (me == 0)
        consume<<<1, 1, 0, other>>>(queue, n * MESSAGES, wrong);
    RUN(produce<<<1, 1, 0, stream>>>(queue, message));
    CUDA(cudaStreamSynchronize(other));
    CHECK(at(wrong) == 0 && (me != 0 || at(&queue->sum) == sum));
    CUDA(cudaStreamDestroy(other));
    nvshmem_barrier_all();
    nvshmem_free(queue);
    return finish();
}
