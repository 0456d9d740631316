// SPDX-License-Identifier: BSD-3-Clause
// Host memory that the GPU reaches by registration, shared by two processes; and device memory that the CPU maps.
#include "device.cuh"
#include "probe.cuh"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <atomic>

static const size_t len = (size_t)64 << 20;
static const size_t long_len = (size_t)1 << 30;
static const uint64_t adds = 200000;

static __global__ void fill_words(uint64_t *at, uint64_t value, size_t words)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += step)
        at[i] = value + i;
}

static __global__ void add_ones(uint64_t *word, uint64_t count)
{
    for (uint64_t i = threadIdx.x; i < count; i += blockDim.x)
        atomicAdd_system((unsigned long long *)word, 1ull);
}

static uint64_t wrong_words(const volatile uint64_t *at, uint64_t value, size_t words)
{
    uint64_t wrong = 0;

    for (size_t i = 0; i < words; i++)
        wrong += at[i] != value + i;
    return wrong;
}

// memfd of `bytes`, mapped shared; NULL and an answer on failure.
static uint64_t *map_fd(int fd, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);

    if (at == MAP_FAILED)
        say("error", text("failed: mmap: %s", strerror(errno)));
    return at == MAP_FAILED ? NULL : (uint64_t *)at;
}

static int make_fd(size_t bytes)
{
    int fd = memfd_create("warpshmem-probe", MFD_CLOEXEC);

    if (fd < 0 || ftruncate(fd, (off_t)bytes))
        say("error", text("failed: memfd: %s", strerror(errno)));
    return fd;
}

// Registers; the device's address of it, or NULL and an answer.
static uint64_t *register_host(const char *what, void *at, size_t bytes, unsigned flags)
{
    void *device = NULL;
    double start = now_us();
    cudaError_t r = cudaHostRegister(at, bytes, flags);
    double took = now_us() - start;

    cudaGetLastError();
    say(text("register %s", what), name_of(r), text("%.0f us for %zu MiB", took, bytes >> 20));
    if (r || !CHECK(cudaHostGetDevicePointer(&device, at, 0)))
        return NULL;
    say(text("device address of %s", what), device == at ? "the host's" : "another");
    return (uint64_t *)device;
}

static void unregister_host(void *at)
{
    double start = now_us();

    if (CHECK(cudaHostUnregister(at)))
        say("unregister", "ok", text("%.0f us", now_us() - start));
}

// The second process maps and registers the same memory, and writes a pattern with its kernel.
static int second(int sock, int)
{
    int fd = recv_fd(sock);
    uint64_t *at, *device;
    char done = 0;

    if (fd < 0 || !(at = map_fd(fd, len)) || !CHECK(cudaSetDevice(0)))
        return 1;
    if (!(device = register_host("a memfd that another process registered", at, len, cudaHostRegisterMapped)))
        return 1;
    fill_words<<<16, 256>>>(device, 7000, len / 8);
    if (!CHECK(cudaDeviceSynchronize()))
        return 1;
    unregister_host(at);
    return !send_bytes(sock, &done, 1);
}

// The GPU and the CPU add to one word of host memory at once. `locked`: the CPU by an atomic instruction.
static void add_both(uint64_t *host, uint64_t *device)
{
    std::atomic<uint64_t> *word = (std::atomic<uint64_t> *)host;

    *host = 0;
    add_ones<<<1, 32>>>(device, adds);
    for (uint64_t i = 0; i < adds; i++)
        word->fetch_add(1, std::memory_order_relaxed);
    if (CHECK(cudaDeviceSynchronize()))
        say("atomics of GPU and CPU on one host word", *host == 2 * adds ? "exact" : "additions are lost",
            text("%lu of %lu", (unsigned long)*host, (unsigned long)(2 * adds)));
}

static void copy_speed(uint64_t *at)
{
    cudaStream_t stream;
    void *device;
    double start;

    if (!CHECK(cudaMalloc(&device, len)) || !CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)))
        return;
    CHECK(cudaMemcpyAsync(device, at, len, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    start = now_us();
    CHECK(cudaMemcpyAsync(device, at, len, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    say("copy to the device", "ok", text("%.1f GB/s", (double)len / (now_us() - start) / 1e3));
    start = now_us();
    CHECK(cudaMemcpyAsync(at, device, len, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    say("copy to the host", "ok", text("%.1f GB/s", (double)len / (now_us() - start) / 1e3));
}

static void two_addresses(int fd)
{
    uint64_t *again = map_fd(fd, len),
             *device = again ? register_host("the same pages at a second address", again, len, 0) : NULL;

    if (!device)
        return;
    fill_words<<<16, 256>>>(device, 9000, len / 8);
    if (CHECK(cudaDeviceSynchronize()))
        say("GPU writes at the second address", wrong_words(again, 9000, len / 8) ? "wrong" : "ok");
    unregister_host(again);
}

static void other_kinds()
{
    void *anon = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int fd = make_fd(long_len);
    uint64_t *big = map_fd(fd, long_len);

    if (register_host("shared anonymous memory", anon, len, cudaHostRegisterMapped))
        unregister_host(anon);
    if (big &&
        register_host("a memfd of 1 GiB", big, long_len, cudaHostRegisterMapped | cudaHostRegisterPortable))
        unregister_host(big);
    if (big && !mprotect(big, len, PROT_READ) &&
        register_host("a read-only mapping", big, len, cudaHostRegisterReadOnly))
        unregister_host(big);
    close(fd);
}

void ask_hostreg()
{
    process child = start(second, 0);
    int fd = make_fd(len);
    uint64_t *at = map_fd(fd, len), *device;
    char done;

    if (!at || !CHECK(cudaSetDevice(0)) || !CHECK(cudaFree(NULL)))
        return;
    if ((device = register_host("a memfd", at, len, cudaHostRegisterMapped | cudaHostRegisterPortable))) {
        fill_words<<<16, 256>>>(device, 3000, len / 8);
        if (CHECK(cudaDeviceSynchronize()))
            say("GPU writes a memfd", wrong_words(at, 3000, len / 8) ? "wrong" : "ok");
        add_both(at, device);
        copy_speed(at);
        if (send_fd(child.sock, fd) && recv_bytes(child.sock, &done, 1))
            say("another process's GPU writes it", wrong_words(at, 7000, len / 8) ? "wrong" : "ok");
        two_addresses(fd);
        unregister_host(at);
    }
    finish(child);
    other_kinds();
}

// Reads and writes device memory through a mapping of its descriptor.
static void touch_mapping(const std::string &what, int fd, void *device)
{
    volatile uint64_t *at =
        (volatile uint64_t *)mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint64_t back[2] = {}, sum = 0;
    double start;

    if (at == MAP_FAILED) {
        say(what + " mmap", text("failed: %s", strerror(errno)));
        return;
    }
    say(what + " mmap", "ok, about to read it");
    say(what + " CPU reads it", wrong_words(at, 100, 512) ? "wrong" : "ok");
    start = now_us();
    for (int i = 0; i < 1000; i++)
        sum += at[i];
    say(what + " CPU loads", sum ? "ok" : "all zero", text("%.3f us each", (now_us() - start) / 1000));
    at[0] = 77;
    at[1] = 78;
    CHECK(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost));
    say(what + " CPU writes it",
        back[0] == 77 && back[1] == 78 ? "the device sees it" : "the device does not see it");
    munmap((void *)at, 2 << 20);
}

static void ask_range(const char *what, CUdeviceptr at, unsigned flags)
{
    std::string name = text("%s, flags %u:", what, flags);
    int fd = -1;
    CUresult r = cuMemGetHandleForAddressRange(&fd, at, 2 << 20, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, flags);

    say(name + " descriptor", name_of(r), r ? "" : text("size %ld", (long)lseek(fd, 0, SEEK_END)));
    if (r)
        return;
    fill_words<<<1, 256>>>((uint64_t *)at, 100, (2 << 20) / 8);
    if (CHECK(cudaDeviceSynchronize()))
        touch_mapping(name, fd, (void *)at);
    close(fd);
}

static CUdeviceptr vmm_range()
{
    CUmemAllocationProp prop = {};
    CUmemAccessDesc access = {};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at = 0;

    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.allocFlags.gpuDirectRDMACapable = 1;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (!CHECK(cuMemCreate(&handle, 2 << 20, &prop, 0)) || !CHECK(cuMemAddressReserve(&at, 2 << 20, 0, 0, 0)))
        return 0;
    return CHECK(cuMemMap(at, 2 << 20, 0, handle, 0)) && CHECK(cuMemSetAccess(at, 2 << 20, &access, 1)) ? at
                                                                                                        : 0;
}

void ask_dmabuf()
{
    CUdeviceptr plain = 0, vmm;

    if (!CHECK(cudaSetDevice(0)) || !CHECK(cudaMalloc((void **)&plain, 4 << 20)))
        return;
    plain = (plain + (2 << 20) - 1) & ~(CUdeviceptr)((2 << 20) - 1);
    vmm = vmm_range();
    for (unsigned flags : {0u, (unsigned)CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE}) {
        ask_range("cudaMalloc", plain, flags);
        if (vmm)
            ask_range("cuMemCreate", vmm, flags);
    }
}
