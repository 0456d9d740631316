/* SPDX-License-Identifier: BSD-3-Clause */
/* The public collectives (section 9.10). */
#include "runtime/api/coll.h"

WSH_SHELL(void, barrier_all, (void))
{
    wsh_api_ready("shmem_barrier_all");
    WSH_API_SAME("shmem_barrier_all", wsh_job.all, "%s", "");
    (void)wsh_api_met("shmem_barrier_all", wsh_job.all, wsh_barrier(wsh_job.all, "shmem_barrier_all"));
}

WSH_SHELL(void, sync_all, (void))
{
    wsh_api_ready("shmem_sync_all");
    WSH_API_SAME("shmem_sync_all", wsh_job.all, "%s", "");
    (void)wsh_api_met("shmem_sync_all", wsh_job.all, wsh_sync(wsh_job.all, "shmem_sync_all"));
}

WSH_SHELL(int, team_sync, (shmem_team_t team))
{
    struct wsh_team *members = wsh_api_members("shmem_team_sync", team);

    WSH_API_SAME("shmem_team_sync", members, "%s", "");
    return wsh_api_met("shmem_team_sync", members, wsh_sync(members, "shmem_team_sync"));
}

int shmemx_team_barrier(shmem_team_t team)
{
    struct wsh_team *members = wsh_api_members("shmemx_team_barrier", team);

    WSH_API_SAME("shmemx_team_barrier", members, "%s", "");
    return wsh_api_met("shmemx_team_barrier", members, wsh_barrier(members, "shmemx_team_barrier"));
}

/* clang-format off */

/* The team behind the handle `team`, in the name of shmem_TAG. */
#define WSH_MEMBERS(TAG) wsh_api_members("shmem_" #TAG, team)

#define WSH_BROADCAST(TAG, TYPE, SIZE)                                                               \
    WSH_SHELL(int, TAG,                                                                              \
              (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, int PE_root))       \
    {                                                                                                \
        return wsh_api_broadcast(WSH_API_COLL(TAG), WSH_MEMBERS(TAG), dest, source, wsh_api_len(nelems, SIZE), \
                                 PE_root, true);                                                     \
    }
#define WSH_TYPED(NAME, TYPE) WSH_BROADCAST(NAME##_broadcast, TYPE, sizeof(TYPE))
WSH_COLL_TYPES(WSH_TYPED)
WSH_BROADCAST(broadcastmem, void, 1)
#undef WSH_TYPED
#undef WSH_BROADCAST

#define WSH_BLOCKS(TAG, BODY, TYPE, SIZE)                                                           \
    WSH_SHELL(int, TAG, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems))         \
    {                                                                                               \
        return BODY(WSH_API_COLL(TAG), WSH_MEMBERS(TAG), dest, source, wsh_api_len(nelems, SIZE));            \
    }
#define WSH_TYPED(NAME, TYPE)                                            \
    WSH_BLOCKS(NAME##_collect, wsh_api_collect, TYPE, sizeof(TYPE))      \
    WSH_BLOCKS(NAME##_fcollect, wsh_api_fcollect, TYPE, sizeof(TYPE))    \
    WSH_BLOCKS(NAME##_alltoall, wsh_api_alltoall, TYPE, sizeof(TYPE))
WSH_COLL_TYPES(WSH_TYPED)
WSH_BLOCKS(collectmem, wsh_api_collect, void, 1)
WSH_BLOCKS(fcollectmem, wsh_api_fcollect, void, 1)
WSH_BLOCKS(alltoallmem, wsh_api_alltoall, void, 1)
#undef WSH_TYPED
#undef WSH_BLOCKS

#define WSH_ALLTOALLS(TAG, TYPE, SIZE)                                                              \
    WSH_SHELL(int, TAG, (shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst,          \
                         ptrdiff_t sst, size_t nelems))                                             \
    {                                                                                               \
        return wsh_api_alltoalls(WSH_API_COLL(TAG), WSH_MEMBERS(TAG), dest, source,                 \
                                 &(struct wsh_alltoalls){dst, sst, nelems, SIZE});                  \
    }
#define WSH_TYPED(NAME, TYPE) WSH_ALLTOALLS(NAME##_alltoalls, TYPE, sizeof(TYPE))
WSH_COLL_TYPES(WSH_TYPED)
WSH_ALLTOALLS(alltoallsmem, void, 1)
#undef WSH_TYPED
#undef WSH_ALLTOALLS
#undef WSH_MEMBERS

/* clang-format on */

/* Deprecated collectives over active sets: each runs on the team made for its set. */

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
    (void)wsh_api_met("shmem_barrier", team, wsh_barrier(team, "shmem_barrier"));
}

WSH_SHELL(void, sync, (int PE_start, int logPE_stride, int PE_size, long *pSync))
{
    const struct set set = {PE_start, logPE_stride, PE_size, pSync};
    struct wsh_team *team = team_of("shmem_sync: pSync", &set);

    WSH_API_SAME("shmem_sync", team, "%s", "");
    (void)wsh_api_met("shmem_sync", team, wsh_sync(team, "shmem_sync"));
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

/* Reductions and scans. */

/* clang-format off */

#define WSH_REDUCE(TAG, OP, TYPE)                                                                    \
    WSH_SHELL(int, TAG, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce))         \
    {                                                                                                \
        return wsh_api_reduce(WSH_API_COLL(TAG), wsh_api_members("shmem_" #TAG, team), dest, source, \
                              nreduce, OP, WSH_API_NUM(TYPE));                                       \
    }
#define WSH_BITWISE(NAME, TYPE)                         \
    WSH_REDUCE(NAME##_and_reduce, WSH_REDUCE_AND, TYPE) \
    WSH_REDUCE(NAME##_or_reduce, WSH_REDUCE_OR, TYPE)   \
    WSH_REDUCE(NAME##_xor_reduce, WSH_REDUCE_XOR, TYPE)
#define WSH_ORDERED(NAME, TYPE)                         \
    WSH_REDUCE(NAME##_max_reduce, WSH_REDUCE_MAX, TYPE) \
    WSH_REDUCE(NAME##_min_reduce, WSH_REDUCE_MIN, TYPE)
#define WSH_ARITHMETIC(NAME, TYPE)                      \
    WSH_REDUCE(NAME##_sum_reduce, WSH_REDUCE_SUM, TYPE) \
    WSH_REDUCE(NAME##_prod_reduce, WSH_REDUCE_PROD, TYPE)
WSH_REDUCE_BITWISE_TYPES(WSH_BITWISE)
WSH_REDUCE_ORDERED_TYPES(WSH_ORDERED)
WSH_REDUCE_ARITHMETIC_TYPES(WSH_ARITHMETIC)
#undef WSH_BITWISE
#undef WSH_ORDERED
#undef WSH_ARITHMETIC
#undef WSH_REDUCE

static WSH_INLINE int numbers_scan(const struct wsh_api_coll *what, struct wsh_team *team, void *dest,
                                   const void *source, size_t nelems, enum wsh_num num, bool exclusive)
{
    const struct wsh_arith *arith = wsh_arith_find(WSH_REDUCE_SUM, num);

    wsh_api_numbers(what, team, dest, source, wsh_api_len(nelems, arith->width));
    if (!nelems)
        return 0;
    return WSH_API_MET(what->dest, team, wsh_scan(team, dest, source, nelems, arith, exclusive));
}

#define WSH_SCAN(TAG, TYPE, EXCLUSIVE)                                                              \
    WSH_SHELL(int, TAG, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems))         \
    {                                                                                               \
        return numbers_scan(WSH_API_COLL(TAG), wsh_api_members("shmem_" #TAG, team), dest, source, nelems,  \
                    WSH_API_NUM(TYPE), EXCLUSIVE);                                                  \
    }
#define WSH_SCANS(NAME, TYPE)                     \
    WSH_SCAN(NAME##_sum_inscan, TYPE, false)      \
    WSH_SCAN(NAME##_sum_exscan, TYPE, true)
WSH_REDUCE_ARITHMETIC_TYPES(WSH_SCANS)
#undef WSH_SCANS
#undef WSH_SCAN
