/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the predefined teams that say which PEs share a host, in the first units of the pool of team memory. */
#include "runtime/team/team.h"

#include "runtime/coll/memory/pool.h"
#include "runtime/job/job.h"
#include "runtime/team/split.h"

#include <errno.h>
#include <stdlib.h>

/* The PEs of this PE's host, or the hosts' PEs with its number there; and how large such a team can be at any PE. */
struct lists {
    int *members, n, most;
};

/* numbers[pe]: how many PEs with lower numbers are on its host. */
static void numbers_find(const struct wsh_job *job, int *numbers, int *seen)
{
    for (int pe = 0; pe < job->n_pes; pe++)
        seen[pe] = 0;
    for (int pe = 0; pe < job->n_pes; pe++)
        numbers[pe] = seen[job->host[pe]]++;
}

static void lists_fill(const struct wsh_job *job, const int *numbers, struct lists *node, struct lists *same)
{
    for (int pe = 0; pe < job->n_pes; pe++) {
        if (job->host[pe] == job->host[job->my_pe])
            node->members[node->n++] = pe;
        if (numbers[pe] == numbers[job->my_pe])
            same->members[same->n++] = pe;
        node->most = numbers[pe] + 1 > node->most ? numbers[pe] + 1 : node->most;
        same->most += !numbers[pe]; /* so many hosts */
    }
}

static int lists_find(const struct wsh_job *job, struct lists *node, struct lists *same)
{
    size_t n = (size_t)job->n_pes;
    int *numbers = calloc(2 * n, sizeof *numbers);

    node->members = calloc(n, sizeof *node->members);
    same->members = calloc(n, sizeof *same->members);
    if (numbers && node->members && same->members) {
        numbers_find(job, numbers, numbers + n);
        lists_fill(job, numbers, node, same);
    } else {
        free(node->members);
        free(same->members);
        node->members = same->members = NULL;
    }
    free(numbers);
    return node->members ? 0 : -ENOMEM;
}

/* At the pool's next units, alike on all PEs: teams of one kind have no PE in common, so one place serves all. */
static struct wsh_team *open_next(struct wsh_job *job, const struct lists *list, uint64_t *map, int number)
{
    size_t len = wsh_sync_area_of_job(job, list->most).len;
    struct wsh_team *team = wsh_team_open(job, list->members, list->n);
    int unit = wsh_pool_find(&job->pool, map, len, 0);

    if (!team || unit < 0 || !wsh_pool_take(&job->pool, unit, len)) {
        wsh_team_close(team);
        return NULL;
    }
    wsh_team_attach(team, unit);
    team->number = number;
    job->numbered[unit] = NULL;
    return team;
}

int wsh_team_open_hosts(struct wsh_job *job)
{
    struct lists node = {0}, same = {0};
    size_t least = 4 * WSH_SYNC_AREA_LINE, more;
    uint64_t map[WSH_POOL_WORDS];
    int rc = lists_find(job, &node, &same);

    if (rc)
        return rc;
    /* The program's share stays what it asks for; each of the two wastes less than two units. */
    more = wsh_sync_area_of_job(job, node.most).len + wsh_sync_area_of_job(job, same.most).len;
    more += 4 * (least + (job->env.team_memory + more) / WSH_POOL_UNITS);
    rc = wsh_pool_open(&job->pool, &job->heap, job->env.team_memory + more, least);
    if (rc) {
        free(node.members);
        free(same.members);
        return rc;
    }
    wsh_pool_read(&job->pool, map);
    job->node = open_next(job, &node, map, WSH_TEAM_NODE);
    job->same_number = open_next(job, &same, map, WSH_TEAM_SAME_MYPE_NODE);
    return job->node && job->same_number ? 0 : -ENOMEM;
}
