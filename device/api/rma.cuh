/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public names of puts and gets in device code (section 9.6): shmem_x by one thread, shmem_x_warp and
 * shmem_x_block by all threads of a warp or block, each with a shmem_ctx_x form. Contracts as in shmem/rma.h.
 */
#ifndef WSH_DEVICE_API_RMA_CUH
#define WSH_DEVICE_API_RMA_CUH

#include "shell.cuh"

#ifdef __CUDA_ARCH__
#include "../core/bulk.cuh"
#include "../core/strided.cuh"
#endif

/* clang-format off */

/*
 * TAG: the routine after shmem_ or shmem_ctx_; DIR: put or get; WAITS: blocking; SIDE: the symmetric argument. Below
 * the shells there are only bytes.
 */
#define WSH_MOVE(QUALIFIER, SUFFIX, SCOPE, TAG, DIR, WAITS, SIDE, TYPE, SIZE)                                \
    QUALIFIER void shmem_##TAG##SUFFIX(TYPE *dest, const TYPE *source, size_t nelems, int pe)                \
    WSH_BODY(wsh_dev_##DIR##_array<SCOPE, WAITS, SIZE>("shmem_" #TAG #SUFFIX ": " SIDE, dest, source,        \
                                                       nelems, pe);)                                         \
    QUALIFIER void shmem_ctx_##TAG##SUFFIX(shmem_ctx_t ctx, TYPE *dest, const TYPE *source, size_t nelems,   \
                                           int pe)                                                           \
    WSH_BODY(wsh_dev_##DIR##_array<SCOPE, WAITS, SIZE>("shmem_ctx_" #TAG #SUFFIX ": " SIDE, dest, source,    \
                                                       nelems, wsh_dev_pe("shmem_ctx_" #TAG #SUFFIX, ctx, pe));)

#define WSH_STRIDED(QUALIFIER, SUFFIX, SCOPE, TAG, DIR, SIDE, TYPE, SIZE)                                    \
    QUALIFIER void shmem_##TAG##SUFFIX(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,         \
                                       size_t nelems, int pe)                                                \
    WSH_BODY(wsh_dev_##DIR<SCOPE, SIZE>("shmem_" #TAG #SUFFIX ": " SIDE, dest, source,                       \
                                        wsh_dev_strides{dst, sst, nelems}, pe);)                             \
    QUALIFIER void shmem_ctx_##TAG##SUFFIX(shmem_ctx_t ctx, TYPE *dest, const TYPE *source, ptrdiff_t dst,   \
                                           ptrdiff_t sst, size_t nelems, int pe)                             \
    WSH_BODY(wsh_dev_##DIR<SCOPE, SIZE>("shmem_ctx_" #TAG #SUFFIX ": " SIDE, dest, source,                   \
                                        wsh_dev_strides{dst, sst, nelems},                                   \
                                        wsh_dev_pe("shmem_ctx_" #TAG #SUFFIX, ctx, pe));)

/* SCOPES: WSH_EVERY_SCOPE or WSH_DEVICE_SCOPE. */
#define WSH_ARRAYS(SCOPES, NAME, TYPE, SIZE)                                        \
    SCOPES(WSH_MOVE, NAME##_put, put, true, "dest", TYPE, SIZE)                     \
    SCOPES(WSH_MOVE, NAME##_put_nbi, put, false, "dest", TYPE, SIZE)                \
    SCOPES(WSH_MOVE, NAME##_get, get, true, "source", TYPE, SIZE)                   \
    SCOPES(WSH_MOVE, NAME##_get_nbi, get, false, "source", TYPE, SIZE)              \
    SCOPES(WSH_STRIDED, NAME##_iput, iput, "dest", TYPE, SIZE)                      \
    SCOPES(WSH_STRIDED, NAME##_iget, iget, "source", TYPE, SIZE)

#define WSH_TYPED(NAME, TYPE) WSH_ARRAYS(WSH_EVERY_SCOPE, NAME, TYPE, sizeof(TYPE))
WSH_DEVICE_TYPES(WSH_TYPED)
#undef WSH_TYPED

#define WSH_HALF(NAME, TYPE) WSH_ARRAYS(WSH_DEVICE_SCOPE, NAME, struct TYPE, 2)
WSH_HALF_TYPES(WSH_HALF)
#undef WSH_HALF
#undef WSH_ARRAYS

#define WSH_SIZED(BITS)                                                             \
    WSH_EVERY_SCOPE(WSH_MOVE, put##BITS, put, true, "dest", void, BITS / 8)         \
    WSH_EVERY_SCOPE(WSH_MOVE, put##BITS##_nbi, put, false, "dest", void, BITS / 8)  \
    WSH_EVERY_SCOPE(WSH_MOVE, get##BITS, get, true, "source", void, BITS / 8)       \
    WSH_EVERY_SCOPE(WSH_MOVE, get##BITS##_nbi, get, false, "source", void, BITS / 8)\
    WSH_EVERY_SCOPE(WSH_STRIDED, iput##BITS, iput, "dest", void, BITS / 8)          \
    WSH_EVERY_SCOPE(WSH_STRIDED, iget##BITS, iget, "source", void, BITS / 8)
WSH_SIZES(WSH_SIZED)
#undef WSH_SIZED

WSH_EVERY_SCOPE(WSH_MOVE, putmem, put, true, "dest", void, 1)
WSH_EVERY_SCOPE(WSH_MOVE, putmem_nbi, put, false, "dest", void, 1)
WSH_EVERY_SCOPE(WSH_MOVE, getmem, get, true, "source", void, 1)
WSH_EVERY_SCOPE(WSH_MOVE, getmem_nbi, get, false, "source", void, 1)
#undef WSH_MOVE
#undef WSH_STRIDED

/* One element: by a thread. */
#define WSH_ONE(NAME, TYPE)                                                                                  \
    WSH_BOTH void shmem_##NAME##_p(TYPE *dest, TYPE value, int pe)                                           \
    WSH_BODY(wsh_dev_p<TYPE>("shmem_" #NAME "_p: dest", dest, value, pe);)                                   \
    WSH_BOTH void shmem_ctx_##NAME##_p(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe)                      \
    WSH_BODY(wsh_dev_p<TYPE>("shmem_ctx_" #NAME "_p: dest", dest, value,                                     \
                             wsh_dev_pe("shmem_ctx_" #NAME "_p", ctx, pe));)                                 \
    WSH_BOTH TYPE shmem_##NAME##_g(const TYPE *source, int pe)                                               \
    WSH_BODY(return wsh_dev_g<TYPE>("shmem_" #NAME "_g: source", source, pe);)                               \
    WSH_BOTH TYPE shmem_ctx_##NAME##_g(shmem_ctx_t ctx, const TYPE *source, int pe)                          \
    WSH_BODY(return wsh_dev_g<TYPE>("shmem_ctx_" #NAME "_g: source", source,                                 \
                                    wsh_dev_pe("shmem_ctx_" #NAME "_g", ctx, pe));)
WSH_DEVICE_TYPES(WSH_ONE)
#undef WSH_ONE

/*
 * Templates, since the types are complete only where the program includes cuda_fp16.h or cuda_bf16.h: HALF is TYPE.
 */
#define WSH_ONE(NAME, TYPE)                                                                                  \
    template <class HALF = struct TYPE>                                                                      \
    WSH_TEMPLATE void shmem_##NAME##_p(struct TYPE *dest, wsh_same<HALF> value, int pe)                      \
    WSH_BODY(wsh_dev_p<HALF>("shmem_" #NAME "_p: dest", dest, value, pe);)                                   \
    template <class HALF = struct TYPE>                                                                      \
    WSH_TEMPLATE void shmem_ctx_##NAME##_p(shmem_ctx_t ctx, struct TYPE *dest, wsh_same<HALF> value, int pe) \
    WSH_BODY(wsh_dev_p<HALF>("shmem_ctx_" #NAME "_p: dest", dest, value,                                     \
                             wsh_dev_pe("shmem_ctx_" #NAME "_p", ctx, pe));)                                 \
    template <class HALF = struct TYPE>                                                                      \
    WSH_TEMPLATE HALF shmem_##NAME##_g(const struct TYPE *source, int pe)                                    \
    WSH_BODY(return wsh_dev_g<HALF>("shmem_" #NAME "_g: source", source, pe);)                               \
    template <class HALF = struct TYPE>                                                                      \
    WSH_TEMPLATE HALF shmem_ctx_##NAME##_g(shmem_ctx_t ctx, const struct TYPE *source, int pe)               \
    WSH_BODY(return wsh_dev_g<HALF>("shmem_ctx_" #NAME "_g: source", source,                                 \
                                    wsh_dev_pe("shmem_ctx_" #NAME "_g", ctx, pe));)
WSH_HALF_TYPES(WSH_ONE)
#undef WSH_ONE

/*
 * Extension: put and get of bytes by the bulk-copy unit. `scratch` is `scratch_len` bytes of shared memory at a
 * multiple of 16, at least 1 KiB and best 48.125 KiB (49280), used until the call returns; of the block form all
 * threads give the same. Complete at the target (put) on return, so a fence or signal after it has nothing to wait
 * for. Falls back to loads and stores where the unit cannot serve.
 */
#define WSH_BULK(QUALIFIER, SUFFIX, SCOPE, DIR, SIDE)                                                        \
    WSH_ONLY void shmemx_##DIR##mem_bulk##SUFFIX(void *dest, const void *source, size_t nelems, int pe,      \
                                                 void *scratch, size_t scratch_len)                          \
    WSH_BODY(wsh_dev_bulk_##DIR<SCOPE>("shmemx_" #DIR "mem_bulk" #SUFFIX ": " SIDE, dest, source, nelems,    \
                                       pe, scratch, scratch_len);)
WSH_DEVICE_SCOPE(WSH_BULK, put, "dest")
WSH_DEVICE_SCOPE(WSH_BULK, get, "source")
#undef WSH_BULK

#endif
