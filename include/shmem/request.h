/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives and alltoallv, beyond the specification. Read by shmemx.h.
 *
 * A nonblocking collective returns once it is begun, with a request that is waited for or tested. All PEs of a team
 * begin the same ones in the same order, blocking collectives of that team included, one thread of a PE at a time;
 * they may complete in any order. Until a request is complete its arrays, and those of counts and offsets, belong to
 * the library. Any number may be begun; a team runs 8 at a time. Requests advance in calls that wait or test, in quiet,
 * and in loops that poll a word by get, g or a fetching atomic, of any thread, and in the progress threads where there
 * are any (SHMEM_PROGRESS). One of no elements, but a collect, is complete at once: its request is SHMEMX_REQ_INVALID.
 *
 * Where one has failed all later ones of its team fail at that PE too, without waiting for others.
 *
 * A request belongs to the PE that began it, and is used by one thread at a time. A team with a request that has not
 * been waited for must not be destroyed, nor the library finalized: that ends the job with a line.
 */
#ifndef WSH_SHMEM_REQUEST_H
#define WSH_SHMEM_REQUEST_H

#include <shmem.h>

#ifndef __CUDACC_RTC__

/* A nonblocking collective in progress. */
typedef struct wsh_req *shmemx_req_h;
#define SHMEMX_REQ_INVALID ((shmemx_req_h)0)

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/*
 * Wait for, or test, a request. Local. wait returns once it is complete; test does not wait. A request that is complete
 * is freed, and *request becomes SHMEMX_REQ_INVALID; SHMEMX_REQ_INVALID counts as complete.
 *
 * wait returns 0, or nonzero where the collective has failed at this PE. test returns 0 where it is complete, a
 * positive number where it is not yet, and a negative one where it has failed, after which it is freed too.
 */
int shmemx_req_wait(shmemx_req_h *request);
int shmemx_req_test(shmemx_req_h *request);

/*
 * Wait for all of `n` requests, or test whether any is complete. Local. wait_all returns 0, or nonzero where one of
 * them has failed; all are freed. test_any looks for one that is complete, frees it and sets *index; it returns 0, a
 * positive number where none is complete yet, or a negative one where the one at *index has failed. Requests that are
 * SHMEMX_REQ_INVALID are passed over; where all are, test_any returns 0 and *index is SIZE_MAX.
 */
int shmemx_req_wait_all(shmemx_req_h *requests, size_t n);
int shmemx_req_test_any(shmemx_req_h *requests, size_t n, size_t *index);

/*
 * Begin a sync of `team`: the request is complete at a PE once every one has begun it. Plain stores that the PEs made
 * before are visible then; operations of the library are not completed. Collective over the team; returns 0, or nonzero
 * after a line, with SHMEMX_REQ_INVALID.
 */
int shmemx_sync_nb(shmem_team_t team, shmemx_req_h *request);

/*
 * Begin a broadcast as shmem_broadcastmem and shmem_TYPENAME_broadcast make. Collective over the team. The request is
 * complete once this PE's `dest` is there and its `source` may be reused. Returns 0, or nonzero after a line.
 */
int shmemx_broadcastmem_nb(shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root,
                           shmemx_req_h *request);
#define WSH_DECLARE(NAME, TYPE)                                                                           \
    int shmemx_##NAME##_broadcast_nb(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems,    \
                                     int PE_root, shmemx_req_h *request);
WSH_COLL_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * Begin to concatenate the arrays of all PEs, as shmem_collectmem, shmem_TYPENAME_collect, shmem_fcollectmem and
 * shmem_TYPENAME_fcollect do. Collective over the team. Returns 0, or nonzero after a line. A collect whose dest has no
 * room for all blocks fails at every PE.
 */
int shmemx_collectmem_nb(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_req_h *request);
int shmemx_fcollectmem_nb(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_req_h *request);
#define WSH_DECLARE(NAME, TYPE)                                                                           \
    int shmemx_##NAME##_collect_nb(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems,      \
                                   shmemx_req_h *request);                                                \
    int shmemx_##NAME##_fcollect_nb(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems,     \
                                    shmemx_req_h *request);
WSH_COLL_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * Begin an exchange of blocks, as shmem_alltoallmem, shmem_TYPENAME_alltoall, shmem_alltoallsmem and
 * shmem_TYPENAME_alltoalls make. Collective over the team. Returns 0, or nonzero after a line.
 */
int shmemx_alltoallmem_nb(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_req_h *request);
int shmemx_alltoallsmem_nb(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
                           size_t nelems, shmemx_req_h *request);
#define WSH_DECLARE(NAME, TYPE)                                                                           \
    int shmemx_##NAME##_alltoall_nb(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems,     \
                                    shmemx_req_h *request);                                               \
    int shmemx_##NAME##_alltoalls_nb(shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst,    \
                                     ptrdiff_t sst, size_t nelems, shmemx_req_h *request);
WSH_COLL_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * Begin a reduction, as shmem_TYPENAME_and_reduce, or, xor, max, min, sum and prod make. `dest` may be `source`, both
 * are host memory, and all PEs get the same bits. Collective over the team. Returns 0, or nonzero after a line.
 */
#define WSH_DECLARE(NAME, TYPE, OP)                                                                       \
    int shmemx_##NAME##OP##_reduce_nb(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce,  \
                                      shmemx_req_h *request);
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
#undef WSH_DECLARE_BITWISE
#undef WSH_DECLARE_ORDERED
#undef WSH_DECLARE_ARITHMETIC

/*
 * Exchange blocks of different lengths, whose counts both sides know. Collective over the team. This PE gives PE i
 * source_counts[i] elements from source + source_offsets[i], and gets dest_counts[i] elements from PE i at
 * dest + dest_offsets[i]; what one PE gives another is what that one gets. `dest` is symmetric, `source` may be any
 * memory of this PE. Counts and offsets are arrays of as many elements as the team has PEs, private to this PE; they
 * count elements of TYPENAME, and bytes for mem. A count may be 0; blocks in `dest` do not overlap. On return `dest` is
 * complete, and all arrays may be reused. Counts that differ end the job with a line that names both PEs; after it the
 * request of the form in nb fails.
 *
 * Returns 0. The form in nb begins it, with a request; a team runs one alltoallv at a time, further ones are queued.
 */
int shmemx_alltoallvmem(shmem_team_t team, void *dest, const size_t *dest_counts, const size_t *dest_offsets,
                        const void *source, const size_t *source_counts, const size_t *source_offsets);
int shmemx_alltoallvmem_nb(shmem_team_t team, void *dest, const size_t *dest_counts, const size_t *dest_offsets,
                           const void *source, const size_t *source_counts, const size_t *source_offsets,
                           shmemx_req_h *request);
#define WSH_DECLARE(NAME, TYPE)                                                                           \
    int shmemx_##NAME##_alltoallv(shmem_team_t team, TYPE *dest, const size_t *dest_counts,               \
                                  const size_t *dest_offsets, const TYPE *source,                         \
                                  const size_t *source_counts, const size_t *source_offsets);             \
    int shmemx_##NAME##_alltoallv_nb(shmem_team_t team, TYPE *dest, const size_t *dest_counts,            \
                                     const size_t *dest_offsets, const TYPE *source,                      \
                                     const size_t *source_counts, const size_t *source_offsets,           \
                                     shmemx_req_h *request);
WSH_COLL_TYPES(WSH_DECLARE)
#undef WSH_DECLARE

/*
 * Exchange blocks of lengths that the senders alone know. Collective over the team. As shmemx_alltoallvmem, but
 * dest_counts and dest_offsets come out: how many elements each PE has given, and where they begin in `dest`, in order
 * of the PEs, each at a multiple of `align` elements (0 and 1: one behind the other). `dest` has room for `dest_max`
 * elements. *need is how many it takes, from 0 to the end of the last block; counts, offsets and *need are true even
 * where that is more than dest_max. Then nothing is written to `dest` at this PE, and it returns nonzero; others are
 * not told.
 *
 * Returns 0, or nonzero where `dest` is too small here: *need is more than dest_max then, and is not where a member has
 * failed (SHMEM_ON_PE_FAILURE=continue). The form in nb begins it, and its request has that status.
 */
int shmemx_alltoallvmem_packed_nelems(shmem_team_t team, void *dest, size_t *dest_counts, size_t *dest_offsets,
                                      size_t dest_max, size_t align, size_t *need, const void *source,
                                      const size_t *source_counts, const size_t *source_offsets);
int shmemx_alltoallvmem_packed_nelems_nb(shmem_team_t team, void *dest, size_t *dest_counts, size_t *dest_offsets,
                                         size_t dest_max, size_t align, size_t *need, const void *source,
                                         const size_t *source_counts, const size_t *source_offsets,
                                         shmemx_req_h *request);
#define WSH_DECLARE(NAME, TYPE)                                                                           \
    int shmemx_##NAME##_alltoallv_packed_nelems(                                                          \
        shmem_team_t team, TYPE *dest, size_t *dest_counts, size_t *dest_offsets, size_t dest_max,        \
        size_t align, size_t *need, const TYPE *source, const size_t *source_counts,                      \
        const size_t *source_offsets);                                                                    \
    int shmemx_##NAME##_alltoallv_packed_nelems_nb(                                                       \
        shmem_team_t team, TYPE *dest, size_t *dest_counts, size_t *dest_offsets, size_t dest_max,        \
        size_t align, size_t *need, const TYPE *source, const size_t *source_counts,                      \
        const size_t *source_offsets, shmemx_req_h *request);
WSH_COLL_TYPES(WSH_DECLARE)
#undef WSH_DECLARE
/* clang-format on */

#ifdef __cplusplus
}
#endif

/* C11 type-generic forms, as in shmem/generic.h. */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__cplusplus) && \
    !defined(WSH_NO_GENERIC)
#define WSH_GENERIC_NB_ROW(NAME, TYPE, OP) , TYPE : shmemx_##NAME##OP
#define WSH_GENERIC_NB(TABLE, OP, team, pointer, ...) \
    _Generic(WSH_GENERIC_POINTEE(pointer) TABLE(WSH_GENERIC_NB_ROW, OP))(team, pointer, __VA_ARGS__)

#define shmemx_broadcast_nb(...) WSH_GENERIC_NB(WSH_RMA_DISTINCT, _broadcast_nb, __VA_ARGS__)
#define shmemx_collect_nb(...) WSH_GENERIC_NB(WSH_RMA_DISTINCT, _collect_nb, __VA_ARGS__)
#define shmemx_fcollect_nb(...) WSH_GENERIC_NB(WSH_RMA_DISTINCT, _fcollect_nb, __VA_ARGS__)
#define shmemx_alltoall_nb(...) WSH_GENERIC_NB(WSH_RMA_DISTINCT, _alltoall_nb, __VA_ARGS__)
#define shmemx_alltoalls_nb(...) WSH_GENERIC_NB(WSH_RMA_DISTINCT, _alltoalls_nb, __VA_ARGS__)
#define shmemx_and_reduce_nb(...) WSH_GENERIC_NB(WSH_REDUCE_BITWISE_DISTINCT, _and_reduce_nb, __VA_ARGS__)
#define shmemx_or_reduce_nb(...) WSH_GENERIC_NB(WSH_REDUCE_BITWISE_DISTINCT, _or_reduce_nb, __VA_ARGS__)
#define shmemx_xor_reduce_nb(...) WSH_GENERIC_NB(WSH_REDUCE_BITWISE_DISTINCT, _xor_reduce_nb, __VA_ARGS__)
#define shmemx_max_reduce_nb(...) WSH_GENERIC_NB(WSH_REDUCE_ORDERED_DISTINCT, _max_reduce_nb, __VA_ARGS__)
#define shmemx_min_reduce_nb(...) WSH_GENERIC_NB(WSH_REDUCE_ORDERED_DISTINCT, _min_reduce_nb, __VA_ARGS__)
#define shmemx_sum_reduce_nb(...) WSH_GENERIC_NB(WSH_REDUCE_ARITHMETIC_DISTINCT, _sum_reduce_nb, __VA_ARGS__)
#define shmemx_prod_reduce_nb(...) \
    WSH_GENERIC_NB(WSH_REDUCE_ARITHMETIC_DISTINCT, _prod_reduce_nb, __VA_ARGS__)
#endif

#endif
#endif
