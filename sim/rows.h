/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of a team whose members stand in rows: `per_domain` of them in each memory domain, one domain behind the
 * other; the last one may have fewer. All members read the same tables, so that one address space can hold many.
 */
#ifndef WSH_SIM_ROWS_H
#define WSH_SIM_ROWS_H

#include "runtime/coll/choose/state.h"

struct sim_rows {
    int n_pes, per_domain, n_domains;
    int *all, *domain; /* [n_pes] as in struct wsh_coll */
    int *
        column; /* [per_domain][n_domains] the members at each place of a domain; the first are the leaders */
};

/* 0 or -ENOMEM. */
int sim_rows_make(struct sim_rows *rows, int n_pes, int per_domain);
void sim_rows_free(struct sim_rows *rows);

/*
 * Sets up all of `coll` but its context, for the member team->my_pe, as wsh_coll_prepare and wsh_coll_attach do for a
 * team of that shape: its sync area is at `base`, those of all members as they are mapped here in peer[n_pes]. 0 or
 * -ENOMEM.
 */
int sim_rows_join(const struct sim_rows *rows, struct wsh_team *team, struct wsh_coll *coll, char *base,
                  char **peer);
/* Frees what the member has of its own. */
void sim_rows_leave(struct wsh_coll *coll);

#endif
