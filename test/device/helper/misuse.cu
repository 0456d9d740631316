/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that do what they must not, for refusals.sh: misuse NAME. Prints "went on" if nothing stops the job. */
#include <shmemx.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__device__ int not_symmetric;

__global__ void misuse(int which, int *device, int *host, uint64_t *signal, shmem_team_t alone)
{
    extern __shared__ __align__(128) char scratch[];
    int n = shmem_n_pes();

    switch (which) {
    case 0: shmem_int_p(device, 1, n); break;
    case 1: shmem_putmem_warp(device, device + 8, 16, -1); break;
    case 2: shmem_int_put_block(&not_symmetric, device, 1, n - 1); break;
    case 3: shmem_getmem(device, device + 1024, (size_t)1 << 40, n - 1); break;
    case 4: shmem_int_atomic_inc(host, 0); break;
    case 5: shmem_int_put_signal_warp(device, device + 8, 1, (uint64_t *)host, 1, SHMEM_SIGNAL_ADD, 0); break;
    case 6: shmem_ctx_int_p((shmem_ctx_t)device, device, 1, 0); break;
    case 7: shmemx_putmem_bulk_warp(device, device + 64, 64, 0, scratch, 16); break;
    case 8: shmem_int_iput(device, device + 64, 0, 1, 4, 0); break;
    case 9: shmem_int_p((int *)((char *)device + 1), 1, 0); break;
    case 10: shmem_putmem(device, nullptr, 4, 0); break;
    case 11: shmem_int_wait_until(device, 6, 1); break;
    case 12: shmem_int_put_signal(device, device + 8, 1, signal, 1, 7, 0); break;
    case 13: shmem_int_wait_until(&not_symmetric, SHMEM_CMP_EQ, 0); break;
    case 14: shmem_global_exit(3); break;
    case 15:
        if (blockIdx.x == 0)
            shmemx_alltoallvmem_block(alone, device, signal, signal, device, signal + 1, signal);
        break;
    }
}

static const char *const names[] = {"pe",      "pe_negative", "address",    "length",      "host_atomic",
                                    "host_add", "context",    "scratch",    "stride",      "misaligned",
                                    "null",    "cmp",         "sig_op",     "wait_address", "exit",
                                    "counts"};

int main(int argc, char **argv)
{
    int *device, *host, which = -1, gpus = 0;
    uint64_t *signal;
    shmem_team_t alone = SHMEM_TEAM_INVALID;
    const uint64_t counts[] = {0, 3};

    for (int i = 0; argc > 1 && i < (int)(sizeof names / sizeof names[0]); i++)
        if (!strcmp(argv[1], names[i]))
            which = i;
    shmem_init();
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || !gpus || which < 0)
        return 77;
    cudaSetDevice(shmem_my_pe() % gpus);
    device = (int *)shmemx_calloc_device(1, 8192);
    signal = (uint64_t *)shmemx_calloc_device(1, sizeof counts);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &alone);
    host = (int *)shmem_malloc(64);
    if (shmem_my_pe() == 0) {
        cudaMemcpy(signal, counts, sizeof counts, cudaMemcpyHostToDevice);
        misuse<<<2, 64, 4096>>>(which, device, host, signal, alone);
        cudaDeviceSynchronize();
    }
    shmem_barrier_all();
    printf("went on\n");
    shmem_finalize();
    return 0;
}
