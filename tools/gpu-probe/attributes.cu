// SPDX-License-Identifier: BSD-3-Clause
// What the driver says of itself, its devices and their links, and how long it takes to start.
#include "probe.cuh"

#define ATTRIBUTE(name)                   \
    {                                     \
#name, CU_DEVICE_ATTRIBUTE_##name \
    }

static const struct {
    const char *name;
    CUdevice_attribute id;
} attributes[] = {
    ATTRIBUTE(GPU_DIRECT_RDMA_SUPPORTED),
    ATTRIBUTE(GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED),
    ATTRIBUTE(GPU_DIRECT_RDMA_WRITES_ORDERING),
    ATTRIBUTE(GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS),
    ATTRIBUTE(CAN_FLUSH_REMOTE_WRITES),
    ATTRIBUTE(DMA_BUF_SUPPORTED),
    ATTRIBUTE(HOST_ALLOC_DMA_BUF_SUPPORTED),
    ATTRIBUTE(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
    ATTRIBUTE(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED),
    ATTRIBUTE(HANDLE_TYPE_FABRIC_SUPPORTED),
    ATTRIBUTE(HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
    ATTRIBUTE(HOST_REGISTER_SUPPORTED),
    ATTRIBUTE(READ_ONLY_HOST_REGISTER_SUPPORTED),
    ATTRIBUTE(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM),
    ATTRIBUTE(HOST_NATIVE_ATOMIC_SUPPORTED),
    ATTRIBUTE(PAGEABLE_MEMORY_ACCESS),
    ATTRIBUTE(CONCURRENT_MANAGED_ACCESS),
    ATTRIBUTE(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST),
    ATTRIBUTE(CAN_USE_64_BIT_STREAM_MEM_OPS),
    ATTRIBUTE(CAN_USE_STREAM_WAIT_VALUE_NOR),
    ATTRIBUTE(IPC_EVENT_SUPPORTED),
    ATTRIBUTE(MEM_SYNC_DOMAIN_COUNT),
    ATTRIBUTE(COMPUTE_MODE),
    ATTRIBUTE(COMPUTE_PREEMPTION_SUPPORTED),
    ATTRIBUTE(COOPERATIVE_LAUNCH),
    ATTRIBUTE(MPS_ENABLED),
    ATTRIBUTE(MULTIPROCESSOR_COUNT),
    ATTRIBUTE(L2_CACHE_SIZE),
    ATTRIBUTE(ASYNC_ENGINE_COUNT),
    ATTRIBUTE(STREAM_PRIORITIES_SUPPORTED),
    ATTRIBUTE(NUMA_CONFIG),
    ATTRIBUTE(HOST_NUMA_ID),
    ATTRIBUTE(PCI_DOMAIN_ID),
    ATTRIBUTE(PCI_BUS_ID),
};

static void ask_device(int d)
{
    char name[128] = "", bus[64] = "";
    size_t bytes = 0;
    CUdevice dev;

    if (!CHECK(cuDeviceGet(&dev, d)))
        return;
    CHECK(cuDeviceGetName(name, sizeof name, dev));
    CHECK(cuDeviceTotalMem(&bytes, dev));
    CHECK(cuDeviceGetPCIBusId(bus, sizeof bus, dev));
    say(text("device %d", d), name, text("%.1f GiB at %s", (double)bytes / (1 << 30), bus));
    for (const auto &a : attributes) {
        int value = -1;
        CUresult r = cuDeviceGetAttribute(&value, a.id, dev);

        say(text("device %d %s", d, a.name), name_of(r), text("%d", value));
    }
}

static void ask_link(int from, int to)
{
    int rank = -1, access = -1, atomics = -1, partial = -1;

    CHECK(cuDeviceGetP2PAttribute(&rank, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, from, to));
    CHECK(cuDeviceGetP2PAttribute(&access, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, from, to));
    CHECK(cuDeviceGetP2PAttribute(&atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, from, to));
    CHECK(cuDeviceGetP2PAttribute(&partial, CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED,
                                  from, to));
    say(text("link %d to %d", from, to), access ? "reachable" : "not reachable",
        text("rank %d, native atomics %d, partial %d", rank, atomics, partial));
}

void ask_attributes()
{
    int driver = 0, runtime = 0, count = 0;
    CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;

    if (!CHECK(cuInit(0)) || !CHECK(cuDeviceGetCount(&count)))
        return;
    CHECK(cuDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cuModuleGetLoadingMode(&mode));
    say("versions", text("driver %d, runtime %d", driver, runtime), text("%d devices", count));
    say("module loading", mode == CU_MODULE_LAZY_LOADING ? "lazy by default" : "eager by default", "");
    for (int d = 0; d < count; d++)
        ask_device(d);
    for (int from = 0; from < count; from++)
        for (int to = 0; to < count; to++)
            if (from != to)
                ask_link(from, to);
}

static void timed(const char *part, CUresult (*call)())
{
    double start = now_us();
    CUresult r = call();

    say(part, name_of(r), text("%.1f ms", (now_us() - start) / 1e3));
}

static size_t free_bytes()
{
    size_t left = 0, total = 0;

    CHECK(cuMemGetInfo(&left, &total));
    return left;
}

// What a program pays that only starts the driver, one that has a context, and one with a second context user.
void ask_init()
{
    CUcontext context = NULL;
    cudaError_t r;
    double start;

    timed("cuInit", [] { return cuInit(0); });
    timed("context of device 0", [] {
        CUcontext made;

        return cuDevicePrimaryCtxRetain(&made, 0);
    });
    if (!CHECK(cuDevicePrimaryCtxRetain(&context, 0)) || !CHECK(cuCtxSetCurrent(context)))
        return;
    start = now_us();
    r = cudaFree(NULL);
    say("cudaFree(0) after it", name_of(r), text("%.1f ms", (now_us() - start) / 1e3));
    say("memory left on the device", "ok", text("%.1f GiB", (double)free_bytes() / (1 << 30)));
}
