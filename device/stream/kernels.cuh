/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of routines on streams, templates that are compiled in the units which launch them: for one block or, by
 * the names in _wide and for put and get, for several.
 */
#ifndef WSH_DEVICE_STREAM_KERNELS_CUH
#define WSH_DEVICE_STREAM_KERNELS_CUH

#ifdef __CUDA_ARCH__
#include "../coll/vector/alltoallv.cuh"
#include "../coll/collect.cuh"
#include "../core/order.cuh"
#include "../coll/reduce.cuh"
#include "../coll/scan.cuh"
#include "../coll/share.cuh"
#include "../core/signal.cuh"
#include "../core/strided.cuh"
#include "../core/wait_sets.cuh"
#include "../coll/wide.cuh"
#endif

/* Whether a launch is to have an effect (api/launch.cuh). Where kernels.cu makes kernels of the bodies, it asks. */
#ifdef WSH_STREAM_KERNEL
#define WSH_STREAM_EFFECT true
#else
#define WSH_STREAM_EFFECT (gridDim.y < WSH_LAUNCH_FIRST_ROWS)
#endif

/* A kernel is of both passes; what it does is the device's. */
#ifdef __CUDA_ARCH__
#define WSH_KERNEL(...)              \
    {                                \
        if (WSH_STREAM_EFFECT) {     \
            wsh_ptx_stream_before(); \
            __VA_ARGS__              \
        }                            \
    }
#else
#define WSH_KERNEL(...) \
    {                   \
    }
#endif

#ifndef WSH_STREAM_KERNEL /* nvshmem/kernels.cu makes kernels of their bodies itself */
#define WSH_STREAM_KERNEL(THREADS) static __global__ void __launch_bounds__(THREADS)
#endif

/* clang-format off */

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS) wsh_stream_barrier(shmem_team_t team)
WSH_KERNEL(wsh_dev_barrier<WSH_BLOCK>("a barrier or sync on a stream: team", team);)

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_exchange(shmem_team_t team, void *dest, const void *source, size_t len, bool same)
WSH_KERNEL(wsh_dev_exchange<WSH_BLOCK>(same ? "fcollect on a stream" : "alltoall on a stream", team, (char *)dest,
                                       (const char *)source, same, len);)

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_broadcast(shmem_team_t team, void *dest, const void *source, size_t len, int root)
WSH_KERNEL(wsh_dev_broadcast_to<WSH_BLOCK>("broadcast on a stream", team, dest, source, len, root);)

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_collect(shmem_team_t team, void *dest, const void *source, size_t len)
WSH_KERNEL(wsh_dev_collect<WSH_BLOCK>("collect on a stream", team, dest, source, len);)

template <unsigned WIDTH>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_alltoalls(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems)
WSH_KERNEL(wsh_dev_alltoalls<WSH_BLOCK, WIDTH>("alltoalls on a stream", team, dest, source,
                                               wsh_dev_strides{dst, sst, nelems});)

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS) wsh_stream_alltoallv(shmem_team_t team, struct wsh_dev_vector v)
WSH_KERNEL(__shared__ struct wsh_dev_vector_call call;
           wsh_dev_alltoallv_kernel<WSH_BLOCK>("alltoallv on a stream", team, v, &call);)

template <class T>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_reduce(shmem_team_t team, void *dest, const void *source, size_t nelems, int op)
WSH_KERNEL(wsh_dev_reduce_all<WSH_BLOCK, wsh_dev_call_kind<T>>("reduce on a stream", team, wsh_dev_call_op<T>(op), dest,
                                                               source, nelems);)

template <class T>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_scatter(shmem_team_t team, void *dest, const void *source, size_t nelems, int op)
WSH_KERNEL(wsh_dev_reduce_scatter<WSH_BLOCK, wsh_dev_call_kind<T>>("reducescatter on a stream", team,
                                                                   wsh_dev_call_op<T>(op), dest, source, nelems);)

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_exchange_wide(shmem_team_t team, void *dest, const void *source, size_t len, bool same)
WSH_KERNEL(wsh_dev_exchange_wide<WSH_BLOCK>(same ? "fcollect on a stream" : "alltoall on a stream", team,
                                            (char *)dest, (const char *)source, same, len);)

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_broadcast_wide(shmem_team_t team, void *dest, const void *source, size_t len, int root)
WSH_KERNEL(wsh_dev_broadcast_wide<WSH_BLOCK>("broadcast on a stream", team, (char *)dest, (const char *)source, len,
                                             root);)

template <class T>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_reduce_wide(shmem_team_t team, void *dest, const void *source, size_t nelems, int op)
WSH_KERNEL(wsh_dev_reduce_wide<WSH_BLOCK, wsh_dev_kind<T>>("reduce on a stream", team, op, dest, source, nelems);)

template <class T>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_scatter_wide(shmem_team_t team, void *dest, const void *source, size_t nelems, int op)
WSH_KERNEL(wsh_dev_scatter_wide<WSH_BLOCK, wsh_dev_kind<T>>("reducescatter on a stream", team, op, dest, source,
                                                            nelems);)

template <class T>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_scan(shmem_team_t team, void *dest, const void *source, size_t nelems, bool exclusive)
WSH_KERNEL(wsh_dev_scan<WSH_BLOCK, wsh_dev_call_kind<T>>("scan on a stream", team, dest, source, nelems, exclusive);)

template <class T>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_scan_wide(shmem_team_t team, void *dest, const void *source, size_t nelems, bool exclusive)
WSH_KERNEL(wsh_dev_scan_wide<WSH_BLOCK, wsh_dev_kind<T>>("scan on a stream", team, dest, source, nelems, exclusive);)

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS) wsh_stream_put(void *dest, const void *source, size_t len, int pe)
WSH_KERNEL(wsh_dev_put_share<WSH_BLOCK>("a put on a stream: dest", dest, source, len, pe);)

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS) wsh_stream_get(void *dest, const void *source, size_t len, int pe)
WSH_KERNEL(wsh_dev_get_share<WSH_BLOCK>("a get on a stream: source", dest, source, len, pe);)

template <unsigned WIDTH>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_iput(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)
WSH_KERNEL(wsh_dev_iput<WSH_BLOCK, WIDTH>("an iput on a stream: dest", dest, source,
                                          wsh_dev_strides{dst, sst, nelems}, pe);)

template <unsigned WIDTH>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_iget(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)
WSH_KERNEL(wsh_dev_iget<WSH_BLOCK, WIDTH>("an iget on a stream: source", dest, source,
                                          wsh_dev_strides{dst, sst, nelems}, pe);)

template <class T>
WSH_STREAM_KERNEL(1) wsh_stream_p(T *dest, T value, int pe)
WSH_KERNEL(wsh_dev_p<T>("a p on a stream: dest", dest, value, pe);)

template <class T>
WSH_STREAM_KERNEL(1) wsh_stream_g(T *value, const T *source, int pe)
WSH_KERNEL(*value = wsh_dev_g<T>("a g on a stream: source", source, pe);)

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_put_signal(void *dest, const void *source, size_t len, uint64_t *sig_addr, uint64_t signal, int sig_op,
                      int pe)
WSH_KERNEL(wsh_dev_put_signal<WSH_BLOCK>("put_signal on a stream", dest, source, len, sig_addr, signal, sig_op, pe);)

/* After a put by several blocks, which all have ended: one thread's release covers their stores and what was asked. */
template <int = 0>
WSH_STREAM_KERNEL(1) wsh_stream_signal_after(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
WSH_KERNEL(if (wsh_device_view.rings) wsh_dev_request_order_all(false);
           wsh_dev_put_signal<WSH_THREAD>("put_signal on a stream", nullptr, nullptr, 0, sig_addr, signal, sig_op,
                                          pe);)

template <int = 0>
WSH_STREAM_KERNEL(1) wsh_stream_signal_op(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
WSH_KERNEL(wsh_dev_signal_send("signal_op on a stream: sig_addr", wsh_dev_signal{sig_addr, signal, sig_op}, pe);)

template <class T>
WSH_STREAM_KERNEL(WSH_STREAM_WARP) wsh_stream_wait(T *ivar, int cmp, T value)
WSH_KERNEL(wsh_dev_wait_until<WSH_WARP>("a wait on a stream: ivar or sig_addr", ivar, cmp, value);)

template <class T>
WSH_STREAM_KERNEL(WSH_STREAM_WARP)
wsh_stream_wait_all(T *ivars, size_t nelems, const int *status, int cmp, T value, const T *values)
WSH_KERNEL(
    typedef wsh_dev_word<T> W;
    wsh_dev_set_all<WSH_WARP>(wsh_dev_set<W>{"wait_until_all on a stream: ivars", (const W *)ivars, nelems, status,
                                             cmp, (W)value, (const W *)values}, true);)

template <int = 0>
WSH_STREAM_KERNEL(1) wsh_stream_quiet()
WSH_KERNEL(wsh_dev_quiet<WSH_THREAD>();)

#endif
