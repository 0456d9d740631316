/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device state of this translation unit in constant memory, and its registration with the library. Rules in view.h.
 *
 * Compiled by nvcc a module has a device state of its own, so neither -rdc nor a device library is needed. In modules
 * that the driver API loads shmemx_module_init finds it by its name:
 *   - WSH_DEVICE_SYMBOL in a module of one translation unit, and where there is no host code: under NVRTC, in bitcode,
 *     and with
 *     -DSHMEMX_DEVICE_MODULE. Several such modules, linked, share one.
 *   - With -rdc=true static names carry a prefix of the module's, which the driver does not list. It lists kernels: one
 *     that does nothing has the same prefix. The modules of libnvshmem_device.a share one device state under the common
 *     name, which names.cu has and registers.
 */
#ifndef WSH_DEVICE_VIEW_CUH
#define WSH_DEVICE_VIEW_CUH

#include "../api/launch.cuh"
#include "view.h"

static_assert(sizeof(struct wsh_device) == 256, "the view must stay small: kernels have 64 KiB of constants");
static_assert(sizeof(struct wsh_device_record) == 128, "the host reads the records as this file lays them out");

#if defined(__CUDACC_RTC__) || defined(SHMEMX_DEVICE_MODULE)

extern "C" {
#if defined(__CUDACC_RDC__)
inline
#elif defined(__clang__)
__attribute__((weak))
#endif
    __constant__ struct wsh_device wsh_device_view;
}

#else

#if defined(WSH_LIBRARY_SCOPE)
extern "C" __constant__ struct wsh_device wsh_device_view;
#elif defined(WSH_NV_SYMBOLS)
extern "C" {
__attribute__((visibility("hidden"))) __constant__ struct wsh_device wsh_device_view;
}
#else
static __constant__ struct wsh_device wsh_device_view;
#ifdef __CUDACC_RDC__
static __global__ void wsh_device_unit_mark()
{
}
/* nvlink drops kernels that no host code names. */
static __attribute__((used)) void (*const wsh_device_unit_marked)() = wsh_device_unit_mark;
#endif
#endif

#ifndef WSH_LIBRARY_SCOPE
/* Here and not in the library: only the CUDA runtime that the module is linked with knows the symbol, and kernels. */
static int wsh_device_fill(const struct wsh_device *state)
{
#ifdef __CUDACC__
    if (state->n_pes)
        wsh_launch_early_all();
#endif
    return (int)cudaMemcpyToSymbol(wsh_device_view, state, sizeof *state);
}

namespace
{
struct wsh_device_registration {
    struct wsh_device_module entry;

    wsh_device_registration() : entry{WSH_DEVICE_ABI, sizeof(struct wsh_device), wsh_device_fill, __BASE_FILE__,
                                      wsh_launch_find}
    {
        wsh_device_register(&entry);
    }

    ~wsh_device_registration()
    {
        wsh_device_unregister(&entry);
    }
};

wsh_device_registration wsh_device_registered;
} // namespace
#endif

#endif

#endif
