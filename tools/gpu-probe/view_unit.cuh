// SPDX-License-Identifier: BSD-3-Clause
// What a user's translation unit gets: a private view of its own, and its registration. UNIT_NAME names the unit.
#pragma once
#include "view_registry.h"

#include <cuda_runtime.h>

static __constant__ struct view unit_view;

static __global__ void unit_read(uint64_t *out)
{
    *out = unit_view.version + unit_view.more[14];
}

static int unit_fill(const struct view *view)
{
    cudaError_t r = cudaMemcpyToSymbol(unit_view, view, sizeof *view);

    cudaGetLastError();
    return (int)r;
}

static int unit_where(void **at, size_t *len)
{
    cudaError_t r = cudaGetSymbolAddress(at, unit_view);

    if (!r)
        r = cudaGetSymbolSize(len, unit_view);
    cudaGetLastError();
    return (int)r;
}

// The version that this unit's kernel sees on the current device; above 2^32 on an error.
static inline uint64_t unit_sees()
{
    uint64_t *device = NULL, value = 0;
    cudaError_t r = cudaMalloc(&device, sizeof value);

    if (r == cudaSuccess) {
        unit_read<<<1, 1>>>(device);
        r = cudaGetLastError();
    }
    if (r == cudaSuccess)
        r = cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
    cudaFree(device);
    return r == cudaSuccess ? value : ((uint64_t)1 << 32) + r;
}

static struct view_unit unit_self = {UNIT_NAME, unit_fill, unit_where, NULL, -1};

static struct unit_registration {
    unit_registration()
    {
        view_unit_add(&unit_self);
    }
    ~unit_registration()
    {
        view_unit_remove(&unit_self);
    }
} unit_registration;
