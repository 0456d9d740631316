/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How survivors agree: by memory that outlives each of them (wsh_boot_ops.board). Each writes what it offers to a row.
 * Whoever finds the rows of all members that live, written under the present count of failures, writes the decision,
 * one word for each team, by compare-and-swap: so the first one counts, and any of them may die meanwhile.
 */
#ifndef WSH_MEETING_H
#define WSH_MEETING_H

#include "runtime/coll/memory/pool.h"
#include "runtime/team/team.h"

/* What a PE offers. */
struct wsh_offer {
    bool ok;
    uint64_t finished;            /* allocations */
    uint64_t map[WSH_POOL_WORDS]; /* units that are free here */
};

/* What all survivors get alike. */
struct wsh_decision {
    uint32_t
        generation; /* survivors are the members that had not failed when the count of failures was this */
    bool ok;        /* of all */
    int unit;       /* the first of a row of units that are free at all; -1: there is none */
    int leader;     /* the first PE of those with the fewest allocations */
};

/* A step of the job. Nothing where a failure ends it. */
int wsh_meeting_open(struct wsh_job *job);

/*
 * Collective over the members of `team` that live: waits for them. The unit is the first of a row for a team of so
 * many, looked for from `from` on. 0, or -EOWNERDEAD after one line: one has left.
 */
int wsh_meeting_hold(struct wsh_team *team, const struct wsh_offer *offer, int from,
                     struct wsh_decision *decision);

/* Those that a decision means: their numbers in the world, malloc'd; NULL without memory. */
int *wsh_meeting_survivors(const struct wsh_team *team, const struct wsh_decision *decision, int *n);

/* In shmem_finalize: this PE has come, and what it has sent is complete; and waits until all that live have. */
void wsh_meeting_come(struct wsh_job *job);
int wsh_meeting_await_all(struct wsh_job *job);

#endif
