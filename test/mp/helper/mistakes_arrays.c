/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives whose arrays overlap, or are longer than their allocations, which all PEs make alike and only
 * SHMEM_DEBUG=check notices; and what comes near to that and is allowed.
 */
#include "test/mp/helper/mistakes.h"

#include "test/common/mp.h"

#define WORLD SHMEM_TEAM_WORLD
#define SET 0, 0, 2, psync
#define OVERLAP "dest and source overlap"
#define ARRAYS "two arguments overlap"
#define LONGER "are not allocated"

static long psync[SHMEM_SYNC_SIZE];

static long *words(void)
{
    return mistake_args.sym;
}

/* Of 56 bytes; another lies behind it. */
static long *block(void)
{
    long *at = shmem_malloc(56);

    mp_check(at && shmem_malloc(4096), "no memory");
    return at;
}

/* X(NAME, CALL, CHECKED): what is said with SHMEM_DEBUG=check, NULL where it is allowed. */
/* clang-format off */
#define MISTAKES(X)                                                                                     \
    X(overlap_broadcast, shmem_long_broadcast(WORLD, words(), words() + 1, 4, 0), OVERLAP)              \
    X(overlap_broadcast_in_place, shmem_broadcastmem(WORLD, words(), words(), 4, 1), OVERLAP)           \
    X(overlap_collect, shmem_long_collect(WORLD, words(), words() + 3, 4), OVERLAP)                     \
    X(overlap_collect_sum, shmem_long_collect(WORLD, words(), words() + 4, 4), OVERLAP)                 \
    X(overlap_fcollect_in_place, shmem_long_fcollect(WORLD, words(), words(), 4), OVERLAP)              \
    X(overlap_fcollect, shmem_fcollectmem(WORLD, words(), words() + 4, 32), OVERLAP)                    \
    X(overlap_alltoall, shmem_long_alltoall(WORLD, words() + 1, words(), 4), OVERLAP)                   \
    X(overlap_alltoalls, shmem_long_alltoalls(WORLD, words(), words() + 4, 2, 2, 2), OVERLAP)           \
    X(overlap_sum_reduce, shmem_long_sum_reduce(WORLD, words(), words() + 1, 4), OVERLAP)               \
    X(overlap_max_reduce, shmem_long_max_reduce(WORLD, words() + 1, words(), 4), OVERLAP)               \
    X(overlap_and_reduce, shmem_ulong_and_reduce(WORLD, (unsigned long *)words(),                       \
                                                 (unsigned long *)words() + 3, 4), OVERLAP)             \
    X(overlap_inscan, shmem_long_sum_inscan(WORLD, words(), words() + 1, 4), OVERLAP)                   \
    X(overlap_exscan, shmem_long_sum_exscan(WORLD, words() + 1, words(), 4), OVERLAP)                   \
    X(overlap_broadcast64, shmem_broadcast64(words(), words() + 1, 4, 0, SET), OVERLAP)                 \
    X(overlap_collect64, shmem_collect64(words(), words() + 4, 4, SET), OVERLAP)                        \
    X(overlap_fcollect32, shmem_fcollect32(words(), words() + 2, 4, SET), OVERLAP)                      \
    X(overlap_alltoall64, shmem_alltoall64(words(), words() + 1, 4, SET), OVERLAP)                      \
    X(overlap_alltoalls32, shmem_alltoalls32(words(), words(), 3, 2, 2, SET), OVERLAP)                  \
    X(overlap_sum_to_all, shmem_long_sum_to_all(words(), words() + 1, 4, 0, 0, 2, NULL, psync), OVERLAP) \
    X(overlap_work, shmem_long_sum_to_all(words(), words() + 8, 4, 0, 0, 2, words() + 3, psync), ARRAYS) \
    X(overlap_sync, shmem_broadcast64(words(), words() + 8, 8, 0, 0, 0, 2, words() + 7), ARRAYS)        \
    X(overlap_status, shmem_long_test_all(words(), 4, (int *)(words() + 3), SHMEM_CMP_EQ, 0), ARRAYS)   \
    X(overlap_values, shmem_long_test_any_vector(words(), 4, NULL, SHMEM_CMP_EQ, words() + 1), ARRAYS)  \
    X(longer_collect, shmem_long_collect(WORLD, block(), words(), 4), LONGER)                           \
    X(longer_fcollect, shmem_long_fcollect(WORLD, block(), words(), 8), LONGER)                         \
    X(longer_alltoall, shmem_long_alltoall(WORLD, words(), block(), 8), LONGER)                         \
    X(longer_alltoalls, shmem_long_alltoalls(WORLD, words(), block(), 1, 3, 2), LONGER)                 \
    X(longer_broadcast, shmem_long_broadcast(WORLD, block(), words(), 8, 0), LONGER)                    \
    X(longer_sum_reduce, shmem_long_sum_reduce(WORLD, block(), words(), 8), LONGER)                     \
    X(longer_inscan, shmem_long_sum_inscan(WORLD, words(), block(), 8), LONGER)                         \
    X(longer_collect64, shmem_collect64(block(), words(), 4, SET), LONGER)                              \
    X(longer_put, shmem_long_put(block(), mistake_args.value, 8, mp_right()), LONGER)                   \
    X(apart_collect, shmem_long_collect(WORLD, words(), words() + 8, 4), NULL)                          \
    X(apart_none, shmem_long_fcollect(WORLD, words(), words(), 0), NULL)                                \
    X(apart_alltoalls, shmem_long_alltoalls(WORLD, words(), words() + 1, 2, 2, 2), NULL)                \
    X(in_place_reduce, shmem_long_sum_reduce(WORLD, words(), words(), 4), NULL)                         \
    X(in_place_inscan, shmem_long_sum_inscan(WORLD, words(), words(), 4), NULL)                         \
    X(in_place_exscan, shmem_long_sum_exscan(WORLD, words(), words(), 4), NULL)                         \
    X(in_place_to_all, shmem_long_max_to_all(words(), words(), 4, 0, 0, 2, words() + 8, psync), NULL)

#define MAKE(NAME, CALL, CHECKED) \
    static void NAME(void)        \
    {                             \
        CALL;                     \
    }
MISTAKES(MAKE)

#define ROW(NAME, CALL, CHECKED) {#NAME, NAME, NULL, CHECKED},
const struct mistake mistakes_of_arrays[] = {MISTAKES(ROW){0}};
