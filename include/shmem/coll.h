/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives: section 9.10 of OpenSHMEM 1.6. Read by shmem.h and pshmem.h under their names.
 *
 * All PEs of the team call the same collectives in the same order with equal arguments (SHMEM_DEBUG=check
 * verifies this), one thread of a PE at a time. `dest` and `source` are symmetric arrays; lengths count elements of
 * the routine's type, and bytes for the forms that end in mem. PE numbers are those of the team. Before a PE calls,
 * `dest` at every PE is ready to be written. A call that returns an int returns 0. An argument that is wrong (a team
 * that is SHMEM_TEAM_INVALID, an array that is not symmetric, no such root) ends the job with one line.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/* clang-format off */
/*
 * A barrier of all PEs: returns once every PE has called it, and all operations that they issued before on their
 * default contexts are complete and visible at their targets. Section 9.10.1.
 */
void WSH_NAME(barrier_all)(void);

/*
 * Synchronize all PEs (sync_all) or those of `team` (team_sync, which returns 0): return once every one has called.
 * Plain stores that the PEs made before are visible then; operations of the library are not completed, which quiet
 * does. Sections 9.10.3, .4.
 */
void WSH_NAME(sync_all)(void);
int WSH_NAME(team_sync)(shmem_team_t team);

/*
 * Broadcasts `nelems` elements: copies `source` of PE `PE_root` of `team` (0 to its number of PEs - 1) to `dest` of
 * every PE of the team, the root included. On return this PE's `dest` is complete and its `source` may be reused.
 * Section 9.10.7.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                    \
    int WSH_NAME(NAME##_broadcast)(shmem_team_t team, TYPE *dest, const TYPE *source,              \
                                   size_t nelems, int PE_root);
WSH_COLL_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

int WSH_NAME(broadcastmem)(shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root);

/*
 * Concatenate the `source` arrays of all PEs of `team`, in the order of their numbers, in `dest` of every PE. `source`
 * has `nelems` elements, `dest` as many as all of them together. fcollect: `nelems` is the same on all PEs; collect:
 * each PE has its own, which may be 0. Section 9.10.8.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                      \
    int WSH_NAME(NAME##_collect)(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems);  \
    int WSH_NAME(NAME##_fcollect)(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems);
WSH_COLL_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

int WSH_NAME(collectmem)(shmem_team_t team, void *dest, const void *source, size_t nelems);
int WSH_NAME(fcollectmem)(shmem_team_t team, void *dest, const void *source, size_t nelems);

/*
 * Exchange a block of `nelems` elements with every PE of `team`: block i of `source` goes to PE i, and becomes there
 * the block of `dest` whose number is this PE's in the team. Both arrays hold as many blocks as the team has PEs, and
 * do not overlap. On return `dest` is complete and `source` may be reused. alltoalls: consecutive elements lie `dst`
 * elements apart in `dest` and `sst` in `source`; both strides are at least 1. Sections 9.10.5, .6.
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
 * Reduce `nreduce` elements over `team`: element j of `dest` at every PE is the combination of element j of all PEs'
 * `source` arrays, by and, or, xor (bit by bit), max, min, sum or prod; all PEs get the same bits. Both arrays are
 * host memory, and either the same array or without overlap. Section 9.10.9.
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
 * Scan `nelems` elements over `team` (prefix sums): element j of `dest` at PE i is the sum of element j of `source` at
 * PEs 0 to i (inscan), or 0 to i - 1 and 0 at PE 0 (exscan). The arrays are as for the reductions. Section 9.10.10.
 */
#define WSH_DECLARE(NAME, TYPE)                                                                        \
    int WSH_NAME(NAME##_sum_inscan)(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems); \
    int WSH_NAME(NAME##_sum_exscan)(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems);
WSH_REDUCE_ARITHMETIC_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * Deprecated since 1.5: the same collectives over an active set, the PE_size PEs PE_start + i * 2^logPE_stride. `pSync`
 * is a symmetric array of at least SHMEM_SYNC_SIZE elements that are SHMEM_SYNC_VALUE before the call and again on
 * return; `pWrk` is not used. broadcast does not write the root's `dest`; PE_root counts
 * within the set. Elements have 32 or 64 bits by the routine's name. barrier also completes the operations that the
 * PEs issued on their default contexts. Sections 9.10.2 to .9.
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
