// SPDX-License-Identifier: BSD-3-Clause
// Device memory of another process: by cuMemCreate and a descriptor, and by cudaIpc; on one device and on two.
#include "device.cuh"
#include "probe.cuh"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t heap_len = (size_t)64 << 20;
static const int adds = 100000;

struct mapping {
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    size_t len;
};

static CUmemAllocationProp heap_prop(int dev, bool rdma)
{
    CUmemAllocationProp prop = {};

    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = dev;
    prop.allocFlags.gpuDirectRDMACapable = rdma;
    return prop;
}

// Word 0 counts, word 1 on is a pattern that the other side left; out[0] = words wrong.
static __global__ void visit_heap(uint64_t *heap, uint64_t expected, uint64_t left, int count, uint64_t *out)
{
    uint64_t wrong = 0;

    for (int i = 1 + threadIdx.x; i < 4096; i += blockDim.x) {
        wrong += load_relaxed(heap + i) != expected + i;
        heap[i] = left + i;
    }
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        atomicAdd_system((unsigned long long *)heap, 1ull);
    atomicAdd_system((unsigned long long *)out, wrong);
}

// Runs `visit_heap`; the words found wrong, or -1.
static long run_visit(CUdeviceptr at, uint64_t expected, uint64_t left, int count)
{
    uint64_t *out = (uint64_t *)pinned(64);

    if (!out)
        return -1;
    visit_heap<<<1, 256>>>((uint64_t *)at, expected, left, count, out);
    if (!CHECK(cudaGetLastError()) || !CHECK(cudaDeviceSynchronize()))
        return -1;
    return (long)*out;
}

static bool map_handle(mapping *m, int dev, const std::string &who)
{
    CUmemAccessDesc access = {};
    unsigned on = 1;
    double start = now_us();

    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = dev;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (!CHECK(cuMemAddressReserve(&m->at, m->len, 0, 0, 0)) ||
        !CHECK(cuMemMap(m->at, m->len, 0, m->handle, 0)))
        return false;
    if (!CHECK(cuMemSetAccess(m->at, m->len, &access, 1)))
        return false;
    say(who + " maps", "ok", text("%.0f us for %zu MiB", now_us() - start, m->len >> 20));
    say(who + " sets SYNC_MEMOPS",
        name_of(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, m->at)));
    return true;
}

static void unmap_handle(mapping *m)
{
    CHECK(cuMemUnmap(m->at, m->len));
    CHECK(cuMemAddressFree(m->at, m->len));
    CHECK(cuMemRelease(m->handle));
}

// The process that gets the descriptor. `visible`: CUDA_VISIBLE_DEVICES for it, or NULL; dev counts within that.
static int import_heap(int sock, int dev, const char *visible, const char *who)
{
    mapping m = {0, 0, heap_len};
    long wrong;
    int fd;

    if (visible)
        setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    if ((fd = recv_fd(sock)) < 0 || !CHECK(cudaSetDevice(dev)) || !CHECK(cudaFree(NULL)))
        return 1;
    CUresult r = cuMemImportFromShareableHandle(&m.handle, (void *)(intptr_t)fd,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);

    say(text("%s imports", who), name_of(r));
    close(fd);
    if (r || !map_handle(&m, dev, who))
        return 1;
    wrong = run_visit(m.at, 1000, 5000, adds);
    say(text("%s reads and writes", who), wrong == 0 ? "ok" : text("%ld words wrong", wrong));
    unmap_handle(&m);
    return !send_bytes(sock, &wrong, sizeof wrong);
}

// The memory, made with gpuDirectRDMACapable if that works.
static bool create_handle(mapping *m, int dev)
{
    size_t least = 0, best = 0;
    CUmemAllocationProp prop = heap_prop(dev, true);
    double start;
    CUresult r;

    CHECK(cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(cuMemGetAllocationGranularity(&best, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    say("granularity", "ok", text("least %zu KiB, recommended %zu KiB", least >> 10, best >> 10));
    start = now_us();
    r = cuMemCreate(&m->handle, m->len, &prop, 0);
    say("create with gpuDirectRDMACapable", name_of(r),
        text("%.0f us for %zu MiB", now_us() - start, m->len >> 20));
    prop = heap_prop(dev, false);
    return r == CUDA_SUCCESS || CHECK(cuMemCreate(&m->handle, m->len, &prop, 0));
}

static void large(int dev)
{
    mapping m = {0, 0, (size_t)8 << 30};
    CUmemAllocationProp prop = heap_prop(dev, true);
    double start = now_us();

    if (!CHECK(cuMemCreate(&m.handle, m.len, &prop, 0)))
        return;
    say("create 8 GiB at once", "ok", text("%.0f us", now_us() - start));
    if (map_handle(&m, dev, "owner of 8 GiB"))
        unmap_handle(&m);
}

// Both sides: the owner's pattern, the visitor's pattern, and the sum of everybody's atomic additions.
static void mapping_exchange(process &child, mapping *m, const char *who)
{
    long theirs = -1, mine, sum = 0;
    int fd = -1;

    run_visit(m->at, 0, 1000, 0);
    CHECK(cuMemsetD32(m->at, 0, 2));
    CHECK(cuCtxSynchronize());
    if (!CHECK(cuMemExportToShareableHandle(&fd, m->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)) ||
        !send_fd(child.sock, fd))
        return;
    close(fd);
    if (!recv_bytes(child.sock, &theirs, sizeof theirs)) {
        say(std::string(who) + " and owner", "failed: it gave up", text("exit %d", finish(child)));
        return;
    }
    mine = run_visit(m->at, 5000, 1000, adds);
    CHECK(cuMemcpyDtoH(&sum, m->at, sizeof sum));
    say(std::string("owner sees what ") + who + " wrote", mine == 0 ? "ok" : text("%ld words wrong", mine));
    say(std::string("atomics of owner and ") + who, sum == 2L * adds ? "exact" : "wrong", text("%ld", sum));
    finish(child);
}

static int import_same(int sock, int)
{
    return import_heap(sock, 0, NULL, "second process");
}

static int import_peer(int sock, int)
{
    return import_heap(sock, 1, NULL, "process on device 1");
}

static int import_hidden(int sock, int)
{
    return import_heap(sock, 0, "1", "process that sees device 1 alone");
}

void ask_vmm()
{
    process child = start(import_same, 0);
    mapping m = {0, 0, heap_len};

    if (!CHECK(cudaSetDevice(0)) || !CHECK(cudaFree(NULL)) || !create_handle(&m, 0) ||
        !map_handle(&m, 0, "owner"))
        return;
    mapping_exchange(child, &m, "second process");
    unmap_handle(&m);
    large(0);
}

void ask_vmm_peer()
{
    process all = start(import_peer, 0), hidden = start(import_hidden, 0);
    mapping m = {0, 0, heap_len};

    if (!CHECK(cudaSetDevice(0)) || !CHECK(cudaFree(NULL)) || !create_handle(&m, 0) ||
        !map_handle(&m, 0, "owner"))
        return;
    mapping_exchange(all, &m, "process on device 1");
    mapping_exchange(hidden, &m, "process that sees device 1 alone");
    unmap_handle(&m);
}

struct ipc_message {
    cudaIpcMemHandle_t handle;
    size_t offset;
};

static int ipc_opener(int sock, int dev)
{
    ipc_message msg;
    char *base = NULL;
    long wrong;
    double begin;

    if (!recv_bytes(sock, &msg, sizeof msg) || !CHECK(cudaSetDevice(dev)) || !CHECK(cudaFree(NULL)))
        return 1;
    begin = now_us();
    if (!CHECK(cudaIpcOpenMemHandle((void **)&base, msg.handle, cudaIpcMemLazyEnablePeerAccess)))
        return 1;
    say(text("device %d opens", dev), "ok", text("%.0f us", now_us() - begin));
    wrong = run_visit((CUdeviceptr)base, 1000, 5000, adds);
    say(text("device %d reads and writes", dev), wrong == 0 ? "ok" : text("%ld words wrong", wrong));
    CHECK(cudaIpcCloseMemHandle(base));
    return !send_bytes(sock, &wrong, sizeof wrong);
}

static void ipc_exchange(process &child, char *base, int dev)
{
    ipc_message msg = {};
    long theirs;

    run_visit((CUdeviceptr)base, 0, 1000, 0);
    if (!CHECK(cudaIpcGetMemHandle(&msg.handle, base)) || !send_bytes(child.sock, &msg, sizeof msg) ||
        !recv_bytes(child.sock, &theirs, sizeof theirs))
        say(text("device %d and owner", dev), "failed: it gave up", text("exit %d", finish(child)));
    else
        say(text("owner sees what device %d wrote", dev),
            run_visit((CUdeviceptr)base, 5000, 0, 0) == 0 ? "ok" : "no");
    finish(child);
}

void ask_ipc()
{
    process same = start(ipc_opener, 0), other = start(ipc_opener, 1);
    cudaIpcMemHandle_t whole, part;
    char *base = NULL;

    if (!CHECK(cudaSetDevice(0)) || !CHECK(cudaMalloc(&base, heap_len)))
        return;
    ipc_exchange(same, base, 0);
    if (device_count() > 1)
        ipc_exchange(other, base, 1);
    if (CHECK(cudaIpcGetMemHandle(&whole, base)) && CHECK(cudaIpcGetMemHandle(&part, base + 65536)))
        say("handle of an address inside",
            memcmp(&whole, &part, sizeof whole) ? "another handle" : "the block's handle");
}
