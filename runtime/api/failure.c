/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs that have failed while the others go on, and what that means for a collective. */
#include "runtime/api/coll.h"

#include "runtime/coll/request/request.h"
#include "runtime/team/team.h"
#include "runtime/wait/failures.h"
#include "runtime/wait/on_failure.h"

#include <shmemx.h>

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
    return wsh_coll_is_broken(members);
}

int shmemx_on_failure(void (*function)(int pe, void *arg), void *arg)
{
    wsh_api_ready("shmemx_on_failure");
    return wsh_on_failure(&wsh_job, function, arg);
}

int wsh_api_met_failure(const char *what, struct wsh_team *team, int rc)
{
    if (!wsh_coll_met_failure(team, what, rc))
        wsh_api_fail(what, rc, SHMEM_CTX_DEFAULT, NULL, 0, 0);
    return 1;
}

int shmemx_team_shrink(shmem_team_t team, shmem_team_t *survivors)
{
    struct wsh_team *members = wsh_api_members("shmemx_team_shrink", team);

    if (wsh_unlikely(!survivors))
        wsh_api_bad("shmemx_team_shrink", "survivors is NULL; pass the address of a shmem_team_t");
    *survivors = SHMEM_TEAM_INVALID;
    if (wsh_unlikely(wsh_req_left(&wsh_job, members) != NULL))
        wsh_api_bad(
            "shmemx_team_shrink",
            "a nonblocking collective of the team has not been waited for; call shmemx_req_wait first");
    return wsh_team_shrink(members, survivors);
}
