/* SPDX-License-Identifier: BSD-3-Clause */
/* The deprecated collectives over active sets: each runs on the team made for its set. */
#include "runtime/api/coll.h"

/* PEs from `start` on, 2^log_stride apart, and their work array. */
struct set {
    int start, log_stride, size;
    long *psync;
};

/* Ends the job unless this PE is in the set. */
static struct wsh_team *team_of(const char *what, const struct set *set)
{
    struct wsh_triplet triplet = {set->start, 0, set->size};
    struct wsh_team *team;

    wsh_api_ready(what);
    if (wsh_unlikely(set->log_stride < 0 || set->log_stride > 30))
        wsh_api_bad(what, "logPE_stride is not between 0 and 30");
    triplet.stride = 1 << set->log_stride;
    wsh_api_symmetric(what, set->psync, 2 * sizeof(long));
    switch (wsh_team_of_active_set(&wsh_job, &triplet, set->psync, &team)) {
    case 0: return team;
    case -EINVAL: wsh_api_bad(what, "the active set has PEs that do not exist, or not this one"); break;
    default: wsh_abort(1);
    }
}

static WSH_INLINE size_t count_of(const char *what, int nreduce)
{
    if (wsh_unlikely(nreduce < 0))
        wsh_api_bad(what, "nreduce is negative");
    return (size_t)nreduce;
}

/* Nothing is written to a reduction's work array here, as another library would. */
static WSH_INLINE void work_check(const char *what, const void *work, size_t width, const void *dest,
                                  const void *source, int nreduce)
{
    const size_t half = nreduce > 0 ? (size_t)nreduce / 2 + 1 : 0, least = SHMEM_REDUCE_MIN_WRKDATA_SIZE,
                 len = width * (half > least ? half : least);

    if (wsh_unlikely(wsh_job.check && nreduce > 0)) {
        wsh_check_apart(what, work, len, dest, (size_t)nreduce * width);
        wsh_check_apart(what, work, len, source, (size_t)nreduce * width);
    }
}

WSH_SHELL(void, barrier, (int PE_start, int logPE_stride, int PE_size, long *pSync))
{
    const struct set set = {PE_start, logPE_stride, PE_size, pSync};
    struct wsh_team *team = team_of("shmem_barrier: pSync", &set);

    WSH_API_SAME("shmem_barrier", team, "%s", "");
    wsh_api_check("shmem_barrier", wsh_barrier(team, "shmem_barrier"));
}

WSH_SHELL(void, sync, (int PE_start, int logPE_stride, int PE_size, long *pSync))
{
    const struct set set = {PE_start, logPE_stride, PE_size, pSync};
    struct wsh_team *team = team_of("shmem_sync: pSync", &set);

    WSH_API_SAME("shmem_sync", team, "%s", "");
    wsh_api_check("shmem_sync", wsh_sync(team, "shmem_sync"));
}

/* clang-format off */

/* The team of the arguments at hand. */
#define WSH_SET(TAG) \
    team_of("shmem_" #TAG ": pSync", &(const struct set){PE_start, logPE_stride, PE_size, pSync})

#define WSH_BROADCAST(TAG, BITS)                                                                        \
    WSH_SHELL(void, TAG, (void *dest, const void *source, size_t nelems, int PE_root, int PE_start,     \
                          int logPE_stride, int PE_size, long *pSync))                                  \
    {                                                                                                   \
        wsh_api_broadcast(WSH_API_COLL_OF(TAG, pSync), WSH_SET(TAG), dest, source,                      \
                          wsh_api_len(nelems, BITS / 8), PE_root, false);                               \
    }
#define WSH_BLOCKS(TAG, BODY, BITS)                                                                      \
    WSH_SHELL(void, TAG, (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, \
                          int PE_size, long *pSync))                                                     \
    {                                                                                                    \
        BODY(WSH_API_COLL_OF(TAG, pSync), WSH_SET(TAG), dest, source, wsh_api_len(nelems, BITS / 8));    \
    }
#define WSH_ALLTOALLS(TAG, BITS)                                                                         \
    WSH_SHELL(void, TAG, (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,   \
                          int PE_start, int logPE_stride, int PE_size, long *pSync))                     \
    {                                                                                                    \
        wsh_api_alltoalls(WSH_API_COLL_OF(TAG, pSync), WSH_SET(TAG), dest, source,                                 \
                          &(struct wsh_alltoalls){dst, sst, nelems, BITS / 8});                          \
    }
#define WSH_SIZED(BITS)                                    \
    WSH_BROADCAST(broadcast##BITS, BITS)                   \
    WSH_BLOCKS(collect##BITS, wsh_api_collect, BITS)       \
    WSH_BLOCKS(fcollect##BITS, wsh_api_fcollect, BITS)     \
    WSH_BLOCKS(alltoall##BITS, wsh_api_alltoall, BITS)     \
    WSH_ALLTOALLS(alltoalls##BITS, BITS)
WSH_ACTIVE_SIZES(WSH_SIZED)
#undef WSH_SIZED
#undef WSH_BROADCAST
#undef WSH_BLOCKS
#undef WSH_ALLTOALLS

#define WSH_TO_ALL(TAG, OP, TYPE)                                                                         \
    WSH_SHELL(void, TAG, (TYPE *dest, const TYPE *source, int nreduce, int PE_start, int logPE_stride,    \
                          int PE_size, TYPE *pWrk, long *pSync))                                          \
    {                                                                                                     \
        work_check("shmem_" #TAG, pWrk, sizeof *pWrk, dest, source, nreduce);                             \
        wsh_api_reduce(WSH_API_COLL_OF(TAG, pSync), WSH_SET(TAG), dest, source, count_of("shmem_" #TAG, nreduce),   \
                       OP, WSH_API_NUM(TYPE));                                                            \
    }
#define WSH_BITWISE(NAME, TYPE)                         \
    WSH_TO_ALL(NAME##_and_to_all, WSH_REDUCE_AND, TYPE) \
    WSH_TO_ALL(NAME##_or_to_all, WSH_REDUCE_OR, TYPE)   \
    WSH_TO_ALL(NAME##_xor_to_all, WSH_REDUCE_XOR, TYPE)
#define WSH_ORDERED(NAME, TYPE)                         \
    WSH_TO_ALL(NAME##_max_to_all, WSH_REDUCE_MAX, TYPE) \
    WSH_TO_ALL(NAME##_min_to_all, WSH_REDUCE_MIN, TYPE)
#define WSH_ARITHMETIC(NAME, TYPE)                      \
    WSH_TO_ALL(NAME##_sum_to_all, WSH_REDUCE_SUM, TYPE) \
    WSH_TO_ALL(NAME##_prod_to_all, WSH_REDUCE_PROD, TYPE)
WSH_TO_ALL_BITWISE_TYPES(WSH_BITWISE)
WSH_TO_ALL_ORDERED_TYPES(WSH_ORDERED)
WSH_TO_ALL_ARITHMETIC_TYPES(WSH_ARITHMETIC)
#undef WSH_BITWISE
#undef WSH_ORDERED
#undef WSH_ARITHMETIC
#undef WSH_TO_ALL
#undef WSH_SET
