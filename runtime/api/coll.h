/* SPDX-License-Identifier: BSD-3-Clause */
/* What the shells of the collectives share: which team is meant, and what its buffers must be. */
#ifndef WSH_API_COLL_H
#define WSH_API_COLL_H

#include "runtime/api/api.h"
#include "runtime/coll/coll.h"

#include <limits.h>

/* The routine, and the arguments to blame: "shmem_int_broadcast: dest" and the same with source; a set's pSync. */
struct wsh_api_coll {
    const char *dest, *source;
    const long *sync;
};
#define WSH_API_COLL_OF(TAG, SYNC) \
    (&(const struct wsh_api_coll){"shmem_" #TAG ": dest", "shmem_" #TAG ": source", SYNC})
#define WSH_API_COLL(TAG) WSH_API_COLL_OF(TAG, NULL)

/* For wsh_check_arrays. */
#define WSH_API_ARRAYS(what, dest, dest_len, source, source_len, in_place)                              \
    (&(const struct wsh_check_arrays){(what)->dest, (what)->source, dest, dest_len, source, source_len, \
                                      in_place, (what)->sync})

/*
 * Counts a collective that has been called. Its result: 0; or nonzero because a member has failed and the others go
 * on, which breaks the team. Any other error ends the job.
 */
WSH_COLD int wsh_api_met_failure(const char *what, struct wsh_team *team, int rc);
static WSH_INLINE int wsh_api_met(const char *what, struct wsh_team *team, int rc)
{
    team->calls++;
    return wsh_unlikely(rc) ? wsh_api_met_failure(what, team, rc) : 0;
}

/* The same of a call that a broken team does not make. */
#define WSH_API_MET(what, team, call) \
    wsh_api_met(what, team, wsh_unlikely((team)->broken) ? -EOWNERDEAD : (call))

static WSH_INLINE struct wsh_team *wsh_api_members(const char *what, shmem_team_t handle)
{
    struct wsh_team *team = wsh_api_team(what, handle);

    wsh_api_ready(what);
    if (wsh_unlikely(!team || team->my_pe < 0))
        wsh_api_bad(what, "team is SHMEM_TEAM_INVALID; only members of a team call its collectives");
    return team;
}

/* The segment of [addr, addr + len); ends the job where it is not symmetric. */
static WSH_INLINE int wsh_api_symmetric(const char *what, const void *addr, size_t len)
{
    size_t off;
    int seg = wsh_heap_find(&wsh_job.heap, addr, len, &off);

    if (wsh_unlikely(seg < 0))
        wsh_api_fail(what, -EFAULT, SHMEM_CTX_DEFAULT, addr, len, wsh_job.my_pe);
    return seg;
}

/* The same for memory that this PE computes with. */
static WSH_INLINE void wsh_api_host(const char *what, const void *addr, size_t len)
{
    if (wsh_unlikely(wsh_api_symmetric(what, addr, len) >= WSH_SEG_DEVICE))
        wsh_api_bad(what, "the memory is a GPU's; reductions and scans work on host memory");
}

/* Ends the job unless all blocks of all members are symmetric. */
static WSH_INLINE void wsh_api_buffers(const struct wsh_api_coll *what, const void *dest, size_t dest_len,
                                       const void *source, size_t source_len)
{
    wsh_api_symmetric(what->dest, dest, dest_len);
    wsh_api_symmetric(what->source, source, source_len);
    if (wsh_unlikely(wsh_job.check))
        wsh_check_arrays(WSH_API_ARRAYS(what, dest, dest_len, source, source_len, false));
}

static WSH_INLINE int wsh_api_broadcast(const struct wsh_api_coll *what, struct wsh_team *team, void *dest,
                                        const void *source, size_t len, int root, bool root_too)
{
    if (wsh_unlikely((unsigned)root >= (unsigned)team->n_pes))
        wsh_api_bad(what->dest, "PE_root is not a PE of the team; PEs are numbered from 0 within it");
    if (len)
        wsh_api_buffers(what, dest, len, source, len);
    WSH_API_SAME_DATA(what->dest, team, dest, source, len, root, 0, 0);
    if (!len)
        return 0;
    return WSH_API_MET(what->dest, team, wsh_broadcast(team, dest, source, len, root, root_too));
}

static WSH_INLINE int wsh_api_fcollect(const struct wsh_api_coll *what, struct wsh_team *team, void *dest,
                                       const void *source, size_t len)
{
    if (len)
        wsh_api_buffers(what, dest, wsh_api_len(len, (size_t)team->n_pes), source, len);
    WSH_API_SAME_DATA(what->dest, team, dest, source, len, -1, 0, 0);
    if (!len)
        return 0;
    return WSH_API_MET(what->dest, team, wsh_fcollect(team, dest, source, len));
}

/* A member that has nothing to give may pass anything as source. */
static WSH_INLINE int wsh_api_collect(const struct wsh_api_coll *what, struct wsh_team *team, void *dest,
                                      const void *source, size_t len)
{
    if (len)
        wsh_api_buffers(what, dest, len, source, len);
    WSH_API_SAME_DATA(what->dest, team, dest, NULL, WSH_CHECK_ANY, -1, 0, 0);
    if (wsh_unlikely(wsh_job.check))
        wsh_check_collected(team, WSH_API_ARRAYS(what, dest, len, source, len, false));
    return WSH_API_MET(what->dest, team, wsh_collect(team, dest, source, len));
}

static WSH_INLINE int wsh_api_alltoall(const struct wsh_api_coll *what, struct wsh_team *team, void *dest,
                                       const void *source, size_t len)
{
    const size_t all = wsh_api_len(len, (size_t)team->n_pes);

    if (len)
        wsh_api_buffers(what, dest, all, source, all);
    WSH_API_SAME_DATA(what->dest, team, dest, source, len, -1, 0, 0);
    if (!len)
        return 0;
    return WSH_API_MET(what->dest, team, wsh_alltoall(team, dest, source, len));
}

static WSH_INLINE int wsh_api_alltoalls(const struct wsh_api_coll *what, struct wsh_team *team, void *dest,
                                        const void *source, const struct wsh_alltoalls *shape)
{
    const size_t n = wsh_api_len(shape->nelems, (size_t)team->n_pes), width = shape->width;
    const size_t dest_len = wsh_api_span(n, wsh_api_len((size_t)shape->dst, width), width),
                 source_len = wsh_api_span(n, wsh_api_len((size_t)shape->sst, width), width);

    if (wsh_unlikely(shape->dst < 1 || shape->sst < 1))
        wsh_api_bad(what->dest, "dst and sst are at least 1");
    if (n) {
        wsh_api_symmetric(what->dest, dest, dest_len);
        wsh_api_symmetric(what->source, source, source_len);
    }
    if (wsh_unlikely(n && wsh_job.check))
        wsh_check_strided(
            WSH_API_ARRAYS(what, dest, dest_len, source, source_len, false),
            &(const struct wsh_check_blocks){dest, source, shape->dst, shape->sst, 1, n, width});
    WSH_API_SAME_DATA(what->dest, team, dest, source, shape->nelems * shape->width, -1, shape->dst,
                      shape->sst);
    if (!shape->nelems)
        return 0;
    return WSH_API_MET(what->dest, team, wsh_alltoalls(team, dest, source, shape));
}

/* The code of a type of numbers; the bits of an integer and whether it has a sign say which. */
#define WSH_API_SIGNED(TYPE) \
    _Generic((TYPE)0, char   \
             : CHAR_MIN < 0, signed char : 1, short : 1, int : 1, long : 1, long long : 1, default : 0)
#define WSH_API_NUM(TYPE)                                                                                  \
    ((enum wsh_num) _Generic((TYPE)0, float                                                                \
                             : WSH_NUM_FLOAT, double                                                       \
                             : WSH_NUM_DOUBLE, long double                                                 \
                             : WSH_NUM_LONGDOUBLE, float _Complex                                          \
                             : WSH_NUM_COMPLEXF, double _Complex                                           \
                             : WSH_NUM_COMPLEXD, default                                                   \
                             : (WSH_API_SIGNED(TYPE) ? WSH_NUM_I8 : WSH_NUM_U8) + (sizeof(TYPE) == 1   ? 0 \
                                                                                   : sizeof(TYPE) == 2 ? 1 \
                                                                                   : sizeof(TYPE) == 4     \
                                                                                       ? 2                 \
                                                                                       : 3)))

/* What reductions and scans look at. */
static WSH_INLINE void wsh_api_numbers(const struct wsh_api_coll *what, struct wsh_team *team,
                                       const void *dest, const void *source, size_t len)
{
    if (len) {
        wsh_api_host(what->dest, dest, len);
        wsh_api_host(what->source, source, len);
    }
    if (wsh_unlikely(wsh_job.check))
        wsh_check_arrays(WSH_API_ARRAYS(what, dest, len, source, len, true));
    WSH_API_SAME_DATA(what->dest, team, dest, source, len, -1, 0, 0);
}

static WSH_INLINE int wsh_api_reduce(const struct wsh_api_coll *what, struct wsh_team *team, void *dest,
                                     const void *source, size_t nelems, enum wsh_reduce op, enum wsh_num num)
{
    const struct wsh_arith *arith = wsh_arith_find(op, num);

    wsh_api_numbers(what, team, dest, source, wsh_api_len(nelems, arith->width));
    if (!nelems)
        return 0;
    return WSH_API_MET(what->dest, team, wsh_reduce(team, dest, source, nelems, arith));
}

#endif
