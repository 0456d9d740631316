/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensors as NVSHMEM's tile routines (device/tile/nvshmemx_tile_api.hpp) take them. */
#ifndef WSH_NV_TENSOR_H
#define WSH_NV_TENSOR_H

#include "../names/all.h"

#ifdef WSH_NV_KERNELS

#include <cuda/std/tuple>
#include <cuda/std/type_traits>

template <int v> struct ConstInt : cuda::std::integral_constant<int, v> {
    __host__ __device__ constexpr operator int() const
    {
        return v;
    }
};

namespace nvshmemx
{

template <class... Shapes> using shape = cuda::std::tuple<Shapes...>;
template <class... Strides> using stride = cuda::std::tuple<Strides...>;

template <class... Ts> __host__ __device__ constexpr shape<Ts...> make_shape(Ts const &...t)
{
    return {t...};
}

template <class... Ts> __host__ __device__ constexpr stride<Ts...> make_stride(Ts const &...t)
{
    return {t...};
}

/* Empty where both are constants. */
template <class Shape, class Stride> struct Layout : private cuda::std::tuple<Shape, Stride> {
    __host__ __device__ constexpr Layout(Shape const &shape = {}, Stride const &stride = {})
        : cuda::std::tuple<Shape, Stride>(shape, stride)
    {
    }

    __host__ __device__ constexpr Shape shape() const
    {
        return cuda::std::get<0>(static_cast<const cuda::std::tuple<Shape, Stride> &>(*this));
    }

    __host__ __device__ constexpr Stride stride() const
    {
        return cuda::std::get<1>(static_cast<const cuda::std::tuple<Shape, Stride> &>(*this));
    }
};

template <class Shape, class Stride>
__host__ __device__ constexpr Layout<Shape, Stride> make_layout(Shape const &shape, Stride const &stride)
{
    return Layout<Shape, Stride>(shape, stride);
}

template <typename T, class Layout> struct Tensor {
    using value_type = T;
    using layout_type = Layout;
    T *_data;
    const Layout _layout;

    __host__ __device__ constexpr Tensor(T *data, Layout layout) : _data(data), _layout(layout)
    {
    }

    __host__ __device__ Tensor(Layout layout) : _data(nullptr), _layout(layout)
    {
    }

    __host__ __device__ T *data()
    {
        return _data;
    }

    __host__ __device__ constexpr Layout layout() const
    {
        return _layout;
    }

    __host__ __device__ constexpr auto shape() const
    {
        return _layout.shape();
    }

    __host__ __device__ constexpr auto stride() const
    {
        return _layout.stride();
    }
};

typedef enum {
    NVLS_ONE_SHOT_PUSH_NBI = 0,
    NVLS_ONE_SHOT_PULL_NBI = 1,
    NVLS_TWO_SHOT_PUSH_NBI = 2,
    NVLS_TWO_SHOT_PULL_NBI = 3,
    NVSHMEMI_TILE_COLL_ALGO_SENTINEL = 0x7fffffff
} tile_coll_algo_t;

typedef enum {
    PEER_PUSH_NBI = 0,
    PEER_PULL_NBI = 0,
    REMOTE_PUSH_NBI = 1,
    REMOTE_PULL_NBI = 1,
    NVSHMEMI_TILE_ALGO_SENTINEL = 0x7fffffff
} tile_algo_t;

} // namespace nvshmemx

#endif
#endif
