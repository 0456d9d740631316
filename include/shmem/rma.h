/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote memory access: section 9.6 of OpenSHMEM 1.6. Read by shmem.h and pshmem.h under their names.
 *
 * A put copies `source`, an array of this PE, to `dest` at PE `pe`; a get copies `source` at PE `pe`
 * to `dest`, an array of this PE. The array at `pe` is given by its symmetric address; the local one
 * may be any memory. Both hold `nelems` elements and do not overlap. putSIZE and getSIZE move elements
 * of SIZE bits, putmem and getmem bytes. Forms with `ctx` use that context, others the default one.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/* clang-format off */
/*
 * Blocking: put returns when `source` may be reused; the data has arrived at `pe` when the context's
 * next quiet returns. get returns when `dest` holds the data. Sections 9.6.1.1, 9.6.1.5.
 *
 * Nonblocking (_nbi): returns at once; neither array may be touched before the context's next quiet has
 * returned. Section 9.6.2.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    void WSH_NAME(NAME##_put)(TYPE *dest, const TYPE *source, size_t nelems, int pe);              \
    void WSH_NAME(ctx_##NAME##_put)(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,               \
                                    size_t nelems, int pe);                                        \
    void WSH_NAME(NAME##_get)(TYPE *dest, const TYPE *source, size_t nelems, int pe);              \
    void WSH_NAME(ctx_##NAME##_get)(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,               \
                                    size_t nelems, int pe);                                        \
    void WSH_NAME(NAME##_put_nbi)(TYPE *dest, const TYPE *source, size_t nelems, int pe);          \
    void WSH_NAME(ctx_##NAME##_put_nbi)(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,           \
                                        size_t nelems, int pe);                                    \
    void WSH_NAME(NAME##_get_nbi)(TYPE *dest, const TYPE *source, size_t nelems, int pe);          \
    void WSH_NAME(ctx_##NAME##_get_nbi)(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,           \
                                        size_t nelems, int pe);
WSH_RMA_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

#define WSH_DECLARE(SIZE)                                                                          \
    void WSH_NAME(put##SIZE)(void *dest, const void *source, size_t nelems, int pe);               \
    void WSH_NAME(ctx_put##SIZE)(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,   \
                                 int pe);                                                          \
    void WSH_NAME(get##SIZE)(void *dest, const void *source, size_t nelems, int pe);               \
    void WSH_NAME(ctx_get##SIZE)(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,   \
                                 int pe);                                                          \
    void WSH_NAME(put##SIZE##_nbi)(void *dest, const void *source, size_t nelems, int pe);         \
    void WSH_NAME(ctx_put##SIZE##_nbi)(shmem_ctx_t ctx, void *dest, const void *source,            \
                                       size_t nelems, int pe);                                     \
    void WSH_NAME(get##SIZE##_nbi)(void *dest, const void *source, size_t nelems, int pe);         \
    void WSH_NAME(ctx_get##SIZE##_nbi)(shmem_ctx_t ctx, void *dest, const void *source,            \
                                       size_t nelems, int pe);
WSH_SIZES(WSH_DECLARE)
#undef WSH_DECLARE

void WSH_NAME(putmem)(void *dest, const void *source, size_t nelems, int pe);
void WSH_NAME(ctx_putmem)(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void WSH_NAME(getmem)(void *dest, const void *source, size_t nelems, int pe);
void WSH_NAME(ctx_getmem)(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void WSH_NAME(putmem_nbi)(void *dest, const void *source, size_t nelems, int pe);
void WSH_NAME(ctx_putmem_nbi)(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
                              int pe);
void WSH_NAME(getmem_nbi)(void *dest, const void *source, size_t nelems, int pe);
void WSH_NAME(ctx_getmem_nbi)(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems,
                              int pe);

/*
 * One element: p puts `value` to the element at `dest` of `pe`; g returns the element at `source` of
 * `pe`. Both as blocking put and get. Sections 9.6.1.2, 9.6.1.6.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    void WSH_NAME(NAME##_p)(TYPE *dest, TYPE value, int pe);                                       \
    void WSH_NAME(ctx_##NAME##_p)(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe);                \
    TYPE WSH_NAME(NAME##_g)(const TYPE *source, int pe);                                           \
    TYPE WSH_NAME(ctx_##NAME##_g)(shmem_ctx_t ctx, const TYPE *source, int pe);
WSH_RMA_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * Strided, blocking as put and get: element i, for i < nelems, is copied from source[i * sst] to
 * dest[i * dst]. The strides `sst` and `dst` count elements and are at least 1. Sections 9.6.1.3,
 * 9.6.1.7.
 *
 * Strided blocks (ib…): element j of block i, for j < bsize and i < nblocks, is copied from source[i *
 * sst + j] to dest[i * dst + j]. The strides count elements and are at least bsize. Sections 9.6.1.4,
 * 9.6.1.8.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    void WSH_NAME(NAME##_iput)(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,       \
                               size_t nelems, int pe);                                             \
    void WSH_NAME(ctx_##NAME##_iput)(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,              \
                                     ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);         \
    void WSH_NAME(NAME##_iget)(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,       \
                               size_t nelems, int pe);                                             \
    void WSH_NAME(ctx_##NAME##_iget)(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,              \
                                     ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);         \
    void WSH_NAME(NAME##_ibput)(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,      \
                                size_t bsize, size_t nblocks, int pe);                             \
    void WSH_NAME(ctx_##NAME##_ibput)(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,             \
                                      ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,  \
                                      int pe);                                                     \
    void WSH_NAME(NAME##_ibget)(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,      \
                                size_t bsize, size_t nblocks, int pe);                             \
    void WSH_NAME(ctx_##NAME##_ibget)(shmem_ctx_t ctx, TYPE *dest, const TYPE *source,             \
                                      ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,  \
                                      int pe);
WSH_RMA_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

#define WSH_DECLARE(SIZE)                                                                          \
    void WSH_NAME(iput##SIZE)(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,        \
                              size_t nelems, int pe);                                              \
    void WSH_NAME(ctx_iput##SIZE)(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst,  \
                                  ptrdiff_t sst, size_t nelems, int pe);                           \
    void WSH_NAME(iget##SIZE)(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,        \
                              size_t nelems, int pe);                                              \
    void WSH_NAME(ctx_iget##SIZE)(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst,  \
                                  ptrdiff_t sst, size_t nelems, int pe);                           \
    void WSH_NAME(ibput##SIZE)(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,       \
                               size_t bsize, size_t nblocks, int pe);                              \
    void WSH_NAME(ctx_ibput##SIZE)(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, \
                                   ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);           \
    void WSH_NAME(ibget##SIZE)(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,       \
                               size_t bsize, size_t nblocks, int pe);                              \
    void WSH_NAME(ctx_ibget##SIZE)(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, \
                                   ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
WSH_SIZES(WSH_DECLARE)
#undef WSH_DECLARE

#endif
