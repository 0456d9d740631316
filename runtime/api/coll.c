/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the public collectives (section 9.10). */
#include "runtime/coll/coll.h"

#include "runtime/api/api.h"

static WSH_INLINE struct wsh_team *team_of(const char *what, shmem_team_t handle)
{
    struct wsh_team *team = wsh_api_team(handle);

    wsh_api_ready(what);
    if (wsh_unlikely(!team))
        wsh_api_bad(what, "team is SHMEM_TEAM_INVALID; only members of a team call its collectives");
    return team;
}

WSH_SHELL(void, barrier_all, (void))
{
    wsh_api_ready("shmem_barrier_all");
    wsh_api_check("shmem_barrier_all", wsh_barrier(&wsh_job.world, "shmem_barrier_all"));
}

WSH_SHELL(void, sync_all, (void))
{
    wsh_api_ready("shmem_sync_all");
    wsh_api_check("shmem_sync_all", wsh_sync(&wsh_job.world, "shmem_sync_all"));
}

WSH_SHELL(int, team_sync, (shmem_team_t team))
{
    struct wsh_team *members = team_of("shmem_team_sync", team);

    wsh_api_check("shmem_team_sync", wsh_sync(members, "shmem_team_sync"));
    return 0;
}

/* Ends the job unless [addr, addr + len) is symmetric. */
static WSH_INLINE void check_symmetric(const char *what, const void *addr, size_t len)
{
    size_t off;

    if (wsh_unlikely(wsh_heap_find(&wsh_job.heap, addr, len, &off) < 0))
        wsh_api_fail(what, -EFAULT, SHMEM_CTX_DEFAULT, addr, len, wsh_job.my_pe);
}

static WSH_INLINE int alltoall(const char *what, const char *what_source, shmem_team_t handle, void *dest,
                               const void *source, size_t len)
{
    struct wsh_team *team = team_of(what, handle);

    if (!len)
        return 0;
    check_symmetric(what, dest, len * (size_t)team->n_pes);
    check_symmetric(what_source, source, len * (size_t)team->n_pes);
    wsh_api_check(what, wsh_alltoall(team, dest, source, len));
    return 0;
}

/* clang-format off */

#define WSH_ALLTOALL(TAG, TYPE, SIZE)                                                               \
    WSH_SHELL(int, TAG, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems))         \
    {                                                                                               \
        return alltoall("shmem_" #TAG ": dest", "shmem_" #TAG ": source", team, dest, source,       \
                        nelems * (SIZE));                                                           \
    }
#define WSH_TYPED(NAME, TYPE) WSH_ALLTOALL(NAME##_alltoall, TYPE, sizeof(TYPE))
WSH_COLL_TYPES(WSH_TYPED)
WSH_ALLTOALL(alltoallmem, void, 1)
#undef WSH_TYPED
#undef WSH_ALLTOALL
