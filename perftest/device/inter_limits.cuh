/* SPDX-License-Identifier: BSD-3-Clause */
/* What posting costs without the library: a part of inter_kernels.cuh. */
#ifndef PERFTEST_DEVICE_INTER_LIMITS_CUH
#define PERFTEST_DEVICE_INTER_LIMITS_CUH

/* What any record costs at least. */
static __device__ void inter_post_bare(const struct inter_args &a, size_t k)
{
    ulonglong2 *to = a.pinned + k * 3;

    asm volatile("fence.acq_rel.sys;" ::: "memory");
    for (int i = 0; i < 3; i++)
        asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(to + i), "l"(k), "l"(a.first) : "memory");
}

/* What requests in a queue cost at least: so many lanes store one each, and one of them rings and hands on. */
static __device__ void inter_post_bare_run(const struct inter_args &a, size_t k, unsigned lanes)
{
    ulonglong2 *to = a.pinned + (k + threadIdx.x) * 4;

    if (threadIdx.x < lanes)
        for (int i = 0; i < 4; i++)
            asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(to + i), "l"(k), "l"(a.first) : "memory");
    if (lanes > 1)
        __syncwarp();
    if (threadIdx.x == 0)
        asm volatile("fence.acq_rel.sys;\n\tst.relaxed.sys.global.u32 [%0], %1;\n\tst.release.gpu.global.u64 [%2], %3;"
                     ::"l"(a.pinned + 64 * 4), "r"((unsigned)k), "l"(a.list), "l"(k)
                     : "memory");
}

#endif
