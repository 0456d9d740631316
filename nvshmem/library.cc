/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libnvshmem_host: the routines of include/nvshmem for the host and for streams as symbols. Their bodies are those
 * headers'; a kernel on a stream is one of the library's images.
 */
#define WSH_NV_LIBRARY
#define WSH_STREAM_IMAGE "nvshmem/image.cuh"

#include "nvshmem/cuda.h"

#include <shmemx.h>

#include "device/api/stream.cuh"
#include "device/api/stream_rma.cuh"
#include "device/api/launch.cuh"

/* What stands for a template's argument in headers that nvcc reads, too. */
enum { N = 0 };

#include <nvshmem.h>

#include <pthread.h>


void wsh_image_fetch(unsigned number, const void *source, int pe, cudaStream_t stream, void *value, size_t len)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    if (!wsh_image_start<void *, const void *, int>(stream, 1, 1, number, wsh_image.cell, source, pe) &&
        !wsh_device_stream_wait("a g on a stream", stream))
        memcpy(value, wsh_image.cell, len);
    pthread_mutex_unlock(&lock);
}
