/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wait_until and test families. The words lie in device memory, where the host's routines do not wait: wait_until,
 * _all and signal_wait_until wait on the thread's own stream, under nvcc here, for other compilers in libnvshmem_host;
 * where CUDA's headers are not there, and for the other ones, the host's are called, which take words of host memory.
 */
#ifndef WSH_NV_WAIT_H
#define WSH_NV_WAIT_H

#include "shell.h"

/* clang-format off */

#ifdef WSH_NV_HAS_STREAMS

/*
 * Puts `call`, whose last argument is the stream, on the thread's own stream and waits for it. The library does so for
 * words of device memory alone, since it also serves programs that have no GPU; for others it makes the host's call.
 */
#ifdef WSH_NV_LIBRARY
#define WSH_NV_HOST_WAIT(word, call, otherwise)                                                              \
    (wsh_device_holds(word) ? ((void)(call), (void)cudaStreamSynchronize(cudaStreamPerThread)) : (void)(otherwise))
#else
#define WSH_NV_HOST_WAIT(word, call, otherwise) ((void)(call), (void)cudaStreamSynchronize(cudaStreamPerThread))
#endif

#define WSH_NV_WAIT(NAME, TYPE)                                                                              \
    WSH_NV_LATE void nvshmem_##NAME##_wait_until(TYPE *ivar, int cmp, TYPE cmp_value)                        \
    {                                                                                                        \
        WSH_NV_SIDE(WSH_NV_LAUNCHES(shmemx_##NAME##_wait_until_on_stream<N>);                                \
                    shmem_##NAME##_wait_until(ivar, cmp, cmp_value),                                         \
                    WSH_NV_HOST_WAIT(ivar,                                                                   \
                        shmemx_##NAME##_wait_until_on_stream<N>(ivar, cmp, cmp_value, cudaStreamPerThread),  \
                        shmem_##NAME##_wait_until(ivar, cmp, cmp_value)));                                   \
    }                                                                                                        \
    WSH_NV_LATE void nvshmem_##NAME##_wait_until_all(TYPE *ivars, size_t nelems, const int *status, int cmp, \
                                                     TYPE cmp_value)                                         \
    {                                                                                                        \
        WSH_NV_SIDE(WSH_NV_LAUNCHES(shmemx_##NAME##_wait_until_all_on_stream<N>);                            \
                    shmem_##NAME##_wait_until_all(ivars, nelems, status, cmp, cmp_value),                    \
                    WSH_NV_HOST_WAIT(ivars, shmemx_##NAME##_wait_until_all_on_stream<N>(                     \
                        ivars, nelems, status, cmp, cmp_value, cudaStreamPerThread),                         \
                        shmem_##NAME##_wait_until_all(ivars, nelems, status, cmp, cmp_value)));              \
    }                                                                                                        \
    WSH_NV_LATE void nvshmem_##NAME##_wait_until_all_vector(TYPE *ivars, size_t nelems, const int *status,   \
                                                            int cmp, TYPE *cmp_values)                       \
    {                                                                                                        \
        WSH_NV_SIDE(WSH_NV_LAUNCHES(shmemx_##NAME##_wait_until_all_vector_on_stream<N>);                     \
                    shmem_##NAME##_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values),            \
                    WSH_NV_HOST_WAIT(ivars, shmemx_##NAME##_wait_until_all_vector_on_stream<N>(              \
                        ivars, nelems, status, cmp, cmp_values, cudaStreamPerThread),                        \
                        shmem_##NAME##_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values)));      \
    }                                                                                                        \
    WSH_NV_STREAM void nvshmemx_##NAME##_wait_until_on_stream(TYPE *ivar, int cmp, TYPE cmp_value,           \
                                                              cudaStream_t stream)                           \
    {                                                                                                        \
        shmemx_##NAME##_wait_until_on_stream<N>(ivar, cmp, cmp_value, stream);                               \
    }                                                                                                        \
    WSH_NV_STREAM void nvshmemx_##NAME##_wait_until_all_on_stream(                                           \
        TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value, cudaStream_t stream)         \
    {                                                                                                        \
        shmemx_##NAME##_wait_until_all_on_stream<N>(ivars, nelems, status, cmp, cmp_value, stream);          \
    }                                                                                                        \
    WSH_NV_STREAM void nvshmemx_##NAME##_wait_until_all_vector_on_stream(                                    \
        TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE *cmp_values, cudaStream_t stream)       \
    {                                                                                                        \
        shmemx_##NAME##_wait_until_all_vector_on_stream<N>(ivars, nelems, status, cmp, cmp_values, stream);  \
    }

WSH_NV_LATE uint64_t nvshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    WSH_NV_SIDE(WSH_NV_LAUNCHES(shmemx_signal_wait_until_on_stream<N>),
                WSH_NV_HOST_WAIT(sig_addr,
                    shmemx_signal_wait_until_on_stream<N>(sig_addr, cmp, cmp_value, cudaStreamPerThread),
                    shmem_signal_wait_until(sig_addr, cmp, cmp_value)));
    return WSH_NV_SIDE(shmem_signal_wait_until(sig_addr, cmp, cmp_value), shmem_signal_fetch(sig_addr));
}

WSH_NV_STREAM void nvshmemx_signal_wait_until_on_stream(uint64_t *sig_addr, int cmp, uint64_t cmp_value,
                                                        cudaStream_t stream)
{
    shmemx_signal_wait_until_on_stream<N>(sig_addr, cmp, cmp_value, stream);
}

#elif defined WSH_NV_HAS_CUDA

#define WSH_NV_WAIT(NAME, TYPE)                                                                              \
    WSH_NV_EXTERN void nvshmem_##NAME##_wait_until(TYPE *ivar, int cmp, TYPE cmp_value);                     \
    WSH_NV_EXTERN void nvshmem_##NAME##_wait_until_all(TYPE *ivars, size_t nelems, const int *status, int cmp, \
                                                       TYPE cmp_value);                                      \
    WSH_NV_EXTERN void nvshmem_##NAME##_wait_until_all_vector(TYPE *ivars, size_t nelems, const int *status, \
                                                              int cmp, TYPE *cmp_values);                    \
    WSH_NV_EXTERN void nvshmemx_##NAME##_wait_until_on_stream(TYPE *ivar, int cmp, TYPE cmp_value,           \
                                                              cudaStream_t stream);                          \
    WSH_NV_EXTERN void nvshmemx_##NAME##_wait_until_all_on_stream(                                           \
        TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value, cudaStream_t stream);        \
    WSH_NV_EXTERN void nvshmemx_##NAME##_wait_until_all_vector_on_stream(                                    \
        TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE *cmp_values, cudaStream_t stream);

WSH_NV_EXTERN uint64_t nvshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);
WSH_NV_EXTERN void nvshmemx_signal_wait_until_on_stream(uint64_t *sig_addr, int cmp, uint64_t cmp_value,
                                                        cudaStream_t stream);

#else

#define WSH_NV_WAIT(NAME, TYPE)                                                                              \
    WSH_NV_BOTH void nvshmem_##NAME##_wait_until(TYPE *ivar, int cmp, TYPE cmp_value)                        \
    {                                                                                                        \
        shmem_##NAME##_wait_until(ivar, cmp, cmp_value);                                                     \
    }                                                                                                        \
    WSH_NV_BOTH void nvshmem_##NAME##_wait_until_all(TYPE *ivars, size_t nelems, const int *status, int cmp, \
                                                     TYPE cmp_value)                                         \
    {                                                                                                        \
        shmem_##NAME##_wait_until_all(ivars, nelems, status, cmp, cmp_value);                                \
    }                                                                                                        \
    WSH_NV_BOTH void nvshmem_##NAME##_wait_until_all_vector(TYPE *ivars, size_t nelems, const int *status,   \
                                                            int cmp, TYPE *cmp_values)                       \
    {                                                                                                        \
        shmem_##NAME##_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values);                        \
    }

WSH_NV_BOTH uint64_t nvshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    return shmem_signal_wait_until(sig_addr, cmp, cmp_value);
}

#endif

WSH_P2P_HOST_TYPES(WSH_NV_WAIT)
#undef WSH_NV_WAIT
#undef WSH_NV_HOST_WAIT

WSH_NV_BOTH uint64_t nvshmem_signal_fetch(uint64_t *sig_addr)
{
    return shmem_signal_fetch(sig_addr);
}

#define WSH_NV_TEST(NAME, TYPE)                                                                              \
    WSH_NV_BOTH int nvshmem_##NAME##_test(TYPE *ivar, int cmp, TYPE cmp_value)                               \
    {                                                                                                        \
        return shmem_##NAME##_test(ivar, cmp, cmp_value);                                                    \
    }                                                                                                        \
    WSH_NV_SETS(NAME, , TYPE, TYPE cmp_value, cmp_value)                                                     \
    WSH_NV_SETS(NAME, _vector, TYPE, TYPE *cmp_values, cmp_values)

/* Sets of words: LAST is the last parameter, VALUES its name. */
#define WSH_NV_SETS(NAME, END, TYPE, LAST, VALUES)                                                           \
    WSH_NV_BOTH size_t nvshmem_##NAME##_wait_until_any##END(TYPE *ivars, size_t nelems, const int *status,   \
                                                            int cmp, LAST)                                   \
    {                                                                                                        \
        return shmem_##NAME##_wait_until_any##END(ivars, nelems, status, cmp, VALUES);                       \
    }                                                                                                        \
    WSH_NV_BOTH size_t nvshmem_##NAME##_wait_until_some##END(TYPE *ivars, size_t nelems, size_t *indices,    \
                                                             const int *status, int cmp, LAST)               \
    {                                                                                                        \
        return shmem_##NAME##_wait_until_some##END(ivars, nelems, indices, status, cmp, VALUES);             \
    }                                                                                                        \
    WSH_NV_BOTH int nvshmem_##NAME##_test_all##END(TYPE *ivars, size_t nelems, const int *status, int cmp, LAST) \
    {                                                                                                        \
        return shmem_##NAME##_test_all##END(ivars, nelems, status, cmp, VALUES);                             \
    }                                                                                                        \
    WSH_NV_BOTH size_t nvshmem_##NAME##_test_any##END(TYPE *ivars, size_t nelems, const int *status, int cmp, \
                                                      LAST)                                                  \
    {                                                                                                        \
        return shmem_##NAME##_test_any##END(ivars, nelems, status, cmp, VALUES);                             \
    }                                                                                                        \
    WSH_NV_BOTH size_t nvshmem_##NAME##_test_some##END(TYPE *ivars, size_t nelems, size_t *indices,          \
                                                       const int *status, int cmp, LAST)                     \
    {                                                                                                        \
        return shmem_##NAME##_test_some##END(ivars, nelems, indices, status, cmp, VALUES);                   \
    }
WSH_P2P_HOST_TYPES(WSH_NV_TEST)
#undef WSH_NV_SETS
#undef WSH_NV_TEST

#endif
