/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands in for the kernels of device/stream/kernels.cuh where a compiler for the host alone reads the routines on
 * streams: each name is the number of a kernel that was compiled beforehand, with the types of its parameters.
 */
#ifndef WSH_NVSHMEM_IMAGE_CUH
#define WSH_NVSHMEM_IMAGE_CUH

#include "device/view/image.h"
#include "device/coll/op.cuh"
#include "nvshmem/kernels.h"

#include <type_traits>

template <class... PARAMS> struct wsh_stream_kernel {
    unsigned number;
};

#define WSH_IMAGE_OF(NAME, NUMBER, KEY, ...)                                                 \
    template <KEY> constexpr wsh_stream_kernel<__VA_ARGS__> wsh_stream_##NAME = {NUMBER};

/* One kernel of each. */
#define WSH_IMAGE_FIXED(NAME, ...) WSH_IMAGE_OF(NAME, WSH_IMAGE_##NAME, int, __VA_ARGS__)
WSH_IMAGE_FIXED(barrier, shmem_team_t)
WSH_IMAGE_FIXED(exchange, shmem_team_t, void *, const void *, size_t, bool)
WSH_IMAGE_FIXED(exchange_wide, shmem_team_t, void *, const void *, size_t, bool)
WSH_IMAGE_FIXED(broadcast, shmem_team_t, void *, const void *, size_t, int)
WSH_IMAGE_FIXED(broadcast_wide, shmem_team_t, void *, const void *, size_t, int)
WSH_IMAGE_FIXED(alltoallv, shmem_team_t, struct wsh_dev_vector)
WSH_IMAGE_FIXED(put, void *, const void *, size_t, int)
WSH_IMAGE_FIXED(get, void *, const void *, size_t, int)
WSH_IMAGE_FIXED(put_signal, void *, const void *, size_t, uint64_t *, uint64_t, int, int)
WSH_IMAGE_FIXED(signal_after, uint64_t *, uint64_t, int, int)
WSH_IMAGE_FIXED(signal_op, uint64_t *, uint64_t, int, int)
template <int> constexpr wsh_stream_kernel<> wsh_stream_quiet = {WSH_IMAGE_quiet};
#undef WSH_IMAGE_FIXED

/* Index by the bytes of an element: the logarithm of 1, 2, 4, 8 or 16. */
constexpr unsigned wsh_image_size(size_t size)
{
    return size == 1 ? 0 : 1 + wsh_image_size(size / 2);
}

template <unsigned WIDTH>
constexpr wsh_stream_kernel<void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int> wsh_stream_iput = {
    WSH_IMAGE_iput_1 + wsh_image_size(WIDTH)};
template <unsigned WIDTH>
constexpr wsh_stream_kernel<void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int> wsh_stream_iget = {
    WSH_IMAGE_iget_1 + wsh_image_size(WIDTH)};
template <class T> constexpr wsh_stream_kernel<T *, T, int> wsh_stream_p = {WSH_IMAGE_p_1 + wsh_image_size(sizeof(T))};
template <class T>
constexpr wsh_stream_kernel<T *, const T *, int> wsh_stream_g = {WSH_IMAGE_g_1 + wsh_image_size(sizeof(T))};

/* Words to wait for, by size and sign. */
template <class T> constexpr unsigned wsh_image_word()
{
    return wsh_image_size(sizeof(T)) - 1 + (std::is_signed<T>::value ? WSH_IMAGE_wait_s2 - WSH_IMAGE_wait_u2 : 0);
}
template <class T>
constexpr wsh_stream_kernel<T *, int, T> wsh_stream_wait = {WSH_IMAGE_wait_u2 + wsh_image_word<T>()};
template <class T>
constexpr wsh_stream_kernel<T *, size_t, const int *, int, T, const T *> wsh_stream_wait_all = {
    WSH_IMAGE_wait_all_u2 + wsh_image_word<T>()};

/* Kinds of numbers. */
template <class T> struct wsh_image_kind {
    enum { number = wsh_image_size(sizeof(T)) };
};
template <> struct wsh_image_kind<float> {
    enum { number = WSH_IMAGE_reduce_float - WSH_IMAGE_reduce_1 };
};
template <> struct wsh_image_kind<double> {
    enum { number = WSH_IMAGE_reduce_double - WSH_IMAGE_reduce_1 };
};
template <> struct wsh_image_kind<struct __half> {
    enum { number = WSH_IMAGE_reduce_half - WSH_IMAGE_reduce_1 };
};
template <> struct wsh_image_kind<struct __nv_bfloat16> {
    enum { number = WSH_IMAGE_reduce_bfloat16 - WSH_IMAGE_reduce_1 };
};
#define WSH_IMAGE_COMBINE(NAME)                                                                                 \
    template <class T>                                                                                          \
    constexpr wsh_stream_kernel<shmem_team_t, void *, const void *, size_t, int> wsh_stream_##NAME = {          \
        WSH_IMAGE_##NAME##_1 + (unsigned)wsh_image_kind<T>::number};
WSH_IMAGE_COMBINE(reduce)
WSH_IMAGE_COMBINE(scatter)
WSH_IMAGE_COMBINE(reduce_wide)
WSH_IMAGE_COMBINE(scatter_wide)
#undef WSH_IMAGE_COMBINE

/* NVSHMEM has no such routines, so the images have no kernels for them. */
template <class T> extern const wsh_stream_kernel<shmem_team_t, void *, const void *, size_t, bool> wsh_stream_scan;
template <class T> extern const wsh_stream_kernel<shmem_team_t, void *, const void *, size_t, bool> wsh_stream_scan_wide;
template <int> extern const wsh_stream_kernel<shmem_team_t, void *, const void *, size_t> wsh_stream_collect;
template <unsigned>
extern const wsh_stream_kernel<shmem_team_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t> wsh_stream_alltoalls;

/* The code of an operation: integers that are compared have their sign in it. */
template <class T> static inline int wsh_stream_op(int op)
{
    bool has_sign = std::is_integral<T>::value && std::is_signed<T>::value;

    return has_sign && (op == WSH_MIN || op == WSH_MAX) ? op | WSH_IMAGE_SIGNED : op;
}

extern struct wsh_device_image wsh_image;

/* The team of a collective, whose kernel has it first; of others none. */
template <class... PARAMS> static inline void *wsh_image_team(shmem_team_t team, PARAMS...)
{
    return (void *)team;
}

template <class... PARAMS> static inline void *wsh_image_team(PARAMS...)
{
    return nullptr;
}

template <class... PARAMS>
static inline int wsh_image_start(cudaStream_t stream, unsigned blocks, unsigned threads, unsigned number, PARAMS... params)
{
    void *args[] = {(void *)&params..., nullptr};
    struct wsh_device_start start = {number, blocks, threads, wsh_image_team(params...), stream, args};

    return wsh_device_image_start(&wsh_image, &start);
}

template <class... PARAMS, class... ARGS>
static inline int wsh_stream_launch(cudaStream_t stream, unsigned blocks, unsigned threads,
                                    wsh_stream_kernel<PARAMS...> kernel, ARGS... args)
{
    return wsh_image_start<PARAMS...>(stream, blocks, threads, kernel.number, static_cast<PARAMS>(args)...);
}

/* Of one thread at a time: there is one cell for a value. */
void wsh_image_fetch(unsigned number, const void *source, int pe, cudaStream_t stream, void *value, size_t len);

template <class T> static inline T wsh_stream_fetch(const T *source, int pe, cudaStream_t stream)
{
    T value = T();

    wsh_image_fetch(wsh_stream_g<T>.number, source, pe, stream, &value, sizeof value);
    return value;
}

#endif
