/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What device code takes from CUDA's headers, for clang without them: included first where the library's functions
 * become LLVM bitcode (bitcode.cu). Compiled as by NVRTC, where there is no host either.
 */
#ifndef WSH_DEVICE_FREESTANDING_CUH
#define WSH_DEVICE_FREESTANDING_CUH

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

typedef __SIZE_TYPE__ size_t;

#include <__clang_cuda_builtin_vars.h> /* threadIdx and its like: a header of clang's own */

#define WSH_BUILT_IN static __device__ __forceinline__

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

WSH_BUILT_IN uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return uint4{x, y, z, w};
}

struct alignas(16) double2 {
    double x, y;
};

/* As their bits; the layout is that of cuda_fp16.h and cuda_bf16.h. */
struct alignas(2) __half {
    unsigned short bits;
};

struct alignas(2) __nv_bfloat16 {
    unsigned short bits;
};

WSH_BUILT_IN void *memcpy(void *to, const void *from, size_t len)
{
    return __builtin_memcpy(to, from, len);
}

/* __syncthreads is clang's own. */
#define __syncthreads_or(says) __nvvm_bar0_or(says)
#define __any_sync(lanes, says) __nvvm_vote_any_sync(lanes, says)
#define __ballot_sync(lanes, says) __nvvm_vote_ballot_sync(lanes, says)
#define clock64() __nvvm_read_ptx_sreg_clock64()
#define __isGlobal(at) __nvvm_isspacep_global(at)
#define __isShared(at) __nvvm_isspacep_shared(at)
#define __ffs(bits) __builtin_ffs(bits)
#define __popc(bits) __builtin_popcount(bits)

WSH_BUILT_IN void __trap()
{
    asm volatile("trap;");
}

WSH_BUILT_IN unsigned __activemask()
{
    unsigned lanes;

    asm volatile("activemask.b32 %0;" : "=r"(lanes));
    return lanes;
}

WSH_BUILT_IN void __syncwarp(unsigned lanes)
{
    __nvvm_bar_warp_sync(lanes);
}

/* The built-in one has another type in newer LLVM. */
WSH_BUILT_IN unsigned __match_any_sync(unsigned lanes, unsigned long long value)
{
    unsigned same;

    asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(same) : "l"(value), "r"(lanes));
    return same;
}

WSH_BUILT_IN int __shfl_sync(unsigned lanes, int value, int from)
{
    return __nvvm_shfl_sync_idx_i32(lanes, value, from, 31);
}

WSH_BUILT_IN unsigned long long __shfl_sync(unsigned lanes, unsigned long long value, int from)
{
    unsigned low = (unsigned)__shfl_sync(lanes, (int)value, from);

    return (unsigned long long)(unsigned)__shfl_sync(lanes, (int)(value >> 32), from) << 32 | low;
}

WSH_BUILT_IN unsigned __shfl_down_sync(unsigned lanes, unsigned value, unsigned by)
{
    return (unsigned)__nvvm_shfl_sync_down_i32(lanes, (int)value, (int)by, 31);
}

WSH_BUILT_IN unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (by & 31));
}

WSH_BUILT_IN size_t __cvta_generic_to_shared(const void *at)
{
    return (size_t)(const __attribute__((address_space(3))) void *)at;
}

WSH_BUILT_IN float __uint_as_float(unsigned bits)
{
    float value;

    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

WSH_BUILT_IN float __half2float(__half value)
{
    float wide;

    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
    return wide;
}

WSH_BUILT_IN __half __float2half(float wide)
{
    __half value;

    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(wide));
    return value;
}

extern "C" __device__ void __assertfail(const char *what, const char *file, unsigned line, const char *function,
                                        size_t char_size);

#endif
