/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a unit's device state comes, each kernel that it launches on streams is launched once, on a stream of its own,
 * by one thread, with the grid that has no effect and enough arguments: so that no first call on a stream makes the
 * driver load a kernel or allocate stacks. A kernel that does not start leaves no error behind, and the others start;
 * nothing starts when the state goes. Needs no GPU: CUDA's runtime is a stand-in.
 */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#define __CUDACC__ 1
#define WSH_TEST_ARGS 16
#define WSH_TEST_BYTES 128
#define __constant__

struct dim3 {
    unsigned x, y, z;

    dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz)
    {
    }
};
typedef int cudaError_t;
typedef struct stream *cudaStream_t;
typedef struct function *cudaFunction_t;
enum {
    cudaSuccess,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorNoKernelImageForDevice = 209,
    cudaStreamNonBlocking = 1,
    cudaLaunchAttributeCooperative = 2
};
struct cudaLaunchAttribute {
    int id;
    union {
        int cooperative;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

struct launched {
    const void *kernel;
    dim3 grid, block;
    cudaStream_t stream;
};
static std::vector<struct launched> launches;
static unsigned streams, filled, errors;
static const void *foreign; /* no image for this GPU */
static bool full;           /* no stream to be had */

static cudaError_t cudaGetFuncBySymbol(cudaFunction_t *, const void *)
{
    return cudaSuccess;
}

static cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **)
{
    return cudaSuccess;
}

static cudaError_t cudaGetLastError()
{
    errors = 0;
    return cudaSuccess;
}

static cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = (cudaStream_t)(uintptr_t)0x40;
    if (full || flags != cudaStreamNonBlocking)
        return (cudaError_t)++errors;
    streams++;
    return cudaSuccess;
}

static cudaError_t cudaStreamDestroy(cudaStream_t)
{
    streams--;
    return cudaSuccess;
}

static cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t,
                                    cudaStream_t stream)
{
    static const char zeros[WSH_TEST_BYTES] = {};

    for (int i = 0; i < WSH_TEST_ARGS; i++)
        if (memcmp(args[i], zeros, sizeof zeros))
            return (cudaError_t)++errors;
    if (kernel == foreign) {
        errors++;
        return cudaErrorNoKernelImageForDevice;
    }
    launches.push_back({kernel, grid, block, stream});
    return cudaSuccess;
}

template <class T> static cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t len)
{
    memcpy(&symbol, from, len);
    filled++;
    return cudaSuccess;
}

#include "device/view/view.cuh"

extern "C" void wsh_device_register(const struct wsh_device_module *)
{
}
extern "C" void wsh_device_unregister(const struct wsh_device_module *)
{
}
extern "C" int wsh_device_launch(const struct wsh_device_launch *)
{
    return 0;
}
extern "C" int wsh_device_launch_fits(const struct wsh_device_launch *, int *)
{
    return 0;
}

static_assert(WSH_TEST_ARGS == WSH_LAUNCH_EARLY_ARGS && WSH_TEST_BYTES == WSH_LAUNCH_EARLY_BYTES,
              "as the header has it");

static int number, wrong;

static void check(bool holds, const char *what)
{
    printf("%s %d - %s\n", holds ? "ok" : "not ok", ++number, what);
    wrong += !holds;
}

static char kernel[3];
static wsh_launch_early first(&kernel[0]), second(&kernel[1]), third(&kernel[2]);

int main()
{
    struct wsh_device state = {};
    bool without_effect = true;

    check(!wsh_device_fill(&state) && filled == 1 && launches.empty() && !streams, "nothing starts as the state goes");
    state.n_pes = 2;
    check(!wsh_device_fill(&state) && filled == 2 && wsh_device_view.n_pes == 2, "the state is filled");
    check(launches.size() == 3 && !streams, "each kernel starts once, and the stream is given back");
    for (const struct launched &one : launches)
        without_effect &= one.grid.x == 1 && one.grid.y == WSH_LAUNCH_FIRST_ROWS && one.grid.z == 1 &&
                          one.block.x == 1 && one.block.y == 1 && one.stream;
    check(without_effect && WSH_LAUNCH_FIRST_ROWS > 1, "with the grid that has no effect, on a stream of its own");
    launches.clear();
    foreign = &kernel[1];
    check(!wsh_device_fill(&state) && launches.size() == 2 && !errors, "one that does not start leaves no error");
    launches.clear();
    full = true;
    check(!wsh_device_fill(&state) && launches.empty() && !errors && filled == 4, "nor does a stream that fails");
    printf("1..%d\n", number);
    return wrong != 0;
}
