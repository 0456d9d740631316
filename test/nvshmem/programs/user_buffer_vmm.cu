/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric buffers in memory of cuMemCreate, as allocators with growing segments have it: reserve, create, map,
 * register; several side by side.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

#include <cuda.h>

enum { BUFFERS = 6 };

struct buffer {
    CUdeviceptr address;
    CUmemGenericAllocationHandle handle;
    size_t len;
};

static void allocate(struct buffer *buffer, size_t len)
{
    CUmemAllocationProp prop = {};
    CUmemAccessDesc access = {};
    int device, capable = 0;
    size_t granularity;

    CUDA(cudaGetDevice(&device));
    cuDeviceGetAttribute(&capable, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, device);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.allocFlags.gpuDirectRDMACapable = capable;
    CHECK(!cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    buffer->len = (len + granularity - 1) / granularity * granularity;
    CHECK(!cuMemCreate(&buffer->handle, buffer->len, &prop, 0));
    CHECK(!cuMemAddressReserve(&buffer->address, buffer->len, 0, 0, 0));
    CHECK(!cuMemMap(buffer->address, buffer->len, 0, buffer->handle, 0));
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK(!cuMemSetAccess(buffer->address, buffer->len, &access, 1));
}

__global__ void send(int *box, int value, int peer)
{
    nvshmem_int_p(box, value, peer);
    nvshmem_int_p(box + 1000, value + 1, peer);
    nvshmem_quiet();
}

int main(void)
{
    begin();
    struct buffer buffers[BUFFERS];
    int *heap = symmetric<int>(1);

    for (int i = 0; i < BUFFERS; i++) {
        allocate(&buffers[i], (size_t)(i + 1) << 20);
        CHECK(nvshmemx_buffer_register_symmetric((void *)buffers[i].address, buffers[i].len, 0) ==
              (void *)buffers[i].address);
    }
    for (int i = 0; i < BUFFERS; i++)
        RUN(send<<<1, 1, 0, stream>>>((int *)buffers[i].address, 100 * me + 10 * i, right));
    nvshmem_barrier_all();
    for (int i = 0; i < BUFFERS; i++) {
        CHECK(at((int *)buffers[i].address) == 100 * left + 10 * i);
        CHECK(at((int *)buffers[i].address + 1000) == 100 * left + 10 * i + 1);
    }
    nvshmem_barrier_all();
    for (int i = 0; i < BUFFERS; i++) {
        CHECK(!nvshmemx_buffer_unregister_symmetric((void *)buffers[i].address, buffers[i].len));
        CHECK(!cuMemUnmap(buffers[i].address, buffers[i].len));
        CHECK(!cuMemRelease(buffers[i].handle));
        CHECK(!cuMemAddressFree(buffers[i].address, buffers[i].len));
    }
    nvshmem_free(heap);
    return finish();
}
