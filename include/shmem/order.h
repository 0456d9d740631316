/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory ordering: section 9.12 of OpenSHMEM 1.6. Read by shmem.h and pshmem.h under their names.
 *
 * These routines concern the operations that this PE has issued on the default context, or on `ctx`,
 * and its plain stores to symmetric memory. For SHMEM_CTX_INVALID nothing is done.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/*
 * Orders, for each PE, earlier puts, atomic and signal operations before later ones: they are
 * delivered there in this order. Does not wait until they are complete. Section 9.12.1.
 */
void WSH_NAME(fence)(void);
void WSH_NAME(ctx_fence)(shmem_ctx_t ctx);

/*
 * Waits until all earlier operations, nonblocking ones included, are complete and visible to all PEs.
 * Section 9.12.2.
 */
void WSH_NAME(quiet)(void);
void WSH_NAME(ctx_quiet)(shmem_ctx_t ctx);

/* quiet for the operations to the PEs target_pes[0 … npes) alone; with npes 0 nothing is done. Section 9.12.3. */
void WSH_NAME(pe_quiet)(const int *target_pes, size_t npes);
void WSH_NAME(ctx_pe_quiet)(shmem_ctx_t ctx, const int *target_pes, size_t npes);

#endif
