/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts, gets and signals: on the host, in kernels, on streams, and in kernels by a queue. */
#ifndef WSH_NV_RMA_H
#define WSH_NV_RMA_H

#include "shell.h"

/* clang-format off */

/* TAG: the routine after nvshmem_; CORE: ours after shmem_. */
#define WSH_NV_PLAIN(TAG, CORE, TYPE)                                                                        \
    WSH_NV_BOTH void nvshmem_##TAG(TYPE *dest, const TYPE *source, size_t nelems, int pe)                    \
    {                                                                                                        \
        shmem_##CORE(dest, source, nelems, pe);                                                              \
    }
#define WSH_NV_PLAIN_STRIDED(TAG, CORE, TYPE)                                                                \
    WSH_NV_BOTH void nvshmem_##TAG(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                                   int pe)                                                                   \
    {                                                                                                        \
        shmem_##CORE(dest, source, dst, sst, nelems, pe);                                                    \
    }
#define WSH_NV_PLAIN_SIGNAL(TAG, CORE, TYPE)                                                                 \
    WSH_NV_BOTH void nvshmem_##TAG(TYPE *dest, const TYPE *source, size_t nelems, uint64_t *sig_addr,        \
                                   uint64_t signal, int sig_op, int pe)                                      \
    {                                                                                                        \
        shmem_##CORE(dest, source, nelems, sig_addr, signal, WSH_NV_OP(sig_op), pe);                         \
    }

#ifdef WSH_NV_KERNELS

/* By a warp or a block, and by a queue. */
#define WSH_NV_SCOPED(TAG, CORE, TYPE, SUFFIX)                                                               \
    WSH_NV_KERNEL void nvshmemx_##TAG##SUFFIX(TYPE *dest, const TYPE *source, size_t nelems, int pe)         \
    {                                                                                                        \
        shmem_##CORE##SUFFIX<N>(dest, source, nelems, pe);                                                   \
    }
#define WSH_NV_SCOPED_STRIDED(TAG, CORE, TYPE, SUFFIX)                                                       \
    WSH_NV_KERNEL void nvshmemx_##TAG##SUFFIX(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,  \
                                              size_t nelems, int pe)                                         \
    {                                                                                                        \
        shmem_##CORE##SUFFIX<N>(dest, source, dst, sst, nelems, pe);                                         \
    }
#define WSH_NV_SCOPED_SIGNAL(TAG, CORE, TYPE, SUFFIX)                                                        \
    WSH_NV_KERNEL void nvshmemx_##TAG##SUFFIX(TYPE *dest, const TYPE *source, size_t nelems,                 \
                                              uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)       \
    {                                                                                                        \
        shmem_##CORE##SUFFIX<N>(dest, source, nelems, sig_addr, signal, WSH_NV_OP(sig_op), pe);              \
    }

#define WSH_NV_QUEUED(TAG, CORE, TYPE, SUFFIX)                                                               \
    WSH_NV_KERNEL void nvshmemx_qp_##TAG##SUFFIX(TYPE *dest, const TYPE *source, size_t nelems, int pe,      \
                                                 nvshmemx_qp_handle_t qp_index)                              \
    {                                                                                                        \
        shmemx_queue_##CORE##SUFFIX<N>(dest, source, nelems * sizeof(TYPE), pe, qp_index);                   \
    }
#define WSH_NV_QUEUED_SIGNAL(TAG, CORE, TYPE, SUFFIX)                                                        \
    WSH_NV_KERNEL void nvshmemx_qp_##TAG##SUFFIX(TYPE *dest, const TYPE *source, size_t nelems,              \
                                                 uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,    \
                                                 nvshmemx_qp_handle_t qp_index)                              \
    {                                                                                                        \
        shmemx_queue_##CORE##SUFFIX<N>(dest, source, nelems * sizeof(TYPE), sig_addr, signal,                \
                                       WSH_NV_OP(sig_op), pe, qp_index);                                     \
    }
#define WSH_NV_ALL_QUEUED(X, TAG, CORE, TYPE)   \
    X(TAG, CORE, TYPE, )                        \
    X(TAG, CORE, TYPE, _warp)                   \
    X(TAG, CORE, TYPE, _block)

#else

#define WSH_NV_SCOPED(TAG, CORE, TYPE, SUFFIX)
#define WSH_NV_SCOPED_STRIDED(TAG, CORE, TYPE, SUFFIX)
#define WSH_NV_SCOPED_SIGNAL(TAG, CORE, TYPE, SUFFIX)
#define WSH_NV_ALL_QUEUED(X, TAG, CORE, TYPE)

#endif

#ifdef WSH_NV_HAS_STREAMS

#define WSH_NV_ON_STREAM(TAG, CORE, TYPE)                                                                    \
    WSH_NV_STREAM void nvshmemx_##TAG##_on_stream(TYPE *dest, const TYPE *source, size_t nelems, int pe,     \
                                                  cudaStream_t stream)                                       \
    {                                                                                                        \
        shmemx_##CORE##_on_stream<N>(dest, source, nelems, pe, stream);                                      \
    }
#define WSH_NV_ON_STREAM_STRIDED(TAG, CORE, TYPE)                                                            \
    WSH_NV_STREAM void nvshmemx_##TAG##_on_stream(TYPE *dest, const TYPE *source, ptrdiff_t dst,             \
                                                  ptrdiff_t sst, size_t nelems, int pe, cudaStream_t stream) \
    {                                                                                                        \
        shmemx_##CORE##_on_stream<N>(dest, source, dst, sst, nelems, pe, stream);                            \
    }
#define WSH_NV_ON_STREAM_SIGNAL(TAG, CORE, TYPE)                                                             \
    WSH_NV_STREAM void nvshmemx_##TAG##_on_stream(TYPE *dest, const TYPE *source, size_t nelems,             \
                                                  uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,   \
                                                  cudaStream_t stream)                                       \
    {                                                                                                        \
        shmemx_##CORE##_on_stream<N>(dest, source, nelems, sig_addr, signal, WSH_NV_OP(sig_op), pe, stream); \
    }

#elif defined WSH_NV_HAS_CUDA

#define WSH_NV_ON_STREAM(TAG, CORE, TYPE)                                                                    \
    WSH_NV_EXTERN void nvshmemx_##TAG##_on_stream(TYPE *dest, const TYPE *source, size_t nelems, int pe,     \
                                                  cudaStream_t stream);
#define WSH_NV_ON_STREAM_STRIDED(TAG, CORE, TYPE)                                                            \
    WSH_NV_EXTERN void nvshmemx_##TAG##_on_stream(TYPE *dest, const TYPE *source, ptrdiff_t dst,             \
                                                  ptrdiff_t sst, size_t nelems, int pe, cudaStream_t stream);
#define WSH_NV_ON_STREAM_SIGNAL(TAG, CORE, TYPE)                                                             \
    WSH_NV_EXTERN void nvshmemx_##TAG##_on_stream(TYPE *dest, const TYPE *source, size_t nelems,             \
                                                  uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,   \
                                                  cudaStream_t stream);

#else

#define WSH_NV_ON_STREAM(TAG, CORE, TYPE)
#define WSH_NV_ON_STREAM_STRIDED(TAG, CORE, TYPE)
#define WSH_NV_ON_STREAM_SIGNAL(TAG, CORE, TYPE)

#endif

#define WSH_NV_MOVE(TAG, CORE, TYPE)            \
    WSH_NV_PLAIN(TAG, CORE, TYPE)               \
    WSH_NV_SCOPED(TAG, CORE, TYPE, _warp)       \
    WSH_NV_SCOPED(TAG, CORE, TYPE, _block)      \
    WSH_NV_ON_STREAM(TAG, CORE, TYPE)
#define WSH_NV_STRIDED(TAG, CORE, TYPE)             \
    WSH_NV_PLAIN_STRIDED(TAG, CORE, TYPE)           \
    WSH_NV_SCOPED_STRIDED(TAG, CORE, TYPE, _warp)   \
    WSH_NV_SCOPED_STRIDED(TAG, CORE, TYPE, _block)  \
    WSH_NV_ON_STREAM_STRIDED(TAG, CORE, TYPE)
#define WSH_NV_SEND(TAG, CORE, TYPE)                \
    WSH_NV_PLAIN_SIGNAL(TAG, CORE, TYPE)            \
    WSH_NV_SCOPED_SIGNAL(TAG, CORE, TYPE, _warp)    \
    WSH_NV_SCOPED_SIGNAL(TAG, CORE, TYPE, _block)   \
    WSH_NV_ON_STREAM_SIGNAL(TAG, CORE, TYPE)

#define WSH_NV_TYPED(NAME, TYPE)                                        \
    WSH_NV_MOVE(NAME##_put, NAME##_put, TYPE)                           \
    WSH_NV_MOVE(NAME##_put_nbi, NAME##_put_nbi, TYPE)                   \
    WSH_NV_MOVE(NAME##_get, NAME##_get, TYPE)                           \
    WSH_NV_MOVE(NAME##_get_nbi, NAME##_get_nbi, TYPE)                   \
    WSH_NV_STRIDED(NAME##_iput, NAME##_iput, TYPE)                      \
    WSH_NV_STRIDED(NAME##_iget, NAME##_iget, TYPE)                      \
    WSH_NV_SEND(NAME##_put_signal, NAME##_put_signal, TYPE)             \
    WSH_NV_SEND(NAME##_put_signal_nbi, NAME##_put_signal_nbi, TYPE)
WSH_DEVICE_TYPES(WSH_NV_TYPED)
#undef WSH_NV_TYPED

#define WSH_NV_HALF(NAME, TYPE, INTEGER, WORD, BITS)                    \
    WSH_NV_MOVE(NAME##_put, put##BITS, TYPE)                            \
    WSH_NV_MOVE(NAME##_put_nbi, put##BITS##_nbi, TYPE)                  \
    WSH_NV_MOVE(NAME##_get, get##BITS, TYPE)                            \
    WSH_NV_MOVE(NAME##_get_nbi, get##BITS##_nbi, TYPE)                  \
    WSH_NV_STRIDED(NAME##_iput, iput##BITS, TYPE)                       \
    WSH_NV_STRIDED(NAME##_iget, iget##BITS, TYPE)                       \
    WSH_NV_SEND(NAME##_put_signal, put##BITS##_signal, TYPE)            \
    WSH_NV_SEND(NAME##_put_signal_nbi, put##BITS##_signal_nbi, TYPE)
WSH_NV_HALF_TYPES(WSH_NV_HALF)
#undef WSH_NV_HALF

#define WSH_NV_SIZED(BITS)                                              \
    WSH_NV_MOVE(put##BITS, put##BITS, void)                             \
    WSH_NV_MOVE(put##BITS##_nbi, put##BITS##_nbi, void)                 \
    WSH_NV_MOVE(get##BITS, get##BITS, void)                             \
    WSH_NV_MOVE(get##BITS##_nbi, get##BITS##_nbi, void)                 \
    WSH_NV_STRIDED(iput##BITS, iput##BITS, void)                        \
    WSH_NV_STRIDED(iget##BITS, iget##BITS, void)                        \
    WSH_NV_SEND(put##BITS##_signal, put##BITS##_signal, void)           \
    WSH_NV_SEND(put##BITS##_signal_nbi, put##BITS##_signal_nbi, void)
WSH_SIZES(WSH_NV_SIZED)
#undef WSH_NV_SIZED

WSH_NV_MOVE(putmem, putmem, void)
WSH_NV_MOVE(putmem_nbi, putmem_nbi, void)
WSH_NV_MOVE(getmem, getmem, void)
WSH_NV_MOVE(getmem_nbi, getmem_nbi, void)
WSH_NV_SEND(putmem_signal, putmem_signal, void)
WSH_NV_SEND(putmem_signal_nbi, putmem_signal_nbi, void)

/* One element. */
#define WSH_NV_ONE(NAME, TYPE)                                                                               \
    WSH_NV_BOTH void nvshmem_##NAME##_p(TYPE *dest, const TYPE value, int pe)                                \
    {                                                                                                        \
        shmem_##NAME##_p(dest, value, pe);                                                                   \
    }                                                                                                        \
    WSH_NV_BOTH TYPE nvshmem_##NAME##_g(const TYPE *source, int pe)                                          \
    {                                                                                                        \
        return shmem_##NAME##_g(source, pe);                                                                 \
    }
WSH_DEVICE_TYPES(WSH_NV_ONE)
#undef WSH_NV_ONE

/* Their 16 bits. */
#define WSH_NV_ONE(NAME, TYPE, INTEGER, WORD, BITS)                                                          \
    WSH_NV_BOTH void nvshmem_##NAME##_p(TYPE *dest, const TYPE value, int pe)                                \
    {                                                                                                        \
        shmem_##INTEGER##_p((WORD *)dest, *(const WORD *)&value, pe);                                        \
    }                                                                                                        \
    WSH_NV_BOTH TYPE nvshmem_##NAME##_g(const TYPE *source, int pe)                                          \
    {                                                                                                        \
        TYPE value;                                                                                          \
                                                                                                             \
        *(WORD *)&value = shmem_##INTEGER##_g((const WORD *)source, pe);                                     \
        return value;                                                                                        \
    }
WSH_NV_HALF_TYPES(WSH_NV_ONE)
#undef WSH_NV_ONE

WSH_NV_BOTH void nvshmemx_signal_op(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
{
    if (sig_op == NVSHMEM_SIGNAL_ADD)
        shmem_signal_add(sig_addr, signal, pe);
    else
        shmem_signal_set(sig_addr, signal, pe);
}

/* A signal that counts the bytes that have come. */
WSH_NV_BOTH void nvshmemx_signal_counted_reset(uint64_t *signal_addr)
{
    shmem_uint64_atomic_set(signal_addr, 0, shmem_my_pe());
}

#ifdef WSH_NV_KERNELS

WSH_NV_KERNEL int nvshmemx_putmem_signal_counted_nbi_block(void *dest, const void *source, size_t bytes,
                                                           uint64_t *signal_addr, int pe)
{
    shmem_putmem_signal_nbi_block<N>(dest, source, bytes, signal_addr, bytes, SHMEM_SIGNAL_ADD, pe);
    return NVSHMEMX_SUCCESS;
}

WSH_NV_KERNEL uint64_t nvshmemx_signal_counted_load(const uint64_t *signal_addr)
{
    return shmem_signal_fetch(signal_addr);
}

WSH_NV_KERNEL void nvshmemx_signal_counted_wait_until(const uint64_t *signal_addr, uint64_t expected)
{
    shmem_signal_wait_until((uint64_t *)signal_addr, SHMEM_CMP_GE, expected);
}

#endif

#ifdef WSH_NV_KERNELS

/* By a queue (nvshmemx_qp_create). */
#define WSH_NV_TYPED(NAME, TYPE)                                                                        \
    WSH_NV_ALL_QUEUED(WSH_NV_QUEUED, NAME##_put, putmem, TYPE)                                          \
    WSH_NV_ALL_QUEUED(WSH_NV_QUEUED, NAME##_put_nbi, putmem_nbi, TYPE)                                  \
    WSH_NV_ALL_QUEUED(WSH_NV_QUEUED, NAME##_get, getmem, TYPE)                                          \
    WSH_NV_ALL_QUEUED(WSH_NV_QUEUED, NAME##_get_nbi, getmem_nbi, TYPE)                                  \
    WSH_NV_ALL_QUEUED(WSH_NV_QUEUED_SIGNAL, NAME##_put_signal, putmem_signal, TYPE)                     \
    WSH_NV_ALL_QUEUED(WSH_NV_QUEUED_SIGNAL, NAME##_put_signal_nbi, putmem_signal_nbi, TYPE)             \
    WSH_NV_KERNEL void nvshmemx_qp_##NAME##_p(TYPE *dest, const TYPE value, int pe,                     \
                                              nvshmemx_qp_handle_t qp_index)                            \
    {                                                                                                   \
        shmemx_queue_p<TYPE>(dest, value, pe, qp_index);                                                \
    }                                                                                                   \
    WSH_NV_KERNEL TYPE nvshmemx_qp_##NAME##_g(const TYPE *source, int pe, nvshmemx_qp_handle_t qp_index) \
    {                                                                                                   \
        return shmemx_queue_g<TYPE>(source, pe, qp_index);                                              \
    }
WSH_DEVICE_TYPES(WSH_NV_TYPED)
WSH_NV_HALVES(WSH_NV_TYPED)
#undef WSH_NV_TYPED
#undef WSH_NV_QUEUED
#undef WSH_NV_QUEUED_SIGNAL

WSH_NV_KERNEL void nvshmemx_qp_signal_op(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
                                         nvshmemx_qp_handle_t qp_index)
{
    shmemx_queue_signal_op<N>(sig_addr, signal, WSH_NV_OP(sig_op), pe, qp_index);
}

#endif

#ifdef WSH_NV_HAS_STREAMS

#define WSH_NV_ONE(NAME, TYPE)                                                                               \
    WSH_NV_STREAM void nvshmemx_##NAME##_p_on_stream(TYPE *dest, const TYPE value, int pe, cudaStream_t stream) \
    {                                                                                                        \
        shmemx_##NAME##_p_on_stream<N>(dest, value, pe, stream);                                             \
    }                                                                                                        \
    WSH_NV_STREAM TYPE nvshmemx_##NAME##_g_on_stream(const TYPE *source, int pe, cudaStream_t stream)        \
    {                                                                                                        \
        return shmemx_##NAME##_g_on_stream<N>(source, pe, stream);                                           \
    }

WSH_NV_STREAM void nvshmemx_signal_op_on_stream(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
                                                cudaStream_t stream)
{
    shmemx_signal_op_on_stream<N>(sig_addr, signal, WSH_NV_OP(sig_op), pe, stream);
}

#elif defined WSH_NV_HAS_CUDA

#define WSH_NV_ONE(NAME, TYPE)                                                                               \
    WSH_NV_EXTERN void nvshmemx_##NAME##_p_on_stream(TYPE *dest, const TYPE value, int pe, cudaStream_t stream); \
    WSH_NV_EXTERN TYPE nvshmemx_##NAME##_g_on_stream(const TYPE *source, int pe, cudaStream_t stream);

WSH_NV_EXTERN void nvshmemx_signal_op_on_stream(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
                                                cudaStream_t stream);

#else

#define WSH_NV_ONE(NAME, TYPE)

#endif
WSH_DEVICE_TYPES(WSH_NV_ONE)
WSH_NV_HALVES(WSH_NV_ONE)
#undef WSH_NV_ONE

#undef WSH_NV_MOVE
#undef WSH_NV_STRIDED
#undef WSH_NV_SEND
#undef WSH_NV_PLAIN
#undef WSH_NV_PLAIN_STRIDED
#undef WSH_NV_PLAIN_SIGNAL
#undef WSH_NV_SCOPED
#undef WSH_NV_SCOPED_STRIDED
#undef WSH_NV_SCOPED_SIGNAL
#undef WSH_NV_ON_STREAM
#undef WSH_NV_ON_STREAM_STRIDED
#undef WSH_NV_ON_STREAM_SIGNAL
#undef WSH_NV_ALL_QUEUED

#endif
