/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams and contexts in device code: a handle is the host's pointer, which the GPU looks up in a table. */
#ifndef WSH_DEVICE_HANDLES_CUH
#define WSH_DEVICE_HANDLES_CUH

#include "../core/reach.cuh"

/* A team as device code sees it; n_pes 0 = there is none. `members` NULL: PE i is PE i of the world. */
struct wsh_dev_team {
    const int32_t *members;
    int my_pe, n_pes;
};

/* The tables are pinned memory that the CPU changes: read past the L1. */
static WSH_DEV struct wsh_dev_team wsh_dev_team_row(const struct wsh_device_handles *handles, uint64_t row)
{
    const struct wsh_device_team *team = &handles->team[row];

    return wsh_dev_team{(const int32_t *)wsh_ptx_poll(&team->members),
                        (int)wsh_ptx_poll((const uint32_t *)&team->my_pe),
                        (int)wsh_ptx_poll((const uint32_t *)&team->n_pes)};
}

static WSH_DEV uint64_t wsh_dev_area_numbered(const struct wsh_device_team_row *rows, uint64_t handle)
{
    const struct wsh_device_team_row *row = &rows[WSH_DEVICE_TEAM_ROWS];
    uint64_t area = wsh_ptx_poll(&row->area) + (handle - 1 - WSH_DEVICE_TEAM_FIRST) * wsh_ptx_poll(&row->handle);

    return wsh_ptx_poll((const uint32_t *)&((const struct wsh_device_team_header *)area)->n_pes) ? area : 0;
}

/* Looks up the sync area of a team other than the world; 0: there is no such team. */
inline WSH_DEV_CALL uint64_t wsh_dev_area_find(uint64_t handle)
{
    const struct wsh_device_team_row *rows = (const struct wsh_device_team_row *)wsh_device_view.teams;
    uint32_t at = WSH_DEVICE_TEAM_HASH(handle);
    uint64_t seen;

    if (rows && handle > WSH_DEVICE_TEAM_FIRST && handle <= WSH_DEVICE_TEAM_LAST)
        return wsh_dev_area_numbered(rows, handle);
#pragma unroll 1
    for (unsigned i = 0; rows && handle && i < WSH_DEVICE_TEAM_ROWS; i++, at = (at + 1) % WSH_DEVICE_TEAM_ROWS) {
        seen = wsh_ptx_poll(&rows[at].handle);
        if (seen == handle)
            return wsh_ptx_poll(&rows[at].area);
        if (!seen)
            break;
    }
    return 0;
}

static WSH_DEV struct wsh_dev_team wsh_dev_team_at(uint64_t area)
{
    const struct wsh_device_team_header *header = (const struct wsh_device_team_header *)area;

    if (!area)
        return wsh_dev_team{nullptr, -1, 0};
    return wsh_dev_team{(const int32_t *)(area + WSH_DEVICE_SYNC_AREA_MEMBERS), header->my_pe, header->n_pes};
}

static WSH_DEV struct wsh_dev_team wsh_dev_team_of(shmem_team_t team)
{
    if (team == SHMEM_TEAM_WORLD)
        return wsh_dev_team{nullptr, wsh_device_view.my_pe, wsh_device_view.n_pes};
    return wsh_dev_team_at(wsh_dev_area_find((uint64_t)team));
}

/* As shmemx_team_number. */
static WSH_DEV int wsh_dev_team_number(uint64_t handle)
{
    const struct wsh_device_team_row *rows = (const struct wsh_device_team_row *)wsh_device_view.teams;
    uint64_t area;

    if (handle <= WSH_DEVICE_TEAM_LAST)
        return (int)handle - 1;
    area = wsh_dev_area_find(handle);
    if (!area)
        return -1;
    area -= wsh_ptx_poll(&rows[WSH_DEVICE_TEAM_ROWS].area);
    return (int)(WSH_DEVICE_TEAM_FIRST + area / wsh_ptx_poll(&rows[WSH_DEVICE_TEAM_ROWS].handle));
}

/* As shmem_team_n_pes: -1 where there is no such team. */
static WSH_DEV int wsh_dev_team_pes(shmem_team_t team)
{
    int n_pes = wsh_dev_team_of(team).n_pes;

    return n_pes ? n_pes : -1;
}

/* PE `pe` of `team` in the world, or -1. */
static WSH_DEV int wsh_dev_world_pe(const struct wsh_dev_team &team, int pe)
{
    if ((uint32_t)pe >= (uint32_t)team.n_pes)
        return -1;
    return team.members ? (int)wsh_ptx_poll((const uint32_t *)team.members + pe) : pe;
}

/* The world PE `world` in `team`, or -1. */
static WSH_DEV int wsh_dev_team_pe(const struct wsh_dev_team &team, int world)
{
    if (!team.members)
        return (uint32_t)world < (uint32_t)team.n_pes ? world : -1;
#pragma unroll 1
    for (int i = 0; i < team.n_pes; i++)
        if ((int)wsh_ptx_poll((const uint32_t *)team.members + i) == world)
            return i;
    return -1;
}

inline WSH_DEV_CALL int wsh_dev_ctx_pe(const char *what, uint64_t handle, int pe)
{
    const struct wsh_device_handles *handles = (const struct wsh_device_handles *)wsh_device_view.handles;
    unsigned i = 0;
    int world;

    while (handles && handle && i < WSH_DEVICE_CTXS && wsh_ptx_poll(&handles->ctx[i].handle) != handle)
        i++;
    if (!handles || !handle || i == WSH_DEVICE_CTXS)
        wsh_dev_refuse(what, WSH_DEVICE_BAD_HANDLE, pe, (const void *)handle, 0);
    world = wsh_dev_world_pe(wsh_dev_team_row(handles, wsh_ptx_poll(&handles->ctx[i].team)), pe);
    if (world < 0)
        wsh_dev_refuse(what, WSH_DEVICE_BAD_PE, pe, (const void *)handle, 0);
    return world;
}

/* PE `pe` of the context's team in the world. All contexts of a GPU order alike: stores to peers know no contexts. */
static WSH_DEV int wsh_dev_pe(const char *what, shmem_ctx_t ctx, int pe)
{
    return ctx == SHMEM_CTX_DEFAULT ? pe : wsh_dev_ctx_pe(what, (uint64_t)ctx, pe);
}

#endif
