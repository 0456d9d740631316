/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps that every routine that makes a team shares: open here, agree with the others, attach or close. */
#ifndef WSH_TEAM_SPLIT_H
#define WSH_TEAM_SPLIT_H

#include "runtime/team/team.h"

/* A team without a sync area, which cannot communicate yet. Takes over `members`; NULL = no memory. */
struct wsh_team *wsh_team_open(struct wsh_job *job, int *members, int n_pes);

/* Its sync area is at this unit of the pool, taken; it is in job->teams. */
void wsh_team_attach(struct wsh_team *team, int unit);

/* Local. NULL is nothing. */
void wsh_team_close(struct wsh_team *team);

/* Does the triplet name PEs of `parent`? Then their global numbers (malloc'd), or NULL. */
bool wsh_team_has(const struct wsh_team *parent, const struct wsh_triplet *triplet);
int *wsh_team_list(const struct wsh_team *parent, const struct wsh_triplet *triplet);

/*
 * The members of a team that is not attached agree on a unit for its sync area, which is taken then: collective over
 * them. `psync`: symmetric, two words of zeros, zero again afterwards. 0 or -ENOMEM (logged).
 */
int wsh_team_agree(const struct wsh_team *team, uint64_t *psync, int *unit);

#endif
