/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The symmetric heap: section 9.3 of OpenSHMEM 1.6. Read by shmem.h and pshmem.h under their names.
 *
 * All PEs call these routines together with equal arguments (SHMEM_DEBUG=check verifies this). Sizes are in bytes.
 * A routine that allocates ends in a barrier and returns this PE's address of the symmetric block, aligned for any
 * type. Where any PE lacks the memory it returns NULL on every PE, after one line with the size and the cure
 * (SHMEM_SYMMETRIC_SIZE). A size of 0 gives NULL without a barrier, and so does a world of which a PE has failed
 * (SHMEM_ON_PE_FAILURE=continue).
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/* Allocates `size` bytes, not initialized. Section 9.3.1. */
void *WSH_NAME(malloc)(size_t size);

/*
 * Allocates `count` objects of `size` bytes each, zeroed. Returns NULL also where the product overflows. Section 9.3.6.
 */
void *WSH_NAME(calloc)(size_t count, size_t size);

/*
 * Allocates `size` bytes at a multiple of `alignment`, a power of two; one below sizeof(void *) counts as that. For
 * another value it returns NULL without a barrier, with SHMEM_DEBUG=check after a line. Section 9.3.4.
 */
void *WSH_NAME(align)(size_t alignment, size_t size);

/*
 * Allocates as malloc does, and may use `hints` (0 or bits SHMEM_MALLOC_*) to place the block; hints with unknown bits
 * are ignored. Section 9.3.5.
 */
void *WSH_NAME(malloc_with_hints)(size_t size, long hints);

/*
 * Resizes the block at `ptr` to `size` bytes and returns its address; the block may move. The contents are kept up to
 * the smaller size, an alignment beyond malloc's is not. With `ptr` NULL it is malloc; with `size` 0 it is free and
 * returns NULL. Where the memory is lacking, the block is unchanged and NULL is returned. Section 9.3.3.
 */
void *WSH_NAME(realloc)(void *ptr, size_t size);

/*
 * Frees the block at `ptr`, an address that an allocation returned, after a barrier; does nothing for NULL. No
 * operation on the block may be pending on contexts other than the default one. Another address ends the job with one
 * line. Section 9.3.2.
 */
void WSH_NAME(free)(void *ptr);

/* Deprecated since 1.2: malloc, free, realloc and align under their first names. Sections 9.3.1 to .4. */
void *WSH_OLD_NAME(shmalloc)(size_t size);
void WSH_OLD_NAME(shfree)(void *ptr);
void *WSH_OLD_NAME(shrealloc)(void *ptr, size_t size);
void *WSH_OLD_NAME(shmemalign)(size_t alignment, size_t size);

#endif
