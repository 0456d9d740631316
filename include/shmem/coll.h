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
 * `source` at PE `PE_root` of `team` goes to `dest` of every PE of it, the root included; both are
 * symmetric. Returns 0. Section 9.10.7.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    int WSH_NAME(NAME##_broadcast)(shmem_team_t team, TYPE *dest, const TYPE *source,              \
                                   size_t nelems, int PE_root);
WSH_COLL_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

int WSH_NAME(broadcastmem)(shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root);

/*
 * The `source` arrays of all PEs of `team`, in the order of their numbers, become `dest` at every
 * one; fcollect: `nelems` is the same everywhere; collect: it need not be. Both arrays are
 * symmetric. Return 0. Section 9.10.8.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                      \
    int WSH_NAME(NAME##_collect)(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems);  \
    int WSH_NAME(NAME##_fcollect)(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems);
WSH_COLL_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

int WSH_NAME(collectmem)(shmem_team_t team, void *dest, const void *source, size_t nelems);
int WSH_NAME(fcollectmem)(shmem_team_t team, void *dest, const void *source, size_t nelems);

/*
 * Block i (`nelems` elements) of `source` here goes to block number `my PE` of `dest` at PE i of
 * `team`. Both are symmetric, hold nelems x team size elements and do not overlap. On return dest
 * is complete and source may be reused. Returns 0. alltoalls: elements lie `dst` (in dest) and
 * `sst` (in source) elements apart, at least 1. Sections 9.10.5, .6.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                      \
    int WSH_NAME(NAME##_alltoall)(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems); \
    int WSH_NAME(NAME##_alltoalls)(shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst, \
                                   ptrdiff_t sst, size_t nelems);
WSH_COLL_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

int WSH_NAME(alltoallmem)(shmem_team_t team, void *dest, const void *source, size_t nelems);
int WSH_NAME(alltoallsmem)(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
                           size_t nelems);

/*
 * Element j of `dest` at every PE of `team` is that of all `source` arrays, combined; the same bits
 * everywhere. Both are symmetric host memory, and the same array or without overlap. Return 0.
 * Section 9.10.9.
 */
#define WSH_DECLARE(NAME, TYPE, OP) \
    int WSH_NAME(NAME##OP##_reduce)(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce);
#define WSH_DECLARE_BITWISE(NAME, TYPE) \
    WSH_DECLARE(NAME, TYPE, _and) WSH_DECLARE(NAME, TYPE, _or) WSH_DECLARE(NAME, TYPE, _xor)
#define WSH_DECLARE_ORDERED(NAME, TYPE) \
    WSH_DECLARE(NAME, TYPE, _max) WSH_DECLARE(NAME, TYPE, _min)
#define WSH_DECLARE_ARITHMETIC(NAME, TYPE) \
    WSH_DECLARE(NAME, TYPE, _sum) WSH_DECLARE(NAME, TYPE, _prod)
WSH_REDUCE_BITWISE_TYPES(WSH_DECLARE_BITWISE)
WSH_REDUCE_ORDERED_TYPES(WSH_DECLARE_ORDERED)
WSH_REDUCE_ARITHMETIC_TYPES(WSH_DECLARE_ARITHMETIC)
#undef WSH_DECLARE

/*
 * Element j of `dest` at PE i of `team` is the sum of those of `source` at PEs 0 to i; exscan: to
 * i - 1, and 0 at PE 0. As the reductions else. Section 9.10.10.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                        \
    int WSH_NAME(NAME##_sum_inscan)(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems); \
    int WSH_NAME(NAME##_sum_exscan)(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems);
WSH_REDUCE_ARITHMETIC_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * Deprecated since 1.5: the same over the PEs PE_start, PE_start + 2^logPE_stride … (PE_size of
 * them). `pSync` is symmetric, holds at least SHMEM_SYNC_SIZE elements SHMEM_SYNC_VALUE, and does
 * so again on return; `pWrk` is not used. broadcast leaves the root's dest as it is; PE_root counts
 * within the set. barrier also completes what the PEs issued on their default contexts.
 */
void WSH_NAME(barrier)(int PE_start, int logPE_stride, int PE_size, long *pSync);
void WSH_NAME(sync)(int PE_start, int logPE_stride, int PE_size, long *pSync);

#define WSH_DECLARE(SIZE)                                                                          \
    void WSH_NAME(broadcast##SIZE)(void *dest, const void *source, size_t nelems, int PE_root,     \
                                   int PE_start, int logPE_stride, int PE_size, long *pSync);      \
    void WSH_NAME(collect##SIZE)(void *dest, const void *source, size_t nelems, int PE_start,      \
                                 int logPE_stride, int PE_size, long *pSync);                      \
    void WSH_NAME(fcollect##SIZE)(void *dest, const void *source, size_t nelems, int PE_start,     \
                                  int logPE_stride, int PE_size, long *pSync);                     \
    void WSH_NAME(alltoall##SIZE)(void *dest, const void *source, size_t nelems, int PE_start,     \
                                  int logPE_stride, int PE_size, long *pSync);                     \
    void WSH_NAME(alltoalls##SIZE)(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,   \
                                   size_t nelems, int PE_start, int logPE_stride, int PE_size,     \
                                   long *pSync);
WSH_ACTIVE_SIZES(WSH_DECLARE)
#undef WSH_DECLARE

#define WSH_DECLARE(NAME, TYPE, OP)                                                                  \
    void WSH_NAME(NAME##OP##_to_all)(TYPE *dest, const TYPE *source, int nreduce, int PE_start,     \
                                        int logPE_stride, int PE_size, TYPE *pWrk, long *pSync);
WSH_TO_ALL_BITWISE_TYPES(WSH_DECLARE_BITWISE)
WSH_TO_ALL_ORDERED_TYPES(WSH_DECLARE_ORDERED)
WSH_TO_ALL_ARITHMETIC_TYPES(WSH_DECLARE_ARITHMETIC)
#undef WSH_DECLARE
#undef WSH_DECLARE_BITWISE
#undef WSH_DECLARE_ORDERED
#undef WSH_DECLARE_ARITHMETIC

#endif
