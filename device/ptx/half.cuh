/* SPDX-License-Identifier: BSD-3-Clause */
/* The PTX of 16-bit floating-point arithmetic, for reductions; everything else moves such numbers as bits. */
#ifndef WSH_DEVICE_PTX_HALF_CUH
#define WSH_DEVICE_PTX_HALF_CUH

#include "../core/scope.cuh"

/* Numbers of 16 bits as floats and back, rounded to nearest, without the headers that define their types. */
static WSH_DEV float wsh_ptx_from_half(uint16_t bits)
{
    float value;

    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

static WSH_DEV uint16_t wsh_ptx_to_half(float value)
{
    uint16_t bits;

    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

static WSH_DEV float wsh_ptx_from_bfloat16(uint16_t bits)
{
    return __uint_as_float((uint32_t)bits << 16);
}

static WSH_DEV uint16_t wsh_ptx_to_bfloat16(float value)
{
    uint16_t bits;

    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

#endif
