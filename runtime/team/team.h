/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams: which PEs are members, how a team is split off from another, and how all members agree on it. */
#ifndef WSH_TEAM_H
#define WSH_TEAM_H

#include "runtime/coll/memory/sync_area.h"

#include <stdbool.h>
#include <stdint.h>

struct wsh_job;
struct wsh_coll;

struct wsh_team {
    struct wsh_job *job;           /* NULL: the team is closed */
    int my_pe, n_pes;              /* in the team; my_pe < 0 = this PE is no member */
    int *members;                  /* [n_pes] global PE numbers */
    struct wsh_coll *coll;         /* state of its collectives (coll/) */
    int num_contexts;              /* as configured: a wish, no limit */
    struct wsh_team *next, **link; /* split teams: in job->teams */
    int stride;                    /* of an old active set; 0 = not one */
    bool broken;                   /* a member has failed: its collectives return nonzero */
    bool shrunk;                   /* that, and no member that lives writes to its sync area any more */
    int number;                    /* WSH_TEAM_WORLD …: alike on all members */
    uint64_t calls;                /* collectives called on it, by one thread at a time */
};

/*
 * Numbers of teams: their handles less 1. A split team has WSH_TEAM_NUMBERS and the number of its sync area's first
 * unit.
 */
enum { WSH_TEAM_WORLD, WSH_TEAM_SHARED, WSH_TEAM_NODE, WSH_TEAM_SAME_MYPE_NODE, WSH_TEAM_NUMBERS };

/* The team of this number, or NULL. */
struct wsh_team *wsh_team_by_number(struct wsh_job *job, int number);

/* Predefined teams. Takes over `members` (malloc'd). Symmetric words are reserved in the same order on all PEs. */
int wsh_team_init(struct wsh_team *team, struct wsh_job *job, int *members, int n_pes);
void wsh_team_fini(struct wsh_team *team);

/*
 * The pool of memory for teams, and the first of them: those of the PEs of a host, and of the PEs with the same number
 * on their host. Local: all PEs find the same. 0 or -ENOMEM (logged).
 */
int wsh_team_open_hosts(struct wsh_job *job);

/* Teams that were split off and are left at the end: local. */
void wsh_team_fini_all(struct wsh_job *job);

/* PE `pe` of `team` in the numbers of `other`, or -1. */
int wsh_team_translate(const struct wsh_team *team, int pe, const struct wsh_team *other);

/*
 * Splits, collective over `parent` with equal arguments. *team is the new team or NULL: not a member, or a failure,
 * which all PEs of the parent get alike: -EINVAL (no such PEs), -ENOMEM (logged).
 */
struct wsh_triplet {
    int start, stride, size;
};
int wsh_team_split_strided(struct wsh_team *parent, const struct wsh_triplet *triplet, int num_contexts,
                           struct wsh_team **team);
int wsh_team_split_list(struct wsh_team *parent, const int *pes, int n_pes, int num_contexts,
                        struct wsh_team **team);
int wsh_team_split_2d(struct wsh_team *parent, int xrange, const int num_contexts[2],
                      struct wsh_team *teams[2]);

/*
 * Teams by id: of PEs that know an id and their own numbers. One of them has made the id. Collective over the
 * members, each with its number below n_pes; a PE is in one at a time. *team, or -EINVAL (no such numbers), -ENOMEM.
 */
struct wsh_team_ids {
    uint64_t *arrived; /* symmetric: [pe] who has come here, and to which id */
    int32_t *members;  /* symmetric: the members of the team of an id of this PE */
    uint64_t *words;   /* symmetric: the answer, and two for the agreement on the team's memory */
    uint64_t serial;   /* ids made so far */
};
int wsh_team_ids_open(struct wsh_job *job);
uint64_t wsh_team_id_make(struct wsh_job *job);
int wsh_team_by_id(struct wsh_job *job, uint64_t id, int n_pes, int number, int num_contexts,
                   struct wsh_team **team);

/*
 * Collective over the members that live: *survivors is a team of them. Of the world, routines without a team run over
 * them from then on, and all have the same memory allocated. 0, or a negative errno that all get alike, after one line.
 */
int wsh_team_shrink(struct wsh_team *team, struct wsh_team **survivors);

/* Collective over the team, unless it is broken; closes the contexts that were created from it too. 0 or a final error
 * (logged). */
int wsh_team_destroy(struct wsh_team *team);

/*
 * The team behind an active set of the deprecated collectives; the first call for a set is collective over it and makes
 * the team, which stays. `psync`: symmetric, two words of zeros, zero again afterwards. -EINVAL: no such set; -ENOMEM.
 */
int wsh_team_of_active_set(struct wsh_job *job, const struct wsh_triplet *set, long *psync,
                           struct wsh_team **team);

#endif
