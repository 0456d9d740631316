/* SPDX-License-Identifier: BSD-3-Clause */
/* The public collectives over teams that move data (section 9.10). */
#include "runtime/api/coll.h"

WSH_SHELL(void, barrier_all, (void))
{
    wsh_api_ready("shmem_barrier_all");
    WSH_API_SAME("shmem_barrier_all", &wsh_job.world, "%s", "");
    wsh_api_check("shmem_barrier_all", wsh_barrier(&wsh_job.world, "shmem_barrier_all"));
}

WSH_SHELL(void, sync_all, (void))
{
    wsh_api_ready("shmem_sync_all");
    WSH_API_SAME("shmem_sync_all", &wsh_job.world, "%s", "");
    wsh_api_check("shmem_sync_all", wsh_sync(&wsh_job.world, "shmem_sync_all"));
}

WSH_SHELL(int, team_sync, (shmem_team_t team))
{
    struct wsh_team *members = wsh_api_members("shmem_team_sync", team);

    WSH_API_SAME("shmem_team_sync", members, "%s", "");
    wsh_api_check("shmem_team_sync", wsh_sync(members, "shmem_team_sync"));
    return 0;
}

int shmemx_team_barrier(shmem_team_t team)
{
    struct wsh_team *members = wsh_api_members("shmemx_team_barrier", team);

    WSH_API_SAME("shmemx_team_barrier", members, "%s", "");
    wsh_api_check("shmemx_team_barrier", wsh_barrier(members, "shmemx_team_barrier"));
    return 0;
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
