/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PEs that have failed while the others go on, in device code: who they are, and how collectives end. A wait of a
 * collective for a member that has failed stores in its own sync area what that member would have set. So the loops
 * that poll have nothing of it, every survivor makes all its steps, and none waits for one that has left the call. What
 * the call moves is undefined then; shmemx_team_broken says so.
 */
#ifndef WSH_DEVICE_ANSWER_CUH
#define WSH_DEVICE_ANSWER_CUH

#include <shmem.h>

#include "../core/scope.cuh"
#include "../view/view.cuh"

#define WSH_ANSWER_AFTER ((uint64_t)500000)         /* ns of a wait, before it asks who has failed */
#define WSH_ANSWER_ALL_AFTER ((uint64_t)1500000000) /* ns, before it goes on without any member of a broken team */

/* Grows with each failure; 0: none, as ever where one ends the job. */
static WSH_DEV uint64_t wsh_dev_generation()
{
    if (!(wsh_device_view.flags & WSH_DEVICE_SURVIVES))
        return 0;
    return wsh_ptx_poll(&((const struct wsh_device_report *)wsh_device_view.report)->failures.generation);
}

/* The list is read after the generation: its writer writes it before. */
static WSH_DEV bool wsh_dev_pe_failed(int pe)
{
    const struct wsh_device_report *report = (const struct wsh_device_report *)wsh_device_view.report;

    if (!wsh_dev_generation() || (unsigned)pe >= (unsigned)wsh_device_view.n_pes)
        return false;
    wsh_ptx_acquire();
    return wsh_ptx_get((const uint8_t *)(report->failures.at + (uint64_t)pe));
}

/* A member's PE in the world. */
static WSH_DEV int wsh_dev_area_pe(uint64_t area, int member)
{
    return area == wsh_device_view.world ? member : ((const int32_t *)(area + WSH_DEVICE_SYNC_AREA_MEMBERS))[member];
}

/* Whether a member of the team with this sync area has failed. */
inline WSH_DEV_CALL bool wsh_dev_area_broken(uint64_t area)
{
    int n = area && wsh_dev_generation() ? ((const struct wsh_device_team_header *)area)->n_pes : 0;

#pragma unroll 1
    for (int member = 0; member < n; member++)
        if (wsh_dev_pe_failed(wsh_dev_area_pe(area, member)))
            return true;
    return false;
}

/* Where what members write begins in a sync area: their words; then their LL lines, or data, to the end. */
static WSH_DEV bool wsh_dev_area_holds(uint64_t area, uint64_t at)
{
    const struct wsh_device_team_header *header = (const struct wsh_device_team_header *)area;
    uint64_t n = area ? (uint64_t)header->n_pes : 0, first = area + WSH_DEVICE_SYNC_AREA_WORDS(n);

    return n && at >= first && at < area + WSH_DEVICE_SYNC_AREA_LL(n) + 2 * n * header->ll;
}

/* The sync area of a team that was split off in which `at` lies, or 0. */
static WSH_DEV uint64_t wsh_dev_area_split(const struct wsh_device_team_row *rows, uint64_t at)
{
    const struct wsh_device_team_row *row = &rows[WSH_DEVICE_TEAM_ROWS];
    uint64_t first = wsh_ptx_poll(&row->area), step = wsh_ptx_poll(&row->handle), area;

    if (!first || !step || at < first || at - first >= step * (WSH_DEVICE_TEAM_LAST - WSH_DEVICE_TEAM_FIRST))
        return 0;
    area = first + (uint64_t)((uint32_t)(at - first) / (uint32_t)step) * step;
    return wsh_dev_area_holds(area, at) ? area : 0;
}

/* The sync area in which `at` lies, or 0: it is no word of a collective. */
inline WSH_DEV_CALL uint64_t wsh_dev_area_around(uint64_t at)
{
    const struct wsh_device_team_row *rows = (const struct wsh_device_team_row *)wsh_device_view.teams;
    uint64_t area;

    if (wsh_dev_area_holds(wsh_device_view.world, at))
        return wsh_device_view.world;
    if (!rows)
        return 0;
#pragma unroll 1
    for (uint32_t i = 0; i < WSH_DEVICE_TEAM_ROWS; i++) {
        area = wsh_ptx_poll(&rows[i].handle) > 1 ? wsh_ptx_poll(&rows[i].area) : 0;
        if (wsh_dev_area_holds(area, at))
            return area;
    }
    return wsh_dev_area_split(rows, at);
}

/* The member that writes `at`: a word of its own, or an LL line of its buffers. */
static WSH_DEV int wsh_dev_area_writer(uint64_t area, uint64_t at)
{
    const struct wsh_device_team_header *header = (const struct wsh_device_team_header *)area;
    uint64_t n = (uint64_t)header->n_pes, lines = area + WSH_DEVICE_SYNC_AREA_LL(n);

    if (at < lines)
        return (int)((at - area - WSH_DEVICE_SYNC_AREA_WORDS(n)) / sizeof(uint64_t));
    return (int)((uint32_t)(at - lines) / (uint32_t)header->ll % (uint32_t)n);
}

/* Between hosts a member's numbers lie before its data: an earlier call's would be taken for this one's. */
static WSH_DEV void wsh_dev_area_blank(uint64_t area, int member)
{
    const struct wsh_device_team_header *header = (const struct wsh_device_team_header *)area;

#pragma unroll 1
    for (uint64_t parity = 0; parity < 2 && !header->ll; parity++)
        wsh_ptx_put((struct wsh_ptx_pair *)(area + WSH_DEVICE_SYNC_AREA_LL(header->n_pes) +
                                            (parity * (uint64_t)header->n_pes + (uint64_t)member) * header->stage),
                    wsh_ptx_pair{0, 0});
    wsh_ptx_release();
}

/*
 * By a lane that has waited for long. A member that lives is waited for, unless it depends on one that has
 * failed: then for as long as the specification of the host's collectives says. Words only grow.
 */
inline WSH_DEV_CALL void wsh_dev_answer(const struct wsh_dev_wait *wait)
{
    uint64_t at = (uint64_t)wait->word, area, flag;
    int writer;

    if (wsh_ptx_nanoseconds() - wait->since < WSH_ANSWER_AFTER || !wsh_dev_generation())
        return;
    area = wsh_dev_area_around(at);
    if (!area)
        return;
    writer = wsh_dev_area_writer(area, at);
    if (writer >= ((const struct wsh_device_team_header *)area)->n_pes)
        return;
    if (!wsh_dev_pe_failed(wsh_dev_area_pe(area, writer)) &&
        (wsh_ptx_nanoseconds() - wait->since < WSH_ANSWER_ALL_AFTER || !wsh_dev_area_broken(area)))
        return;
    if (wait->cmp == SHMEM_CMP_EQ) { /* an LL line: no data */
        flag = wait->value << 32;
        wsh_ptx_put((struct wsh_ptx_pair *)at, wsh_ptx_pair{flag, flag});
        return;
    }
    wsh_dev_area_blank(area, writer);
    wsh_ptx_put((uint64_t *)at, wait->value);
}

#endif
