/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Section 9.10: collectives. Read by shmem.h and pshmem.h under their names.
 *
 * All members of the team call the same routines in the same order with equal arguments; one thread
 * a PE at a time.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/* clang-format off */
/*
 * Returns once every PE has called it and what they issued on their default contexts is complete.
 * Section 9.10.1.
 */
void WSH_NAME(barrier_all)(void);

/*
 * Return once every PE of the world, or of `team`, has called it. Plain stores made before are
 * visible; operations of the library are not completed (quiet does that). team_sync returns 0.
 * Sections 9.10.3, .4.
 */
void WSH_NAME(sync_all)(void);
int WSH_NAME(team_sync)(shmem_team_t team);

/*
 * Block i (`nelems` elements) of `source` here goes to block number `my PE` of `dest` at PE i of
 * `team`. Both are symmetric, hold nelems x team size elements and do not overlap. On return dest
 * is complete and source may be reused. Returns 0. Section 9.10.5.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    int WSH_NAME(NAME##_alltoall)(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems);
WSH_COLL_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

int WSH_NAME(alltoallmem)(shmem_team_t team, void *dest, const void *source, size_t nelems);

#endif
