/* SPDX-License-Identifier: BSD-3-Clause */
/* The public names of signal operations in device code (section 9.8). Contracts as in shmem/signal.h. */
#ifndef WSH_DEVICE_API_SIGNAL_CUH
#define WSH_DEVICE_API_SIGNAL_CUH

#include "shell.cuh"

#ifdef __CUDA_ARCH__
#include "../core/signal.cuh"
#include "../core/wait.cuh"
#endif

/* clang-format off */

/* TAG: the routine after shmem_ or shmem_ctx_; WAITS: it is blocking. */
#define WSH_PUT_SIGNAL(QUALIFIER, SUFFIX, SCOPE, TAG, WAITS, TYPE, SIZE)                                     \
    QUALIFIER void shmem_##TAG##SUFFIX(TYPE *dest, const TYPE *source, size_t nelems, uint64_t *sig_addr,    \
                                       uint64_t signal, int sig_op, int pe)                                  \
    WSH_BODY(wsh_dev_put_signal<SCOPE, WAITS>("shmem_" #TAG #SUFFIX, dest, source, nelems * (SIZE), sig_addr, \
                                       signal, sig_op, pe);)                                                 \
    QUALIFIER void shmem_ctx_##TAG##SUFFIX(shmem_ctx_t ctx, TYPE *dest, const TYPE *source, size_t nelems,   \
                                           uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)          \
    WSH_BODY(wsh_dev_put_signal<SCOPE, WAITS>("shmem_ctx_" #TAG #SUFFIX, dest, source, nelems * (SIZE), sig_addr, \
                                       signal, sig_op,                                                       \
                                       wsh_dev_pe("shmem_ctx_" #TAG #SUFFIX, ctx, pe));)

#define WSH_TYPED(NAME, TYPE)                                                       \
    WSH_EVERY_SCOPE(WSH_PUT_SIGNAL, NAME##_put_signal, true, TYPE, sizeof(TYPE))    \
    WSH_EVERY_SCOPE(WSH_PUT_SIGNAL, NAME##_put_signal_nbi, false, TYPE, sizeof(TYPE))
WSH_DEVICE_TYPES(WSH_TYPED)
#undef WSH_TYPED

#define WSH_HALF(NAME, TYPE)                                                        \
    WSH_DEVICE_SCOPE(WSH_PUT_SIGNAL, NAME##_put_signal, true, struct TYPE, 2)       \
    WSH_DEVICE_SCOPE(WSH_PUT_SIGNAL, NAME##_put_signal_nbi, false, struct TYPE, 2)
WSH_HALF_TYPES(WSH_HALF)
#undef WSH_HALF

#define WSH_SIZED(BITS)                                                             \
    WSH_EVERY_SCOPE(WSH_PUT_SIGNAL, put##BITS##_signal, true, void, BITS / 8)       \
    WSH_EVERY_SCOPE(WSH_PUT_SIGNAL, put##BITS##_signal_nbi, false, void, BITS / 8)
WSH_SIZES(WSH_SIZED)
#undef WSH_SIZED

WSH_EVERY_SCOPE(WSH_PUT_SIGNAL, putmem_signal, true, void, 1)
WSH_EVERY_SCOPE(WSH_PUT_SIGNAL, putmem_signal_nbi, false, void, 1)
#undef WSH_PUT_SIGNAL

/* shmem_signal_set and shmem_signal_add, by a thread; shmemx_signal_op takes the operation as an argument. */
#define WSH_SIGNAL(NAME, OP)                                                                                 \
    WSH_BOTH void shmem_##NAME(uint64_t *sig_addr, uint64_t signal, int pe)                                  \
    WSH_BODY(wsh_dev_signal_send("shmem_" #NAME ": sig_addr", wsh_dev_signal{sig_addr, signal, OP}, pe);)    \
    WSH_BOTH void shmem_ctx_##NAME(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)             \
    WSH_BODY(wsh_dev_signal_send("shmem_ctx_" #NAME ": sig_addr", wsh_dev_signal{sig_addr, signal, OP},      \
                                 wsh_dev_pe("shmem_ctx_" #NAME, ctx, pe));)
WSH_SIGNAL(signal_set, SHMEM_SIGNAL_SET)
WSH_SIGNAL(signal_add, SHMEM_SIGNAL_ADD)
#undef WSH_SIGNAL

WSH_ONLY void shmemx_signal_op(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
WSH_BODY(wsh_dev_signal_send("shmemx_signal_op: sig_addr", wsh_dev_signal{sig_addr, signal, sig_op}, pe);)

WSH_BOTH uint64_t shmem_signal_fetch(const uint64_t *sig_addr)
WSH_BODY(return wsh_dev_signal_fetch("shmem_signal_fetch: sig_addr", sig_addr);)

/* Every thread of the scope returns a value that satisfied. */
#define WSH_SIGNAL_WAIT(QUALIFIER, SUFFIX, SCOPE, ...)                                                       \
    QUALIFIER uint64_t shmem_signal_wait_until##SUFFIX(uint64_t *sig_addr, int cmp, uint64_t cmp_value)      \
    WSH_BODY(return wsh_dev_signal_wait_until<SCOPE>("shmem_signal_wait_until" #SUFFIX ": sig_addr",         \
                                                     sig_addr, cmp, cmp_value);)
WSH_EVERY_SCOPE(WSH_SIGNAL_WAIT, )
#undef WSH_SIGNAL_WAIT

#endif
