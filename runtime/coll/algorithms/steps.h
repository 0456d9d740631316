/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a sync among members that share memory: whose words a member reads before it shows its next one. */
#ifndef WSH_COLL_STEPS_H
#define WSH_COLL_STEPS_H

#include <stddef.h>

#define WSH_STEPS_ARITY 4 /* at least */
#define WSH_STEPS_MAX 32

/* Member me shows word[i], then reads the same word of member[end[i - 1]] to member[end[i] - 1]. */
struct wsh_steps {
    int n;
    int word[WSH_STEPS_MAX], end[WSH_STEPS_MAX];
    int *member; /* malloc'd */
};

/* Members, each in a group with those whose caches are near; in a step a member reads at most `arity` - 1 words. */
struct wsh_steps_plan {
    int n, arity;
    const int *group; /* [n], 0, 1 … in the order of their first members */
};

/*
 * Fills the steps of member `me`. After them each member has read, directly or through others, a word of every other.
 * 0 or -ENOMEM.
 */
int wsh_steps_make(struct wsh_steps *steps, const struct wsh_steps_plan *plan, int me);
void wsh_steps_free(struct wsh_steps *steps);

/* No plan of n members takes more words. */
int wsh_steps_words(int n);

#endif
