/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how a team is set up from the list of its members. */
#include "runtime/team.h"

#include "runtime/coll/coll.h"
#include "runtime/job.h"

#include <stdlib.h>

int wsh_team_init(struct wsh_team *team, struct wsh_job *job, int *members, int n_pes)
{
    *team = (struct wsh_team){.job = job, .my_pe = -1, .n_pes = n_pes, .members = members};
    for (int pe = 0; pe < n_pes; pe++)
        if (members[pe] == job->my_pe)
            team->my_pe = pe;
    return wsh_coll_open(team);
}

void wsh_team_fini(struct wsh_team *team)
{
    wsh_coll_close(team);
    free(team->members);
    *team = (struct wsh_team){.my_pe = -1};
}

int wsh_team_translate(const struct wsh_team *team, int pe, const struct wsh_team *other)
{
    if (pe < 0 || pe >= team->n_pes)
        return -1;
    for (int i = 0; i < other->n_pes; i++)
        if (other->members[i] == team->members[pe])
            return i;
    return -1;
}
