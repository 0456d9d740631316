/* SPDX-License-Identifier: BSD-3-Clause */
/* The public names of counted puts, counters, lists of puts and the flush in device code. Contracts as in shmemx.h. */
#ifndef WSH_DEVICE_API_COUNTER_CUH
#define WSH_DEVICE_API_COUNTER_CUH

#include "shell.cuh"

#ifdef __CUDA_ARCH__
#include "../core/list.cuh"
#include "../core/order.cuh"
#endif

/* clang-format off */

#define WSH_PUT_COUNTED(QUALIFIER, SUFFIX, SCOPE, ...)                                                       \
    QUALIFIER void shmemx_putmem_counted_nbi##SUFFIX(void *dest, const void *source, size_t nelems,          \
                                                     shmemx_counter_t counter, int pe)                       \
    WSH_BODY(wsh_dev_put_counted_nbi<SCOPE>("shmemx_putmem_counted_nbi" #SUFFIX, dest, source, nelems,       \
                                            counter, pe);)                                                   \
    QUALIFIER void shmemx_ctx_putmem_counted_nbi##SUFFIX(shmem_ctx_t ctx, void *dest, const void *source,    \
                                                         size_t nelems, shmemx_counter_t counter, int pe)    \
    WSH_BODY(wsh_dev_put_counted_nbi<SCOPE>("shmemx_ctx_putmem_counted_nbi" #SUFFIX, dest, source, nelems,   \
                                            counter, wsh_dev_pe("shmemx_ctx_putmem_counted_nbi" #SUFFIX, ctx, pe));) \
    QUALIFIER void shmemx_putmem_list_nbi##SUFFIX(const shmemx_put_t *puts, size_t n)                        \
    WSH_BODY(wsh_dev_list<SCOPE>("shmemx_putmem_list_nbi" #SUFFIX, puts, n);)                                \
    QUALIFIER void shmemx_counter_wait_until##SUFFIX(shmemx_counter_t counter, uint64_t value)               \
    WSH_BODY(wsh_dev_counter_wait_until<SCOPE>("shmemx_counter_wait_until" #SUFFIX, counter, value);)
WSH_EVERY_SCOPE(WSH_PUT_COUNTED, )
#undef WSH_PUT_COUNTED

WSH_BOTH uint64_t shmemx_counter_fetch(shmemx_counter_t counter)
WSH_BODY(return wsh_dev_counter_fetch("shmemx_counter_fetch", counter);)

#define WSH_BATCH(NAME)                                        \
    WSH_BOTH void shmemx_batch_##NAME(void) WSH_BODY()         \
    WSH_BOTH void shmemx_ctx_batch_##NAME(shmem_ctx_t ctx)     \
    WSH_BODY((void)ctx;)
WSH_BATCH(begin)
WSH_BATCH(end)
#undef WSH_BATCH

#define WSH_FLUSH(QUALIFIER, SUFFIX, SCOPE, ...)                  \
    QUALIFIER void shmemx_flush##SUFFIX(void)                     \
    WSH_BODY(wsh_dev_flush<SCOPE>();)                             \
    QUALIFIER void shmemx_ctx_flush##SUFFIX(shmem_ctx_t ctx)      \
    WSH_BODY(if (ctx != SHMEM_CTX_INVALID) wsh_dev_flush<SCOPE>();)
WSH_EVERY_SCOPE(WSH_FLUSH, )
#undef WSH_FLUSH

#endif
