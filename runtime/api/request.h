/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the shells of nonblocking collectives share: what their arguments must be. Members are not compared with
 * SHMEM_DEBUG=check, since that would wait for them.
 */
#ifndef WSH_API_REQUEST_H
#define WSH_API_REQUEST_H

#include "runtime/api/coll.h"
#include "runtime/coll/request/request.h"

#pragma GCC visibility push(default)
#include <shmemx.h>
#pragma GCC visibility pop

/* The routine, and the arguments to blame. */
struct wsh_api_nb {
    const char *routine;
    struct wsh_api_coll coll;
};
#define WSH_API_NB(TAG) \
    (&(const struct wsh_api_nb){"shmemx_" #TAG, {"shmemx_" #TAG ": dest", "shmemx_" #TAG ": source", NULL}})

/* Bytes of one block, at most: alltoallv sends lengths in 48 bits. */
#define WSH_API_BLOCK_MAX ((size_t)1 << 47)

static WSH_INLINE void wsh_api_request(const char *what, shmemx_req_h *request)
{
    if (wsh_unlikely(!request))
        wsh_api_bad(what, "request is NULL; pass the address of a shmemx_req_h");
    *request = SHMEMX_REQ_INVALID;
}

static WSH_INLINE int wsh_api_broadcast_nb(const struct wsh_api_nb *what, shmem_team_t team, void *dest,
                                           const void *source, size_t len, int root, shmemx_req_h *request)
{
    struct wsh_team *members = wsh_api_members(what->routine, team);
    const struct wsh_req_args args = {.dest = dest, .src = source, .len = len, .root = root};

    wsh_api_request(what->routine, request);
    if (wsh_unlikely((unsigned)root >= (unsigned)members->n_pes))
        wsh_api_bad(what->routine, "PE_root is not a PE of the team; PEs are numbered from 0 within it");
    if (!len)
        return 0;
    wsh_api_buffers(&what->coll, dest, len, source, len);
    return wsh_req_begin(members, what->routine, WSH_REQ_BROADCAST, &args, request);
}

/* collect, whose members may have no block, fcollect and alltoall. */
static WSH_INLINE int wsh_api_blocks_nb(const struct wsh_api_nb *what, enum wsh_req_kind kind,
                                        shmem_team_t team, void *dest, const void *source, size_t len,
                                        shmemx_req_h *request)
{
    struct wsh_team *members = wsh_api_members(what->routine, team);
    const struct wsh_req_args args = {.dest = dest, .src = source, .len = len};
    size_t all = wsh_api_len(len, (size_t)members->n_pes);

    wsh_api_request(what->routine, request);
    if (!len && kind != WSH_REQ_COLLECT)
        return 0;
    if (len)
        wsh_api_buffers(&what->coll, dest, kind == WSH_REQ_COLLECT ? len : all, source,
                        kind == WSH_REQ_ALLTOALL ? all : len);
    return wsh_req_begin(members, what->routine, kind, &args, request);
}

static WSH_INLINE int wsh_api_alltoalls_nb(const struct wsh_api_nb *what, shmem_team_t team, void *dest,
                                           const void *source, const struct wsh_alltoalls *shape,
                                           shmemx_req_h *request)
{
    struct wsh_team *members = wsh_api_members(what->routine, team);
    const struct wsh_req_args args = {.dest = dest, .src = source, .shape = *shape};
    size_t n = wsh_api_len(shape->nelems, (size_t)members->n_pes), width = shape->width;

    wsh_api_request(what->routine, request);
    if (wsh_unlikely(shape->dst < 1 || shape->sst < 1))
        wsh_api_bad(what->routine, "dst and sst are at least 1");
    if (!n)
        return 0;
    wsh_api_symmetric(what->coll.dest, dest, wsh_api_span(n, wsh_api_len((size_t)shape->dst, width), width));
    wsh_api_symmetric(what->coll.source, source,
                      wsh_api_span(n, wsh_api_len((size_t)shape->sst, width), width));
    return wsh_req_begin(members, what->routine, WSH_REQ_ALLTOALLS, &args, request);
}

static WSH_INLINE int wsh_api_reduce_nb(const struct wsh_api_nb *what, shmem_team_t team, void *dest,
                                        const void *source, size_t nelems, const struct wsh_arith *arith,
                                        shmemx_req_h *request)
{
    struct wsh_team *members = wsh_api_members(what->routine, team);
    const size_t len = wsh_api_len(nelems, arith->width);
    const struct wsh_req_args args = {.dest = dest, .src = source, .len = len, .arith = arith};

    wsh_api_request(what->routine, request);
    if (!len)
        return 0;
    wsh_api_host(what->coll.dest, dest, len);
    wsh_api_host(what->coll.source, source, len);
    if (wsh_unlikely(wsh_job.check))
        wsh_check_arrays(WSH_API_ARRAYS(&what->coll, dest, len, source, len, true));
    return wsh_req_begin(members, what->routine, WSH_REQ_REDUCE, &args, request);
}

/* Ends the job where an array is missing, or a block of dest is not in symmetric memory. */
void wsh_api_alltoallv_check(const struct wsh_api_nb *what, const struct wsh_team *team, const void *dest,
                             const void *source, const struct wsh_alltoallv *v);

static WSH_INLINE int wsh_api_alltoallv_begin(const struct wsh_api_nb *what, shmem_team_t team, void *dest,
                                              const void *source, const struct wsh_alltoallv *v, bool waits,
                                              shmemx_req_h *request)
{
    struct wsh_team *members = wsh_api_members(what->routine, team);
    const struct wsh_req_args args = {.dest = dest, .src = source, .v = *v, .waits = waits};

    wsh_api_request(what->routine, request);
    wsh_api_alltoallv_check(what, members, dest, source, v);
    if (v->packed)
        *v->need = 0; /* where a member has failed: it is no dest that is too small */
    return wsh_req_begin(members, what->routine, v->packed ? WSH_REQ_ALLTOALLV_PACKED : WSH_REQ_ALLTOALLV,
                         &args, request);
}

static WSH_INLINE int wsh_api_alltoallv_nb(const struct wsh_api_nb *what, shmem_team_t team, void *dest,
                                           const void *source, const struct wsh_alltoallv *v,
                                           shmemx_req_h *request)
{
    return wsh_api_alltoallv_begin(what, team, dest, source, v, false, request);
}

/* A failure other than too small a dest, which is positive, ends the job. */
static WSH_INLINE int wsh_api_alltoallv(const struct wsh_api_nb *what, shmem_team_t team, void *dest,
                                        const void *source, const struct wsh_alltoallv *v)
{
    shmemx_req_h request;
    int rc;

    WSH_API_SAME(what->routine, wsh_api_members(what->routine, team), "%s", "");
    rc = wsh_api_alltoallv_begin(what, team, dest, source, v, true, &request);
    if (!rc)
        rc = wsh_req_wait(&wsh_job, request);
    return rc < 0 ? wsh_api_met_failure(what->coll.dest, wsh_api_members(what->routine, team), rc) : rc;
}

#endif
