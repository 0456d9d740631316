/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs that have failed while the others go on, and what that means for a collective. */
#include "runtime/api/coll.h"

#include "base/log.h"
#include "runtime/wait/failures.h"

#include <shmemx.h>

#include <string.h>

int shmemx_pe_failed(int pe)
{
    wsh_api_ready("shmemx_pe_failed");
    if (wsh_unlikely((unsigned)pe >= (unsigned)wsh_job.n_pes))
        wsh_api_bad("shmemx_pe_failed: pe", "not a PE of the job");
    return wsh_failures_take(&wsh_job) && wsh_failures_has(&wsh_job.failures, pe);
}

int shmemx_failed_pes(int *list, int n)
{
    int found = 0;

    wsh_api_ready("shmemx_failed_pes");
    if (wsh_unlikely(n < 0 || (n && !list)))
        wsh_api_bad("shmemx_failed_pes", "list has no room for n numbers");
    for (int pe = 0; wsh_failures_take(&wsh_job) && pe < wsh_job.n_pes; pe++) {
        if (!wsh_failures_has(&wsh_job.failures, pe))
            continue;
        if (found < n)
            list[found] = pe;
        found++;
    }
    return found;
}

uint64_t shmemx_failure_generation(void)
{
    wsh_api_ready("shmemx_failure_generation");
    return wsh_failures_generation(&wsh_job);
}

int shmemx_team_broken(shmem_team_t team)
{
    struct wsh_team *members = wsh_api_team("shmemx_team_broken", team);

    wsh_api_ready("shmemx_team_broken");
    if (!members)
        return -1;
    for (int i = 0; wsh_failures_take(&wsh_job) && i < members->n_pes && !members->broken; i++)
        if (wsh_failures_has(&wsh_job.failures, members->members[i]))
            wsh_coll_break(members);
    return members->broken;
}

/* -1: none, so that the call has failed for another reason. */
static int failed_member(const struct wsh_team *team)
{
    for (int i = 0; i < team->n_pes; i++)
        if (wsh_failures_has(&wsh_job.failures, team->members[i]))
            return team->members[i];
    return -1;
}

/* Of the team: says for all what has happened. */
static int first_survivor(const struct wsh_team *team)
{
    int i = 0;

    while (wsh_failures_has(&wsh_job.failures, team->members[i]))
        i++;
    return i;
}

int wsh_api_met_failure(const char *what, struct wsh_team *team, int rc)
{
    int pe = rc == -EOWNERDEAD ? failed_member(team) : -1;

    if (pe < 0)
        wsh_api_fail(what, rc, SHMEM_CTX_DEFAULT, NULL, 0, 0);
    if (!team->broken && team->my_pe == first_survivor(team))
        wsh_warn("%.*s: PE %d, a member of the team, has failed; the team's collectives return nonzero from "
                 "now on",
                 (int)strcspn(what, ":"), what, pe);
    wsh_coll_break(team);
    return 1;
}
