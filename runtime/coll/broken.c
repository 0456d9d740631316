/* SPDX-License-Identifier: BSD-3-Clause */
/* What the failure of a member means for a team's collectives. */
#include "runtime/coll/coll.h"

#include "base/err.h"
#include "base/log.h"
#include "runtime/job/job.h"

#include <errno.h>
#include <string.h>

/* -1: none, so that the call has failed for another reason. */
static int failed_member(const struct wsh_team *team)
{
    for (int i = 0; i < team->n_pes; i++)
        if (wsh_failures_has(&team->job->failures, team->members[i]))
            return team->members[i];
    return -1;
}

/* Of the team: says for all what has happened. */
static int first_survivor(const struct wsh_team *team)
{
    int i = 0;

    while (wsh_failures_has(&team->job->failures, team->members[i]))
        i++;
    return i;
}

bool wsh_coll_met_failure(struct wsh_team *team, const char *what, int rc)
{
    int pe = rc == -EOWNERDEAD ? failed_member(team) : -1;

    if (pe < 0)
        return false;
    if (!team->broken && team->my_pe == first_survivor(team))
        wsh_warn("%.*s: PE %d, a member of the team, has failed; the team's collectives return nonzero from "
                 "now on",
                 (int)strcspn(what, ":"), what, pe);
    wsh_coll_break(team);
    return true;
}

void wsh_coll_end_unless_failed(struct wsh_team *team, const char *what, int rc)
{
    if (!wsh_coll_met_failure(team, what, rc))
        wsh_abort(1);
}

bool wsh_coll_is_broken(struct wsh_team *team)
{
    if (!team->broken && wsh_failures_take(team->job) && failed_member(team) >= 0)
        wsh_coll_break(team);
    return team->broken;
}
