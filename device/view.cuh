/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The view of this translation unit in constant memory, and its registration with the library. Rules in view.h.
 *
 * Compiled by nvcc a unit has a view of its own, so neither -rdc nor a device library is needed. Under NVRTC, and in
 * cubins loaded by the driver API (compile with -DSHMEMX_DEVICE_MODULE), the view has an external C name by which
 * shmemx_module_init finds it.
 */
#ifndef WSH_DEVICE_VIEW_CUH
#define WSH_DEVICE_VIEW_CUH

#include "view.h"

static_assert(sizeof(struct wsh_device) == 256, "the view must stay small: kernels have 64 KiB of constants");
static_assert(sizeof(struct wsh_device_record) == 128, "the host reads the records as this file lays them out");

#if defined(__CUDACC_RTC__) || defined(SHMEMX_DEVICE_MODULE)

extern "C" __constant__ struct wsh_device wsh_device_view;
__constant__ struct wsh_device wsh_device_view;

#else

static __constant__ struct wsh_device wsh_device_view;

/* Here and not in the library: only the CUDA runtime that the unit is linked with knows the symbol. */
static int wsh_device_fill(const struct wsh_device *view)
{
    return (int)cudaMemcpyToSymbol(wsh_device_view, view, sizeof *view);
}

namespace
{
struct wsh_device_registration {
    struct wsh_device_unit unit;

    wsh_device_registration() : unit{WSH_DEVICE_ABI, sizeof(struct wsh_device), wsh_device_fill, __BASE_FILE__}
    {
        wsh_device_register(&unit);
    }

    ~wsh_device_registration()
    {
        wsh_device_unregister(&unit);
    }
};

wsh_device_registration wsh_device_registered;
} // namespace

#endif

#endif
