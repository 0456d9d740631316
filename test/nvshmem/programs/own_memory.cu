/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A GPU that is chosen before nvshmem_init is attached there: a kernel runs before any symmetric memory is asked for.
 * What it does to its own PE goes to any memory of the GPU, as in a reference run of one PE on memory of cudaMalloc.
 * paths: gpu:1,2 gpu1:1,2,4 gpumixed:2
 * timeout: 120
 */
#include "program.cuh"

enum { WORDS = 64 };

__device__ uint64_t counter;

__global__ void work(float *words, int *bytes, int mype)
{
    int i = threadIdx.x;
    float value = (float)i, three[3] = {1, 2, 3};

    nvshmem_float_p(words + i, value, mype);
    nvshmem_float_put_nbi(words + WORDS + i, &value, 1, mype);
    nvshmem_quiet();
    __syncthreads();
    nvshmemx_float_put_block(words + 2 * WORDS, words, WORDS, mype);
    nvshmemx_float_get_nbi_warp(words + 3 * WORDS + i / 32 * 32, words + WORDS + i / 32 * 32, 32, mype);
    if (i == 0) {
        nvshmem_float_iput(words + 4 * WORDS, three, 2, 1, 3, mype);
        nvshmem_uint64_atomic_add(&counter, 5, mype);
        bytes[1] = (int)nvshmem_uint64_atomic_fetch_add(&counter, 1, mype);
        nvshmem_int_p(bytes, (int)nvshmem_float_g(words + 7, mype), mype);
    }
    nvshmem_quiet();
}

static void choose(void)
{
    const char *names[] = {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    int rank = 0, devices;

    for (const char *name : names)
        rank = getenv(name) ? atoi(getenv(name)) : rank;
    CUDA(cudaGetDeviceCount(&devices));
    CUDA(cudaSetDevice(rank % devices));
}

int main(void)
{
    float *words, host[5 * WORDS];
    int *bytes, two[2];

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    choose();
    nvshmem_init();
    look_around_host();
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&words, sizeof host));
    CUDA(cudaMalloc(&bytes, sizeof two));
    CUDA(cudaMemset(words, 0, sizeof host));
    RUN(work<<<1, WORDS, 0, stream>>>(words, bytes, me));
    to_host(host, words, 5 * WORDS);
    to_host(two, bytes, 2);
    for (int i = 0; i < 4 * WORDS; i++)
        CHECK(host[i] == (float)(i % WORDS));
    for (int i = 0; i < 5; i++)
        CHECK(host[4 * WORDS + i] == (float)(i % 2 ? 0 : i / 2 + 1));
    CHECK(two[0] == 7 && two[1] == 5);

    /* Symmetric memory afterwards is on the same GPU. */
    int *there = symmetric<int>(1);

    nvshmem_barrier_all();
    nvshmem_int_p(there, 40 + me, right);
    nvshmem_barrier_all();
    CHECK(at(there) == 40 + left);
    nvshmem_free(there);
    CUDA(cudaFree(words));
    CUDA(cudaFree(bytes));
    return finish();
}
