/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables for all members of a team in rows, and each member's place in them. */
#include "sim/rows.h"

#include <errno.h>
#include <stdlib.h>

int sim_rows_make(struct sim_rows *rows, int n_pes, int per_domain)
{
    int n_domains = (n_pes + per_domain - 1) / per_domain;
    size_t offsets = (size_t)per_domain * (size_t)n_domains;

    *rows = (struct sim_rows){n_pes, per_domain, n_domains, NULL, NULL, NULL};
    rows->all = calloc(2 * (size_t)n_pes + offsets, sizeof *rows->all);
    if (!rows->all)
        return -ENOMEM;
    rows->domain = rows->all + n_pes;
    rows->column = rows->domain + n_pes;
    for (int pe = 0; pe < n_pes; pe++) {
        rows->all[pe] = pe;
        rows->domain[pe] = pe / per_domain;
        rows->column[(size_t)(pe % per_domain) * (size_t)n_domains + (size_t)(pe / per_domain)] = pe;
    }
    return 0;
}

void sim_rows_free(struct sim_rows *rows)
{
    free(rows->all);
    *rows = (struct sim_rows){0};
}

int sim_rows_join(const struct sim_rows *rows, struct wsh_team *team, struct wsh_coll *coll, char *base,
                  char **peer)
{
    int me = team->my_pe, n = rows->n_pes, first;

    coll->n_domains = rows->n_domains;
    coll->my_domain = me / rows->per_domain;
    first = coll->my_domain * rows->per_domain;
    coll->all = rows->all;
    coll->domain = rows->domain;
    coll->leader = rows->column;
    coll->local = rows->all + first;
    coll->n_local = n - first < rows->per_domain ? n - first : rows->per_domain;
    coll->my_local = me - first;
    coll->column = rows->column + (size_t)coll->my_local * (size_t)rows->n_domains;
    coll->peer = peer;
    coll->area = wsh_sync_area_of_job(team->job, n);
    coll->base = base;
    return wsh_coll_settle(team, coll, rows->n_domains == 1 || n % rows->per_domain == 0, true);
}

void sim_rows_leave(struct wsh_coll *coll)
{
    wsh_steps_free(&coll->steps);
}
