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

/*
 * Alltoallv of elements of `width` bytes, which NVSHMEM has not: for callers from other languages, which have no types.
 * As shmemx_alltoallvmem_on_stream and its packed form.
 */
WSH_NV_STREAM int nvshmemx_alltoallv_on_stream(nvshmem_team_t team, void *dest, size_t *dest_counts,
                                               size_t *dest_offsets, const void *source, const size_t *source_counts,
                                               const size_t *source_offsets, size_t width, cudaStream_t stream)
{
    return wsh_stream_vector<N>(SHMEMX_TEAM(team),
                                wsh_dev_vector{(char *)dest, (const char *)source, source_counts, source_offsets,
                                               dest_counts, dest_offsets, NULL, 0, 0, width},
                                stream);
}

WSH_NV_STREAM int nvshmemx_alltoallv_packed_on_stream(nvshmem_team_t team, void *dest, size_t *dest_counts,
                                                      size_t *dest_offsets, size_t dest_max, size_t align,
                                                      size_t *need, const void *source, const size_t *source_counts,
                                                      const size_t *source_offsets, size_t width, cudaStream_t stream)
{
    return wsh_stream_vector<N>(SHMEMX_TEAM(team),
                                wsh_dev_vector{(char *)dest, (const char *)source, source_counts, source_offsets,
                                               dest_counts, dest_offsets, need, dest_max, align, width},
                                stream);
}

void wsh_image_fetch(unsigned number, const void *source, int pe, cudaStream_t stream, void *value, size_t len)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    if (!wsh_image_start<void *, const void *, int>(stream, 1, 1, number, wsh_image.cell, source, pe) &&
        !wsh_device_stream_wait("a g on a stream", stream))
        memcpy(value, wsh_image.cell, len);
    pthread_mutex_unlock(&lock);
}
