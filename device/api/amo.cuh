/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public names of atomic operations in device code (section 9.7), all by one thread. Contracts as in shmem/amo.h.
 * Fetching operations have their result when they return, nonblocking or not.
 */
#ifndef WSH_DEVICE_API_AMO_CUH
#define WSH_DEVICE_API_AMO_CUH

#include "shell.cuh"

#ifdef __CUDA_ARCH__
#include "../core/amo.cuh"
#endif

/* clang-format off */

/*
 * An operation OP with parameters PARAMS and arguments ARGS to the core, the address ADDR first, `pe` last.
 * WSH_SILENT returns nothing; WSH_FETCHING the old value, and has a nonblocking form that stores it.
 */
#define WSH_SILENT(NAME, TYPE, OP, CORE, PARAMS, ARGS)                                                       \
    WSH_BOTH void shmem_##NAME##_atomic_##OP(PARAMS, int pe)                                                 \
    WSH_BODY(wsh_dev_atomic_##CORE<TYPE>("shmem_" #NAME "_atomic_" #OP ": dest", ARGS, pe);)                 \
    WSH_BOTH void shmem_ctx_##NAME##_atomic_##OP(shmem_ctx_t ctx, PARAMS, int pe)                            \
    WSH_BODY(wsh_dev_atomic_##CORE<TYPE>("shmem_ctx_" #NAME "_atomic_" #OP ": dest", ARGS,                   \
                                         wsh_dev_pe("shmem_ctx_" #NAME "_atomic_" #OP, ctx, pe));)

#define WSH_FETCHING(NAME, TYPE, OP, CORE, SIDE, PARAMS, ARGS)                                               \
    WSH_BOTH TYPE shmem_##NAME##_atomic_##OP(PARAMS, int pe)                                                 \
    WSH_BODY(return wsh_dev_atomic_##CORE<TYPE>("shmem_" #NAME "_atomic_" #OP ": " SIDE, ARGS, pe);)         \
    WSH_BOTH TYPE shmem_ctx_##NAME##_atomic_##OP(shmem_ctx_t ctx, PARAMS, int pe)                            \
    WSH_BODY(return wsh_dev_atomic_##CORE<TYPE>("shmem_ctx_" #NAME "_atomic_" #OP ": " SIDE, ARGS,           \
                                                wsh_dev_pe("shmem_ctx_" #NAME "_atomic_" #OP, ctx, pe));)    \
    WSH_BOTH void shmem_##NAME##_atomic_##OP##_nbi(TYPE *fetch, PARAMS, int pe)                              \
    WSH_BODY(*fetch = wsh_dev_atomic_##CORE<TYPE>("shmem_" #NAME "_atomic_" #OP "_nbi: " SIDE, ARGS, pe);)   \
    WSH_BOTH void shmem_ctx_##NAME##_atomic_##OP##_nbi(shmem_ctx_t ctx, TYPE *fetch, PARAMS, int pe)         \
    WSH_BODY(*fetch = wsh_dev_atomic_##CORE<TYPE>(                                                           \
                 "shmem_ctx_" #NAME "_atomic_" #OP "_nbi: " SIDE, ARGS,                                      \
                 wsh_dev_pe("shmem_ctx_" #NAME "_atomic_" #OP "_nbi", ctx, pe));)

/* PARAMS: several pass as one argument of a macro. */
#define WSH_LIST(...) __VA_ARGS__

#define WSH_EXTENDED(NAME, TYPE)                                                                             \
    WSH_FETCHING(NAME, TYPE, fetch, fetch, "source", const TYPE *source, source)                             \
    WSH_FETCHING(NAME, TYPE, swap, swap, "dest", WSH_LIST(TYPE *dest, TYPE value), WSH_LIST(dest, value))    \
    WSH_SILENT(NAME, TYPE, set, set, WSH_LIST(TYPE *dest, TYPE value), WSH_LIST(dest, value))
WSH_AMO_EXTENDED_TYPES(WSH_EXTENDED)
#undef WSH_EXTENDED

#define WSH_STANDARD(NAME, TYPE)                                                                             \
    WSH_FETCHING(NAME, TYPE, compare_swap, compare_swap, "dest",                                             \
                 WSH_LIST(TYPE *dest, TYPE cond, TYPE value), WSH_LIST(dest, cond, value))                   \
    WSH_FETCHING(NAME, TYPE, fetch_add, fetch_add, "dest", WSH_LIST(TYPE *dest, TYPE value),                 \
                 WSH_LIST(dest, value))                                                                      \
    WSH_FETCHING(NAME, TYPE, fetch_inc, fetch_add, "dest", TYPE *dest, WSH_LIST(dest, (TYPE)1))              \
    WSH_SILENT(NAME, TYPE, add, add, WSH_LIST(TYPE *dest, TYPE value), WSH_LIST(dest, value))                \
    WSH_SILENT(NAME, TYPE, inc, add, TYPE *dest, WSH_LIST(dest, (TYPE)1))
WSH_AMO_TYPES(WSH_STANDARD)
#undef WSH_STANDARD

#define WSH_BITWISE(NAME, TYPE)                                                                              \
    WSH_FETCHING(NAME, TYPE, fetch_and, fetch_and, "dest", WSH_LIST(TYPE *dest, TYPE value),                 \
                 WSH_LIST(dest, value))                                                                      \
    WSH_FETCHING(NAME, TYPE, fetch_or, fetch_or, "dest", WSH_LIST(TYPE *dest, TYPE value),                   \
                 WSH_LIST(dest, value))                                                                      \
    WSH_FETCHING(NAME, TYPE, fetch_xor, fetch_xor, "dest", WSH_LIST(TYPE *dest, TYPE value),                 \
                 WSH_LIST(dest, value))                                                                      \
    WSH_SILENT(NAME, TYPE, and, and, WSH_LIST(TYPE *dest, TYPE value), WSH_LIST(dest, value))                \
    WSH_SILENT(NAME, TYPE, or, or, WSH_LIST(TYPE *dest, TYPE value), WSH_LIST(dest, value))                  \
    WSH_SILENT(NAME, TYPE, xor, xor, WSH_LIST(TYPE *dest, TYPE value), WSH_LIST(dest, value))
WSH_AMO_BITWISE_TYPES(WSH_BITWISE)
#undef WSH_BITWISE

/* Extension: sums of reals, by the GPU's own atomics where it reaches the word; in kernels alone. */
#define WSH_REAL(NAME, TYPE)                                                                                 \
    WSH_ONLY void shmemx_##NAME##_atomic_add(TYPE *dest, TYPE value, int pe)                                 \
    WSH_BODY(wsh_dev_real_add<TYPE>("shmemx_" #NAME "_atomic_add: dest", dest, value, pe);)                  \
    WSH_ONLY TYPE shmemx_##NAME##_atomic_fetch_add(TYPE *dest, TYPE value, int pe)                           \
    WSH_BODY(return wsh_dev_real_fetch_add<TYPE>("shmemx_" #NAME "_atomic_fetch_add: dest", dest, value, pe);)
WSH_REAL(float, float)
WSH_REAL(double, double)
#undef WSH_REAL

#undef WSH_LIST
#undef WSH_FETCHING
#undef WSH_SILENT

#endif
