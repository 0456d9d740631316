/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs for NVSHMEM compile unmodified and compute what they should: what they do on streams, with launches and
 * buffers; with kernels.cu a program of two units. It calls no cudaMemcpy while a kernel waits, so that it runs between
 * hosts whose NICs take no device memory, too.
 * paths: gpu:2,4 gpu1:2 gpumixed:2
 * timeout: 300
 */
#include <nvshmem.h>
#include <nvshmemx.h>
#include <device_host/nvshmem_common.cuh>
#include <device_host_transport/nvshmem_common_ibgda.h>
#include <non_abi/device/threadgroup/nvshmemi_common_device_defines.cuh>

#include "check.h"

void check_kernels(void);

/* All blocks of all PEs meet. */
__global__ void reduce_ring(int *target, const int *source, size_t nreduce)
{
    cg::grid_group grid = cg::this_grid();

    assert(nreduce);
    grid.sync();
    if (blockIdx.x == 0)
        nvshmemx_int_sum_reduce_block(NVSHMEM_TEAM_WORLD, target, source, nreduce);
}

/* Puts of growing size, unidirectional, as a bandwidth test makes them. */
__global__ void bandwidth(char *dest, const char *source, size_t len, int peer, int rounds)
{
    size_t part = len / gridDim.x, from = part * blockIdx.x;

    for (int i = 0; i < rounds; i++) {
        nvshmemx_putmem_nbi_block(dest + from, source + from, part, peer);
        __syncthreads();
        if (threadIdx.x == 0)
            nvshmem_quiet();
        __syncthreads();
    }
}

static void check_reduce(cudaStream_t stream)
{
    int npes = nvshmem_n_pes(), got[2], mine = nvshmem_my_pe() + 1;
    int *words = (int *)nvshmem_calloc(4, sizeof *words);
    half *halves = (half *)words;

    CHECK_CUDA(cudaMemcpyAsync(words, &mine, sizeof mine, cudaMemcpyHostToDevice, stream));
    nvshmemx_barrier_all_on_stream(stream);
    CHECK(!nvshmemx_int_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, words + 1, words, 1, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(!nvshmem_int_max_reduce(NVSHMEM_TEAM_WORLD, words + 2, words, 1));
    CHECK_CUDA(cudaMemcpy(got, words + 1, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got[0] == npes * (npes + 1) / 2 && got[1] == npes);
    CHECK(!nvshmemx_half_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, halves + 6, halves + 7, 1, stream));
    CHECK(!nvshmemx_int_broadcast_on_stream(NVSHMEM_TEAM_WORLD, words + 3, words, 1, npes - 1, stream));
    CHECK_CUDA(cudaMemcpyAsync(got, words + 3, sizeof *got, cudaMemcpyDeviceToHost, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(got[0] == npes);
    nvshmem_barrier_all();
    nvshmem_free(words);
}

static void check_puts(cudaStream_t stream)
{
    enum { LEN = 1 << 20 };
    int peer = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
    char *from = (char *)nvshmem_malloc(LEN), *to = (char *)nvshmem_align(256, LEN), last;
    uint64_t *flag = (uint64_t *)nvshmem_calloc(1, sizeof *flag);

    CHECK(nvshmem_ptr(to, nvshmem_my_pe()) == to);
    CHECK(nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, to) == NULL);
    CHECK_CUDA(cudaMemsetAsync(from, 3, LEN, stream));
    nvshmemx_putmem_signal_on_stream(to, from, LEN, flag, 9, NVSHMEM_SIGNAL_SET, peer, stream);
    nvshmemx_signal_wait_until_on_stream(flag, NVSHMEM_CMP_EQ, 9, stream);
    CHECK_CUDA(cudaMemcpyAsync(&last, to + LEN - 1, 1, cudaMemcpyDeviceToHost, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(last == 3);
    CHECK(nvshmem_signal_wait_until(flag, NVSHMEM_CMP_NE, 0) == 9);
    nvshmem_barrier_all();
    if (nvshmem_my_pe() == 0)
        bandwidth<<<8, 256, 0, stream>>>(to, from, LEN, peer, 10);
    CHECK_CUDA(cudaStreamSynchronize(stream));
    nvshmemx_quiet_on_stream(stream);
    nvshmemx_barrier_all_on_stream(stream);
    CHECK_CUDA(cudaStreamSynchronize(stream));
    nvshmem_free(flag);
    nvshmem_free(to);
    nvshmem_free(from);
}

/* The same with a configuration and an attribute of its own. */
static void check_attributes(void **args, int *target, size_t n, cudaStream_t stream)
{
    nvshmemx_collective_launch_attr_t attr = {};
    cudaLaunchAttribute priority = {};
    int got = 0;

    CHECK_CUDA(cudaMemset(target, 0, n * sizeof *target));
    nvshmem_barrier_all();
    priority.id = cudaLaunchAttributePriority;
    attr.cuda_config = {dim3(2), dim3(128), 0, stream, &priority, 1};
    CHECK(nvshmemx_collective_launch_attr(&attr, (const void *)reduce_ring, args) == NVSHMEMX_SUCCESS);
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK_CUDA(cudaMemcpy(&got, target + n - 1, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got == 0x01010101 * nvshmem_n_pes());
    nvshmem_barrier_all();
}

static void check_launch(cudaStream_t stream)
{
    size_t n = 100;
    int *source = (int *)nvshmem_calloc(n, sizeof *source), *target = (int *)nvshmem_calloc(n, sizeof *target), got;
    void *args[] = {&target, &source, &n};
    int grid = 0;

    CHECK_CUDA(cudaMemset(source, 1, n * sizeof *source));
    nvshmem_barrier_all();
    CHECK(nvshmemx_collective_launch_query_gridsize((const void *)reduce_ring, 128, args, 0, &grid) ==
              NVSHMEMX_SUCCESS &&
          grid > 0);
    CHECK(nvshmemx_collective_launch((const void *)reduce_ring, dim3(2), dim3(128), args, 0, stream) ==
          NVSHMEMX_SUCCESS);
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK_CUDA(cudaMemcpy(&got, target + n - 1, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got == 0x01010101 * nvshmem_n_pes());
    nvshmem_barrier_all();
    check_attributes(args, target, n, stream);
    nvshmem_free(target);
    nvshmem_free(source);
}

static void check_buffer(void)
{
    int *buffer, *heap = (int *)nvshmem_malloc(sizeof *heap), value = 77, got = 0;
    int peer = (nvshmem_my_pe() + 1) % nvshmem_n_pes();

    CHECK_CUDA(cudaMalloc(&buffer, 1 << 20));
    CHECK(!nvshmemx_buffer_register(buffer, 1 << 20));
    CHECK_CUDA(cudaMemcpy(buffer, &value, sizeof value, cudaMemcpyHostToDevice));
    nvshmem_int_put(heap, buffer, 1, peer);
    nvshmem_barrier_all();
    CHECK_CUDA(cudaMemcpy(&got, heap, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got == 77);
    CHECK(!nvshmemx_buffer_unregister(buffer));
    CHECK_CUDA(cudaFree(buffer));
    nvshmem_free(heap);
}

int main(void)
{
    nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
    cudaStream_t stream;
    int major, minor, patch, devices;
    char name[NVSHMEM_MAX_NAME_LEN];

    setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* kernels wait while others are launched for the first time */
    CHECK(!nvshmemx_init_attr(NVSHMEMX_INIT_WITH_SHMEM, &attr));
    CHECK(nvshmemx_init_status() >= NVSHMEM_STATUS_IS_INITIALIZED);
    CHECK_CUDA(cudaGetDeviceCount(&devices));
    CHECK_CUDA(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    nvshmem_info_get_name(name);
    nvshmemx_vendor_get_version_info(&major, &minor, &patch);
    CHECK(strstr(name, "NVSHMEM v3") && major == NVSHMEM_VENDOR_MAJOR_VERSION);
    check_reduce(stream);
    check_puts(stream);
    check_launch(stream);
    check_buffer();
    check_kernels();
    CHECK_CUDA(cudaStreamDestroy(stream));
    nvshmem_finalize();
    return 0;
}
