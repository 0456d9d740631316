/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of nvshmem/kernels.h, under C names: the bodies of device/stream/kernels.cuh for bytes, words and kinds
 * of numbers. Compiled once for each part, -DWSH_IMAGE_PART_moves, _sums and _wide.
 */
#define SHMEMX_DEVICE_MODULE
#define SHMEMX_QUIET_COVERS_QUEUES 1
#define WSH_STREAM_KERNEL(THREADS) static __device__ __forceinline__ void

#include <shmemx.h>

#include "nvshmem/kernels.h"

#define KERNEL(NAME, THREADS) extern "C" __global__ void __launch_bounds__(THREADS) wsh_image_##NAME

/* The first launch, when the library loads it (device/view/image.h), does nothing. */
#define UNLESS_FIRST if (gridDim.y == 1)

#ifdef WSH_IMAGE_PART_moves

KERNEL(barrier, WSH_STREAM_THREADS)(shmem_team_t team)
{
    UNLESS_FIRST
        wsh_stream_barrier<0>(team);
}

KERNEL(exchange, WSH_STREAM_THREADS)(shmem_team_t team, void *dest, const void *source, size_t len, bool same)
{
    UNLESS_FIRST
        wsh_stream_exchange<0>(team, dest, source, len, same);
}

KERNEL(broadcast, WSH_STREAM_THREADS)(shmem_team_t team, void *dest, const void *source, size_t len, int root)
{
    UNLESS_FIRST
        wsh_stream_broadcast<0>(team, dest, source, len, root);
}

KERNEL(put, WSH_STREAM_THREADS)(void *dest, const void *source, size_t len, int pe)
{
    UNLESS_FIRST
        wsh_stream_put<0>(dest, source, len, pe);
}

KERNEL(get, WSH_STREAM_THREADS)(void *dest, const void *source, size_t len, int pe)
{
    UNLESS_FIRST
        wsh_stream_get<0>(dest, source, len, pe);
}

KERNEL(put_signal, WSH_STREAM_THREADS)(void *dest, const void *source, size_t len, uint64_t *sig_addr, uint64_t signal,
                                       int sig_op, int pe)
{
    UNLESS_FIRST
        wsh_stream_put_signal<0>(dest, source, len, sig_addr, signal, sig_op, pe);
}

KERNEL(signal_after, 1)(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
{
    UNLESS_FIRST
        wsh_stream_signal_after<0>(sig_addr, signal, sig_op, pe);
}

KERNEL(signal_op, 1)(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
{
    UNLESS_FIRST
        wsh_stream_signal_op<0>(sig_addr, signal, sig_op, pe);
}

KERNEL(quiet, 1)()
{
    UNLESS_FIRST
        wsh_stream_quiet<0>();
}

#define STRIDED(SIZE)                                                                                               \
    KERNEL(iput_##SIZE, WSH_STREAM_THREADS)(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,           \
                                            size_t nelems, int pe)                                                  \
    {                                                                                                               \
        UNLESS_FIRST                                                                                                \
            wsh_stream_iput<SIZE>(dest, source, dst, sst, nelems, pe);                                              \
    }                                                                                                               \
    KERNEL(iget_##SIZE, WSH_STREAM_THREADS)(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,           \
                                            size_t nelems, int pe)                                                  \
    {                                                                                                               \
        UNLESS_FIRST                                                                                                \
            wsh_stream_iget<SIZE>(dest, source, dst, sst, nelems, pe);                                              \
    }
STRIDED(1)
STRIDED(2)
STRIDED(4)
STRIDED(8)
STRIDED(16)

#define ONE(SIZE, TYPE)                                                                                             \
    KERNEL(p_##SIZE, 1)(TYPE *dest, TYPE value, int pe)                                                             \
    {                                                                                                               \
        UNLESS_FIRST                                                                                                \
            wsh_stream_p<TYPE>(dest, value, pe);                                                                    \
    }                                                                                                               \
    KERNEL(g_##SIZE, 1)(TYPE *value, const TYPE *source, int pe)                                                    \
    {                                                                                                               \
        UNLESS_FIRST                                                                                                \
            wsh_stream_g<TYPE>(value, source, pe);                                                                  \
    }
ONE(1, uint8_t)
ONE(2, uint16_t)
ONE(4, uint32_t)
ONE(8, uint64_t)

#define WAIT(NAME, TYPE)                                                                                            \
    KERNEL(wait_##NAME, WSH_STREAM_WARP)(TYPE *ivar, int cmp, TYPE value)                                           \
    {                                                                                                               \
        UNLESS_FIRST                                                                                                \
            wsh_stream_wait<TYPE>(ivar, cmp, value);                                                                \
    }                                                                                                               \
    KERNEL(wait_all_##NAME, WSH_STREAM_WARP)(TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE value,    \
                                             const TYPE *values)                                                    \
    {                                                                                                               \
        UNLESS_FIRST                                                                                                \
            wsh_stream_wait_all<TYPE>(ivars, nelems, status, cmp, value, values);                                   \
    }
WAIT(u2, uint16_t)
WAIT(u4, uint32_t)
WAIT(u8, uint64_t)
WAIT(s2, int16_t)
WAIT(s4, int32_t)
WAIT(s8, int64_t)

#else

#ifdef __CUDA_ARCH__

/* Integers of either sign: with the top bits of both flipped, signed ones compare as unsigned ones do. */
template <class T> struct wsh_image_integer {
    typedef T bits;

    static WSH_DEV T fold(int op, T a, T b)
    {
        T flip = op & WSH_IMAGE_SIGNED ? (T)((T)1 << (8 * sizeof(T) - 1)) : (T)0;

        if (op == WSH_SUM)
            return (T)((uint64_t)a + b);
        return wsh_dev_integer<T>::fold(op & (WSH_IMAGE_SIGNED - 1), a ^ flip, b ^ flip) ^ flip;
    }
};

template <class T> struct wsh_image_word;
template <class T> struct wsh_dev_kind_of<wsh_image_word<T>> {
    typedef wsh_image_integer<T> type;
};

#else
template <class T> struct wsh_image_word;
#endif

#define KINDS(X)                        \
    X(1, wsh_image_word<uint8_t>)       \
    X(2, wsh_image_word<uint16_t>)      \
    X(4, wsh_image_word<uint32_t>)      \
    X(8, wsh_image_word<uint64_t>)      \
    X(float, float)                     \
    X(double, double)                   \
    X(half, struct __half)              \
    X(bfloat16, struct __nv_bfloat16)

#define COMBINE(NAME, TYPE, ...)                                                                                    \
    KERNEL(NAME, WSH_STREAM_THREADS)(shmem_team_t team, void *dest, const void *source, size_t nelems, int op)      \
    {                                                                                                               \
        UNLESS_FIRST                                                                                                \
            __VA_ARGS__<TYPE>(team, dest, source, nelems, op);                                                      \
    }

#ifdef WSH_IMAGE_PART_sums

#define BY_ONE(NAME, TYPE)                                  \
    COMBINE(reduce_##NAME, TYPE, wsh_stream_reduce)         \
    COMBINE(scatter_##NAME, TYPE, wsh_stream_scatter)
KINDS(BY_ONE)

#else

KERNEL(exchange_wide, WSH_STREAM_THREADS)(shmem_team_t team, void *dest, const void *source, size_t len, bool same)
{
    UNLESS_FIRST
        wsh_stream_exchange_wide<0>(team, dest, source, len, same);
}

KERNEL(broadcast_wide, WSH_STREAM_THREADS)(shmem_team_t team, void *dest, const void *source, size_t len, int root)
{
    UNLESS_FIRST
        wsh_stream_broadcast_wide<0>(team, dest, source, len, root);
}

KERNEL(alltoallv, WSH_STREAM_THREADS)(shmem_team_t team, struct wsh_dev_vector v)
{
    UNLESS_FIRST
        wsh_stream_alltoallv<0>(team, v);
}

#define BY_ALL(NAME, TYPE)                                          \
    COMBINE(reduce_wide_##NAME, TYPE, wsh_stream_reduce_wide)       \
    COMBINE(scatter_wide_##NAME, TYPE, wsh_stream_scatter_wide)
KINDS(BY_ALL)

#endif
#endif
