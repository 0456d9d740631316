/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public names of point-to-point routines on streams: shmemx_x_on_stream puts a kernel into the stream that
 * executes shmem_x of sections 9.6, 9.8, 9.11 and 9.12, with the same arguments and contract, in stream order: after
 * what is in the stream already, before what comes later. They may be captured in a graph and replayed; all arguments
 * but values are read when the kernel runs.
 *
 *   TYPE_put, putBITS, putmem, their get and _nbi, TYPE_iput, iputBITS, their iget; TYPE_p
 *   TYPE_g                      alone waits: for the stream, then returns the value; not under capture, which it ends
 *                               with an error, as any wait does; 0 where that or the launch fails
 *   the puts with _signal, _signal_nbi; signal_op (SHMEM_SIGNAL_SET or _ADD)
 *   signal_wait_until, TYPE_wait_until, _wait_until_all, _wait_until_all_vector: later work of the stream waits
 *   quiet                       completes what earlier work of the stream, and work ordered before it, has issued
 *
 * Arrays, `status` and values of a set are memory that the GPU reaches, also the local ones. Puts from symmetric device
 * memory are copies of the driver, which a copy engine makes; other large puts and gets are copied by several blocks. A
 * peer that the GPU does not reach is refused, as in kernels.
 *
 * All but g return 0 or the cudaError_t of the launch; what the kernel refuses ends the job with its line. `nbi` has
 * no less to do here: the source may be written again, and the dest of a get read, by later work of the stream.
 */
#ifndef WSH_DEVICE_API_STREAM_RMA_CUH
#define WSH_DEVICE_API_STREAM_RMA_CUH

#ifndef __CUDACC_RTC__ /* which has no host code */

#include "../stream/stream.cuh"

/* clang-format off */

/* By a copy engine where it can. The runtime's stream 0 is the driver's, or its other one in units compiled so. */
template <int N>
static inline int wsh_stream_do_put(void *dest, const void *source, size_t len, int pe, cudaStream_t stream)
{
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    int status = wsh_device_copy(dest, source, len, pe, stream ? stream : cudaStreamPerThread);
#else
    int status = wsh_device_copy(dest, source, len, pe, stream);
#endif

    if (status >= 0)
        return status;
    return wsh_stream_launch(stream, wsh_stream_blocks(len), WSH_STREAM_THREADS, WSH_STREAM(put<N>), dest, source, len,
                             pe);
}

template <int N>
static inline int wsh_stream_do_get(void *dest, const void *source, size_t len, int pe, cudaStream_t stream)
{
    return wsh_stream_launch(stream, wsh_stream_blocks(len), WSH_STREAM_THREADS, WSH_STREAM(get<N>), dest, source, len,
                             pe);
}

/* TAG: the routine after shmemx_; KERNEL: put or get. */
#define WSH_MOVE(TAG, KERNEL, TYPE, SIZE)                                                                    \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(TYPE *dest, const TYPE *source, size_t nelems, int pe,        \
                                               cudaStream_t stream)                                          \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #TAG "_on_stream");                                                 \
        return wsh_stream_do_##KERNEL<N>(dest, source, nelems * (SIZE), pe, stream);                         \
    }
#define WSH_STRIDED(TAG, KERNEL, TYPE, SIZE)                                                                 \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
                                               size_t nelems, int pe, cudaStream_t stream)                   \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #TAG "_on_stream");                                                 \
        return wsh_stream_block(stream, WSH_STREAM(KERNEL<SIZE + 0 * N>), dest,                              \
                                 source, dst, sst, nelems, pe);                                              \
    }

template <int N>
static inline int wsh_stream_send(void *dest, const void *source, size_t len, uint64_t *sig_addr, uint64_t signal,
                                  int sig_op, int pe, cudaStream_t stream)
{
    unsigned blocks = wsh_stream_blocks(len);
    int status;

    if (blocks == 1)
        return wsh_stream_block(stream, WSH_STREAM(put_signal<N>), dest, source, len, sig_addr,
                                 signal, sig_op, pe);
    status = wsh_stream_do_put<N>(dest, source, len, pe, stream);
    if (status)
        return status;
    return wsh_stream_launch(stream, 1, 1, WSH_STREAM(signal_after<N>), sig_addr, signal, sig_op, pe);
}
#define WSH_SEND(TAG, TYPE, SIZE)                                                                            \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(TYPE *dest, const TYPE *source, size_t nelems,                \
                                               uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,      \
                                               cudaStream_t stream)                                          \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #TAG "_on_stream");                                                 \
        return wsh_stream_send<N>(dest, source, nelems * (SIZE), sig_addr, signal, sig_op, pe, stream);      \
    }

#define WSH_ARRAYS(NAME, TYPE, SIZE)                                                \
    WSH_MOVE(NAME##_put, put, TYPE, SIZE)                                           \
    WSH_MOVE(NAME##_put_nbi, put, TYPE, SIZE)                                       \
    WSH_MOVE(NAME##_get, get, TYPE, SIZE)                                           \
    WSH_MOVE(NAME##_get_nbi, get, TYPE, SIZE)                                       \
    WSH_STRIDED(NAME##_iput, iput, TYPE, SIZE)                                      \
    WSH_STRIDED(NAME##_iget, iget, TYPE, SIZE)                                      \
    WSH_SEND(NAME##_put_signal, TYPE, SIZE)                                         \
    WSH_SEND(NAME##_put_signal_nbi, TYPE, SIZE)
#define WSH_TYPED(NAME, TYPE) WSH_ARRAYS(NAME, TYPE, sizeof(TYPE))
#define WSH_HALF(NAME, TYPE) WSH_ARRAYS(NAME, struct TYPE, 2)
WSH_DEVICE_TYPES(WSH_TYPED)
WSH_HALF_TYPES(WSH_HALF)
#undef WSH_HALF
#undef WSH_TYPED
#undef WSH_ARRAYS

#define WSH_SIZED(BITS)                                                             \
    WSH_MOVE(put##BITS, put, void, BITS / 8)                                        \
    WSH_MOVE(put##BITS##_nbi, put, void, BITS / 8)                                  \
    WSH_MOVE(get##BITS, get, void, BITS / 8)                                        \
    WSH_MOVE(get##BITS##_nbi, get, void, BITS / 8)                                  \
    WSH_STRIDED(iput##BITS, iput, void, BITS / 8)                                   \
    WSH_STRIDED(iget##BITS, iget, void, BITS / 8)                                   \
    WSH_SEND(put##BITS##_signal, void, BITS / 8)                                    \
    WSH_SEND(put##BITS##_signal_nbi, void, BITS / 8)
WSH_SIZES(WSH_SIZED)
#undef WSH_SIZED

WSH_MOVE(putmem, put, void, 1)
WSH_MOVE(putmem_nbi, put, void, 1)
WSH_MOVE(getmem, get, void, 1)
WSH_MOVE(getmem_nbi, get, void, 1)
WSH_SEND(putmem_signal, void, 1)
WSH_SEND(putmem_signal_nbi, void, 1)
#undef WSH_SEND
#undef WSH_STRIDED
#undef WSH_MOVE

/* One element. LATER: TYPE where the call is, since half and bfloat16 are complete only where their headers are. */
#define WSH_ONE(NAME, TYPE)                                                                                  \
    template <int N = 0, class LATER = TYPE>                                                                 \
    static inline int shmemx_##NAME##_p_on_stream(TYPE *dest, wsh_same<LATER> value, int pe,                 \
                                                  cudaStream_t stream)                                       \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #NAME "_p_on_stream");                                              \
        return wsh_stream_launch(stream, 1, 1, WSH_STREAM(p<LATER>), dest, value, pe);                       \
    }                                                                                                        \
    template <int N = 0, class LATER = TYPE>                                                                 \
    static inline LATER shmemx_##NAME##_g_on_stream(const TYPE *source, int pe, cudaStream_t stream)         \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #NAME "_g_on_stream");                                              \
        return wsh_stream_fetch<LATER>(source, pe, stream);                                                  \
    }
#define WSH_HALF(NAME, TYPE) WSH_ONE(NAME, struct TYPE)
WSH_DEVICE_TYPES(WSH_ONE)
WSH_HALF_TYPES(WSH_HALF)
#undef WSH_HALF
#undef WSH_ONE

/* shmemx_signal_op_on_stream: the signal alone, not ordered after earlier puts, as shmemx_signal_op. */
template <int N = 0>
static inline int shmemx_signal_op_on_stream(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
                                             cudaStream_t stream)
{
    wsh_stream_range range("shmemx_signal_op_on_stream");
    return wsh_stream_launch(stream, 1, 1, WSH_STREAM(signal_op<N>), sig_addr, signal, sig_op, pe);
}

/* Later work of the stream waits. */
template <int N = 0>
static inline int shmemx_signal_wait_until_on_stream(uint64_t *sig_addr, int cmp, uint64_t cmp_value,
                                                     cudaStream_t stream)
{
    wsh_stream_range range("shmemx_signal_wait_until_on_stream");
    return wsh_stream_warp(stream, WSH_STREAM(wait<wsh_later<N, uint64_t>>), sig_addr, cmp,
                             cmp_value);
}

#define WSH_WAIT(NAME, TYPE)                                                                                 \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##NAME##_wait_until_on_stream(TYPE *ivar, int cmp, TYPE cmp_value,              \
                                                           cudaStream_t stream)                              \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #NAME "_wait_until_on_stream");                                     \
        return wsh_stream_warp(stream, WSH_STREAM(wait<wsh_later<N, TYPE>>), ivar, cmp,                      \
                                 cmp_value);                                                                 \
    }                                                                                                        \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##NAME##_wait_until_all_on_stream(TYPE *ivars, size_t nelems, const int *status, \
                                                               int cmp, TYPE cmp_value, cudaStream_t stream) \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #NAME "_wait_until_all_on_stream");                                 \
        return wsh_stream_warp(stream, WSH_STREAM(wait_all<wsh_later<N, TYPE>>), ivars,                      \
                                 nelems, status, cmp, cmp_value, (const TYPE *)nullptr);                     \
    }                                                                                                        \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##NAME##_wait_until_all_vector_on_stream(                                       \
        TYPE *ivars, size_t nelems, const int *status, int cmp, const TYPE *cmp_values, cudaStream_t stream) \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #NAME "_wait_until_all_vector_on_stream");                          \
        return wsh_stream_warp(stream, WSH_STREAM(wait_all<wsh_later<N, TYPE>>), ivars,                      \
                                 nelems, status, cmp, (TYPE)0, cmp_values);                                  \
    }
WSH_P2P_HOST_TYPES(WSH_WAIT)
#undef WSH_WAIT

/* Completes what earlier work of the stream, and work ordered before it, has issued. */
template <int N = 0> static inline int shmemx_quiet_on_stream(cudaStream_t stream)
{
    wsh_stream_range range("shmemx_quiet_on_stream");
    return wsh_stream_launch(stream, 1, 1, WSH_STREAM(quiet<N>));
}

#endif
#endif
