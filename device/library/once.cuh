/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routines of a thread for compilers whose kernels are written for a block, as Triton, where every thread makes each
 * call: here one thread acts and all get the result. What the block did before is before it. These names are for
 * python/warpshmem alone; there is no contract beyond it.
 *
 * Only sized integers, float and double: the types of such kernels.
 */
#ifndef WSH_DEVICE_ONCE_CUH
#define WSH_DEVICE_ONCE_CUH

static WSH_DEV uint32_t wsh_once_half(uint32_t half)
{
    return wsh_dev_broadcast<WSH_BLOCK>(half, ~(uint32_t)0);
}

/* What thread 0 holds, for all: words of 4 and 8 bytes. */
template <class T> static WSH_DEV T wsh_once_all(T value)
{
    uint64_t bits = 0;

    memcpy(&bits, &value, sizeof value);
    if (sizeof value == 8)
        bits = (uint64_t)wsh_once_half((uint32_t)(bits >> 32)) << 32 | wsh_once_half((uint32_t)bits);
    else
        bits = wsh_once_half((uint32_t)bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* clang-format off */

#define WSH_ONCE(NAME, PARAMETERS, CALL)                        \
    extern "C" __device__ void wsh_block_##NAME PARAMETERS      \
    {                                                           \
        wsh_dev_sync<WSH_BLOCK>();                              \
        if (wsh_dev_thread() == 0)                              \
            CALL;                                               \
        wsh_dev_sync<WSH_BLOCK>();                              \
    }

#define WSH_ONCE_GIVES(TYPE, NAME, PARAMETERS, CALL)            \
    extern "C" __device__ TYPE wsh_block_##NAME PARAMETERS      \
    {                                                           \
        TYPE got = 0;                                           \
                                                                \
        wsh_dev_sync<WSH_BLOCK>();                              \
        if (wsh_dev_thread() == 0)                              \
            got = CALL;                                         \
        return wsh_once_all(got);                               \
    }

#define WSH_ONCE_WORD(NAME, TYPE)                                                                            \
    WSH_ONCE(NAME##_p, (TYPE *dest, TYPE value, int pe), nvshmem_##NAME##_p(dest, value, pe))                \
    WSH_ONCE_GIVES(TYPE, NAME##_g, (const TYPE *source, int pe), nvshmem_##NAME##_g(source, pe))             \
    WSH_ONCE_GIVES(TYPE, NAME##_atomic_fetch, (const TYPE *source, int pe),                                  \
                   nvshmem_##NAME##_atomic_fetch(source, pe))                                                \
    WSH_ONCE(NAME##_atomic_set, (TYPE *dest, TYPE value, int pe),                                            \
             nvshmem_##NAME##_atomic_set(dest, value, pe))                                                   \
    WSH_ONCE_GIVES(TYPE, NAME##_atomic_swap, (TYPE *dest, TYPE value, int pe),                               \
                   nvshmem_##NAME##_atomic_swap(dest, value, pe))

#define WSH_ONCE_SUM(NAME, TYPE, PREFIX)                                                                     \
    WSH_ONCE(NAME##_atomic_add, (TYPE *dest, TYPE value, int pe), PREFIX##NAME##_atomic_add(dest, value, pe)) \
    WSH_ONCE_GIVES(TYPE, NAME##_atomic_fetch_add, (TYPE *dest, TYPE value, int pe),                          \
                   PREFIX##NAME##_atomic_fetch_add(dest, value, pe))

#define WSH_ONCE_BITS(NAME, TYPE, OP)                                                                        \
    WSH_ONCE(NAME##_atomic_##OP, (TYPE *dest, TYPE value, int pe),                                           \
             nvshmem_##NAME##_atomic_##OP(dest, value, pe))                                                  \
    WSH_ONCE_GIVES(TYPE, NAME##_atomic_fetch_##OP, (TYPE *dest, TYPE value, int pe),                         \
                   nvshmem_##NAME##_atomic_fetch_##OP(dest, value, pe))

#define WSH_ONCE_INTEGER(NAME, TYPE)                                                                         \
    WSH_ONCE_WORD(NAME, TYPE)                                                                                \
    WSH_ONCE_SUM(NAME, TYPE, nvshmem_)                                                                       \
    WSH_ONCE_BITS(NAME, TYPE, and)                                                                           \
    WSH_ONCE_BITS(NAME, TYPE, or)                                                                            \
    WSH_ONCE_BITS(NAME, TYPE, xor)                                                                           \
    WSH_ONCE(NAME##_atomic_inc, (TYPE *dest, int pe), nvshmem_##NAME##_atomic_inc(dest, pe))                 \
    WSH_ONCE_GIVES(TYPE, NAME##_atomic_fetch_inc, (TYPE *dest, int pe),                                      \
                   nvshmem_##NAME##_atomic_fetch_inc(dest, pe))                                              \
    WSH_ONCE_GIVES(TYPE, NAME##_atomic_compare_swap, (TYPE *dest, TYPE cond, TYPE value, int pe),            \
                   nvshmem_##NAME##_atomic_compare_swap(dest, cond, value, pe))                              \
    extern "C" __device__ void wsh_block_##NAME##_wait_until(TYPE *ivar, int cmp, TYPE value)                \
    {                                                                                                        \
        shmem_##NAME##_wait_until_block(ivar, cmp, value);                                                  \
    }                                                                                                        \
    extern "C" __device__ int wsh_block_##NAME##_test(TYPE *ivar, int cmp, TYPE value)                       \
    {                                                                                                        \
        return shmem_##NAME##_test_block(ivar, cmp, value);                                                 \
    }

WSH_ONCE_INTEGER(int32, int32_t)
WSH_ONCE_INTEGER(int64, int64_t)
WSH_ONCE_INTEGER(uint32, uint32_t)
WSH_ONCE_INTEGER(uint64, uint64_t)
WSH_ONCE_WORD(float, float)
WSH_ONCE_WORD(double, double)
WSH_ONCE_SUM(float, float, nvshmemx_)
WSH_ONCE_SUM(double, double, nvshmemx_)

WSH_ONCE(signal_op, (uint64_t *sig_addr, uint64_t signal, int sig_op, int pe),
         nvshmemx_signal_op(sig_addr, signal, sig_op, pe))
WSH_ONCE_GIVES(uint64_t, signal_fetch, (uint64_t *sig_addr), nvshmem_signal_fetch(sig_addr))

extern "C" __device__ uint64_t wsh_block_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    return shmem_signal_wait_until_block(sig_addr, cmp, cmp_value);
}

/* Of what all threads of the block did. */
extern "C" __device__ void wsh_block_fence(void)
{
    shmem_fence_block();
}

extern "C" __device__ void wsh_block_quiet(void)
{
    shmem_quiet_block();
}

#endif
