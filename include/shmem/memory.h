/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Section 9.3: the symmetric heap. Read by shmem.h and pshmem.h under their names.
 *
 * All routines are collective over all PEs with equal arguments. Those that give memory end in a
 * barrier and return the address on every PE, or NULL on every PE when any PE lacks the memory (one
 * line says size and cure: SHMEM_SYMMETRIC_SIZE). A size of 0 gives NULL without a barrier. Memory
 * is aligned for any type.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/* `size` bytes, not initialized. */
void *WSH_NAME(malloc)(size_t size);

/* `count` objects of `size` bytes each, zeroed. NULL also when the product overflows. */
void *WSH_NAME(calloc)(size_t count, size_t size);

/* `size` bytes at a multiple of `alignment`: a power of two, of which those below sizeof(void *) count as that. */
void *WSH_NAME(align)(size_t alignment, size_t size);

/* malloc that may use `hints` (0 or bits SHMEM_MALLOC_*, others are ignored) to place the block. */
void *WSH_NAME(malloc_with_hints)(size_t size, long hints);

/*
 * Resizes the block at `ptr`, which may move; contents are kept up to the smaller size; alignment
 * beyond malloc's is not. NULL `ptr`: malloc; `size` 0: free, returns NULL. On failure the block is
 * unchanged and NULL returned.
 */
void *WSH_NAME(realloc)(void *ptr, size_t size);

/*
 * Frees the block at `ptr` after a barrier; NULL: nothing. Contexts other than the default one must
 * be quiet for it. An address that no allocation returned ends the job with one line.
 */
void WSH_NAME(free)(void *ptr);

/* Deprecated since 1.2: malloc, free, realloc and align under their first names. */
void *WSH_OLD_NAME(shmalloc)(size_t size);
void WSH_OLD_NAME(shfree)(void *ptr);
void *WSH_OLD_NAME(shrealloc)(void *ptr, size_t size);
void *WSH_OLD_NAME(shmemalign)(size_t alignment, size_t size);

#endif
