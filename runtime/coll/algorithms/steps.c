/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans a sync by reading: first inside each group of near members, then across groups, all at once or in rounds. */
#include "runtime/coll/algorithms/steps.h"

#include <errno.h>
#include <stdlib.h>

/* Rounds in which each reads at most arity - 1 others until all n are known. */
static int rounds_of(int n, int arity)
{
    int rounds = 0;

    for (long known = 1; known < n; known *= arity)
        rounds++;
    return rounds;
}

/* The smallest arity with the same number of rounds: fewest words per round. */
static int arity_least(int n, int arity)
{
    int rounds = rounds_of(n, arity);

    arity = arity > n ? n : arity;
    while (arity > 2 && rounds_of(n, arity - 1) == rounds)
        arity--;
    return arity;
}

/* Members of one group, or one member of each group, in a circle. */
struct circle {
    const struct wsh_steps_plan *plan;
    int n, at;  /* members of the circle, and my position */
    int group;  /* the group whose members these are; -1: the circle has one member of each group */
    int number; /* with group -1: the number of the member in its group, modulo the group's size */
};

static int group_size(const struct wsh_steps_plan *plan, int group)
{
    int size = 0;

    for (int i = 0; i < plan->n; i++)
        size += plan->group[i] == group;
    return size;
}

static int group_member(const struct wsh_steps_plan *plan, int group, int number)
{
    int i = 0;

    for (number %= group_size(plan, group);; i++)
        if (plan->group[i] == group && !number--)
            return i;
}

static int circle_member(const struct circle *circle, int index)
{
    return circle->group < 0 ? group_member(circle->plan, index, circle->number)
                             : group_member(circle->plan, circle->group, index);
}

/* In each round those behind me whose words stand for as many members as mine does, side by side. */
static void circle_steps(struct wsh_steps *steps, const struct circle *circle, int word)
{
    int arity = arity_least(circle->n, circle->plan->arity), used = steps->n ? steps->end[steps->n - 1] : 0;

    for (long known = 1; known < circle->n; known *= arity) {
        for (int k = 1; k < arity && k * known < circle->n; k++)
            steps->member[used++] =
                circle_member(circle, (int)((circle->at - k * known + circle->n) % circle->n));
        steps->word[steps->n] = word++;
        steps->end[steps->n++] = used;
    }
}

static int groups_count(const struct wsh_steps_plan *plan)
{
    int n = 0;

    for (int i = 0; i < plan->n; i++)
        n = plan->group[i] >= n ? plan->group[i] + 1 : n;
    return n;
}

static int number_in_group(const struct wsh_steps_plan *plan, int me)
{
    int number = 0;

    for (int i = 0; i < me; i++)
        number += plan->group[i] == plan->group[me];
    return number;
}

int wsh_steps_make(struct wsh_steps *steps, const struct wsh_steps_plan *plan, int me)
{
    int groups = groups_count(plan), number = number_in_group(plan, me), inside = 0;

    *steps = (struct wsh_steps){.member = malloc((size_t)plan->n * sizeof(int))};
    if (!steps->member)
        return -ENOMEM;
    for (int g = 0; g < groups; g++) {
        int rounds = rounds_of(group_size(plan, g), plan->arity);

        inside = rounds > inside ? rounds : inside;
    }
    circle_steps(steps, &(struct circle){plan, group_size(plan, plan->group[me]), number, plan->group[me], 0},
                 0);
    circle_steps(steps, &(struct circle){plan, groups, plan->group[me], -1, number}, inside);
    return 0;
}

void wsh_steps_free(struct wsh_steps *steps)
{
    free(steps->member);
    steps->member = NULL;
}

/* Of the largest group and of the groups: neither is more than n. */
int wsh_steps_words(int n)
{
    return 2 * rounds_of(n, WSH_STEPS_ARITY);
}
