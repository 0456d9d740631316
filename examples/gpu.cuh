/* SPDX-License-Identifier: BSD-3-Clause */
/* How the programs for GPUs of these examples begin, and what becomes of errors of CUDA. */
#ifndef EXAMPLES_GPU_CUH
#define EXAMPLES_GPU_CUH

#include <cuda_runtime.h>
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>

/* Ends the job with a line where a call of CUDA, or one that enters work into a stream, has failed. */
static void cuda(int status)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "PE %d: %s\n", shmem_my_pe(), cudaGetErrorString((cudaError_t)status));
    shmem_global_exit(1);
}

/* shmem_init, on the GPUs of the host in turn. Without one, ends with the status that tests take for skipped. */
static void gpu_init(void)
{
    int gpus = 0;

    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
        fprintf(stderr, "skip: no GPU that CUDA can use\n");
        exit(77);
    }
    setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* loading a kernel waits for others, which may wait for this PE */
    shmem_init();
    cuda(cudaSetDevice(shmem_my_pe() % gpus));
}

#endif
