/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows teams: which PEs, and the symmetric words by which they synchronize. */
#ifndef WSH_TEAM_H
#define WSH_TEAM_H

#include <stdbool.h>
#include <stdint.h>

struct wsh_job;
struct wsh_coll;

struct wsh_team {
    struct wsh_job *job;
    int my_pe, n_pes;      /* in the team; my_pe < 0 = this PE is no member */
    int *members;          /* [n_pes] global PE numbers */
    struct wsh_coll *coll; /* state of its collectives (coll/) */
    int num_contexts;
};

/* Takes over `members` (malloc'd). Symmetric words are reserved in the same order on all PEs. */
int wsh_team_init(struct wsh_team *team, struct wsh_job *job, int *members, int n_pes);
void wsh_team_fini(struct wsh_team *team);

/* PE `pe` of `team` in the numbers of `other`, or -1. */
int wsh_team_translate(const struct wsh_team *team, int pe, const struct wsh_team *other);

#endif
