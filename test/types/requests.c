/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives of every type, typed and generic, and alltoallv of every type in both forms: what they leave
 * is what the blocking ones leave.
 * paths: local:1,3 tcp:2 mixed:4
 */
#include "test/types/values.h"

#include <shmemx.h>

#include <string.h>

#define TEAM SHMEM_TEAM_WORLD

static char *dest, *wanted, *source;
static size_t room;

/* Numbers of which no sum or product of four leaves any type. */
#define PART(TYPE, i) ((TYPE)((mp_me * 3 + (i)*5) % 4 + 1))

/* clang-format off */

/* What a blocking call has left in `wanted` and another in `dest`, element by element; dest is then cleared. */
#define SAME(TYPE, WHAT)                                                                            \
    do {                                                                                            \
        for (int i_ = 0; i_ < mp_npes * VALUES; i_++)                                               \
            mp_check(((TYPE *)dest)[i_] == ((TYPE *)wanted)[i_], WHAT ": element %d", i_);          \
        memset(dest, 0, room);                                                                      \
        shmem_sync_all();                                                                           \
    } while (0)

/* A blocking call, the typed nonblocking one, and the generic one. */
#define ALIKE(TYPE, BLOCKING, TYPED, GENERIC, ...)                                                  \
    do {                                                                                            \
        TYPE *to = (TYPE *)wanted, *from = (TYPE *)source;                                          \
        shmemx_req_h request;                                                                       \
        memset(wanted, 0, room);                                                                    \
        memset(dest, 0, room);                                                                      \
        shmem_sync_all();                                                                           \
        BLOCKING(TEAM, to, from, __VA_ARGS__);                                                      \
        to = (TYPE *)dest;                                                                          \
        mp_check(TYPED(TEAM, to, from, __VA_ARGS__, &request) == 0, #TYPED);                        \
        mp_check(shmemx_req_wait(&request) == 0, #TYPED ": wait");                                  \
        SAME(TYPE, #TYPED);                                                                         \
        mp_check(GENERIC(TEAM, to, from, __VA_ARGS__, &request) == 0, #GENERIC);                    \
        mp_check(shmemx_req_wait(&request) == 0, #GENERIC ": wait");                                \
        SAME(TYPE, #GENERIC);                                                                       \
    } while (0)

#define MOVES(NAME, TYPE)                                                                           \
    static void NAME##_moves(void)                                                                  \
    {                                                                                               \
        size_t counts[16], offsets[16], dest_counts[16], dest_offsets[16], need;                    \
        for (int i = 0; i < mp_npes * VALUES; i++)                                                  \
            ((TYPE *)source)[i] = VALUE(TYPE, i % VALUES, mp_me * mp_npes + i / VALUES);            \
        ALIKE(TYPE, shmem_##NAME##_broadcast, shmemx_##NAME##_broadcast_nb, shmemx_broadcast_nb,    \
              VALUES, mp_npes - 1);                                                                 \
        ALIKE(TYPE, shmem_##NAME##_collect, shmemx_##NAME##_collect_nb, shmemx_collect_nb,          \
              (size_t)(mp_me % 2 ? 1 : VALUES));                                                    \
        ALIKE(TYPE, shmem_##NAME##_fcollect, shmemx_##NAME##_fcollect_nb, shmemx_fcollect_nb, VALUES); \
        ALIKE(TYPE, shmem_##NAME##_alltoall, shmemx_##NAME##_alltoall_nb, shmemx_alltoall_nb, VALUES); \
        ALIKE(TYPE, shmem_##NAME##_alltoalls, shmemx_##NAME##_alltoalls_nb, shmemx_alltoalls_nb, 1, 2, \
              VALUES / 2);                                                                          \
        shmem_##NAME##_alltoall(TEAM, (TYPE *)wanted, (TYPE *)source, VALUES);                      \
        for (int i = 0; i < mp_npes; i++) {                                                         \
            counts[i] = dest_counts[i] = VALUES;                                                    \
            offsets[i] = dest_offsets[i] = (size_t)i * VALUES;                                      \
        }                                                                                           \
        shmemx_##NAME##_alltoallv(TEAM, (TYPE *)dest, dest_counts, dest_offsets, (TYPE *)source, counts, \
                                  offsets);                                                         \
        SAME(TYPE, #NAME "_alltoallv");                                                             \
        memset(dest_counts, 0, sizeof dest_counts);                                                 \
        shmemx_##NAME##_alltoallv_packed_nelems(TEAM, (TYPE *)dest, dest_counts, dest_offsets,      \
                                                (size_t)mp_npes * VALUES, VALUES, &need, (TYPE *)source, \
                                                counts, offsets);                                   \
        mp_check(need == (size_t)mp_npes * VALUES && dest_counts[0] == VALUES, #NAME ": need");     \
        SAME(TYPE, #NAME "_alltoallv_packed_nelems");                                               \
    }
WSH_COLL_TYPES(MOVES)

#define FILL(TYPE)                                                                                  \
    for (int i = 0; i < mp_npes * VALUES; i++)                                                      \
        ((TYPE *)source)[i] = PART(TYPE, i);
#define REDUCES(NAME, TYPE, OP)                                                                     \
    ALIKE(TYPE, shmem_##NAME##_##OP##_reduce, shmemx_##NAME##_##OP##_reduce_nb, shmemx_##OP##_reduce_nb, VALUES);
#define BITWISE(NAME, TYPE)                                                                         \
    static void NAME##_bitwise(void)                                                                \
    {                                                                                               \
        FILL(TYPE)                                                                                  \
        REDUCES(NAME, TYPE, and) REDUCES(NAME, TYPE, or) REDUCES(NAME, TYPE, xor)                   \
    }
#define ORDERED(NAME, TYPE)                                                                         \
    static void NAME##_ordered(void)                                                                \
    {                                                                                               \
        FILL(TYPE)                                                                                  \
        REDUCES(NAME, TYPE, max) REDUCES(NAME, TYPE, min)                                           \
    }
#define ARITHMETIC(NAME, TYPE)                                                                      \
    static void NAME##_arithmetic(void)                                                             \
    {                                                                                               \
        FILL(TYPE)                                                                                  \
        REDUCES(NAME, TYPE, sum) REDUCES(NAME, TYPE, prod)                                          \
    }
WSH_REDUCE_BITWISE_TYPES(BITWISE)
WSH_REDUCE_ORDERED_TYPES(ORDERED)
WSH_REDUCE_ARITHMETIC_TYPES(ARITHMETIC)
/* clang-format on */

#ifdef shmemx_alltoallv
#error "programs test for another library's routine by this name"
#endif

int main(void)
{
    types_begin();
    room = (size_t)mp_npes * VALUES * sizeof(long double);
    dest = mp_alloc(room);
    wanted = mp_alloc(room);
    source = mp_alloc(2 * room);
#define RUN_MOVES(NAME, TYPE) NAME##_moves();
#define RUN_BITWISE(NAME, TYPE) NAME##_bitwise();
#define RUN_ORDERED(NAME, TYPE) NAME##_ordered();
#define RUN_ARITHMETIC(NAME, TYPE) NAME##_arithmetic();
    WSH_COLL_TYPES(RUN_MOVES)
    WSH_REDUCE_BITWISE_TYPES(RUN_BITWISE)
    WSH_REDUCE_ORDERED_TYPES(RUN_ORDERED)
    WSH_REDUCE_ARITHMETIC_TYPES(RUN_ARITHMETIC)
    return types_end();
}
