/* SPDX-License-Identifier: BSD-3-Clause */
/* After the steps of a sync every member has heard of every other, whatever the groups and the arity. */
#include "runtime/coll/algorithms/steps.h"

#include "test/common/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX 130
#define WORDS_MAX 32

/* All members of a sync: which step each is in, what it knows, and what it knew when it showed each word. */
struct play {
    const struct wsh_steps_plan *plan;
    struct wsh_steps steps[MEMBERS_MAX];
    int at[MEMBERS_MAX];
    bool knows[MEMBERS_MAX][MEMBERS_MAX], shown[MEMBERS_MAX][WORDS_MAX][MEMBERS_MAX];
    double time[MEMBERS_MAX], shown_at[MEMBERS_MAX][WORDS_MAX]; /* in lines that change cores */
};

static struct play play;

/* The first read of a step takes as long as a line; those that follow come while the first is on its way. */
#define LINE_NEXT 0.15

static void word_show(int me)
{
    const struct wsh_steps *steps = &play.steps[me];
    int word = steps->word[play.at[me]];

    CU_ASSERT_FATAL(word < WORDS_MAX && word < wsh_steps_words(play.plan->n));
    if (play.shown[me][word][me])
        return;
    play.time[me] += 1;
    play.shown_at[me][word] = play.time[me];
    memcpy(play.shown[me][word], play.knows[me], sizeof play.knows[me]);
}

/* False while a word of the step is not shown. */
static bool step_take(int me)
{
    const struct wsh_steps *steps = &play.steps[me];
    int i = play.at[me], begin = i ? steps->end[i - 1] : 0, word = steps->word[i];

    word_show(me);
    for (int k = begin; k < steps->end[i]; k++)
        if (!play.shown[steps->member[k]][word][steps->member[k]])
            return false;
    for (int k = begin; k < steps->end[i]; k++) {
        int from = steps->member[k];

        CU_ASSERT(from >= 0 && from < play.plan->n && from != me);
        for (int who = 0; who < play.plan->n; who++)
            play.knows[me][who] |= play.shown[from][word][who];
        if (play.time[me] < play.shown_at[from][word])
            play.time[me] = play.shown_at[from][word];
    }
    play.time[me] += 1 + LINE_NEXT * (steps->end[i] - begin - 1);
    play.at[me]++;
    return true;
}

static bool all_know_all(void)
{
    for (int me = 0; me < play.plan->n; me++)
        for (int who = 0; who < play.plan->n; who++)
            if (!play.knows[me][who])
                return false;
    return true;
}

/* Plays until no member can go on; the lines on the longest path, or -1 where some member knows too little. */
static double play_through(const struct wsh_steps_plan *plan)
{
    double longest = 0;
    bool moved = true;

    memset(&play, 0, sizeof play);
    play.plan = plan;
    for (int me = 0; me < plan->n; me++) {
        CU_ASSERT_FATAL(wsh_steps_make(&play.steps[me], plan, me) == 0 && play.steps[me].n <= WSH_STEPS_MAX);
        play.knows[me][me] = true;
    }
    while (moved) {
        moved = false;
        for (int me = 0; me < plan->n; me++)
            if (play.at[me] < play.steps[me].n)
                moved |= step_take(me);
    }
    for (int me = 0; me < plan->n; me++) {
        longest = play.time[me] > longest ? play.time[me] : longest;
        wsh_steps_free(&play.steps[me]);
    }
    return all_know_all() ? longest : -1;
}

static void every_member_hears_of_every_other(void)
{
    static const int arities[] = {4, 5, 8, 16, 1 << 30};
    int group[MEMBERS_MAX];

    srand(1);
    for (int n = 1; n <= MEMBERS_MAX; n += n < 40 ? 1 : 15)
        for (size_t a = 0; a < sizeof arities / sizeof *arities; a++)
            for (int groups = 1; groups <= n && groups <= 9; groups += 2) {
                const struct wsh_steps_plan plan = {n, arities[a], group};

                for (int i = 0; i < n; i++)
                    group[i] = i < groups ? i : rand() % groups;
                CU_ASSERT(play_through(&plan) >= 0);
            }
}

/* A member that shows nothing is waited for: nobody else ends. */
static void nobody_ends_without_a_member(void)
{
    int group[16] = {0};
    const struct wsh_steps_plan plan = {16, 4, group};

    memset(&play, 0, sizeof play);
    play.plan = &plan;
    for (int me = 0; me < 16; me++)
        CU_ASSERT_FATAL(wsh_steps_make(&play.steps[me], &plan, me) == 0);
    for (int round = 0; round < 16; round++)
        for (int me = 0; me < 16; me++)
            if (me != 5 && play.at[me] < play.steps[me].n)
                step_take(me);
    for (int me = 0; me < 16; me++) {
        CU_ASSERT(play.at[me] < play.steps[me].n);
        wsh_steps_free(&play.steps[me]);
    }
}

/* Lines on the longest path, by members, arity and size of the groups: for whoever chooses the arity. */
static void lines_are_counted(void)
{
    static const int members[] = {2, 4, 8, 16, 32, 64, 128}, arities[] = {4, 8, 16, 32, 128},
                     sizes[] = {128, 8};
    int group[MEMBERS_MAX];

    for (size_t m = 0; m < sizeof members / sizeof *members; m++)
        for (size_t s = 0; s < 2; s++) {
            printf("# %3d members in groups of %3d, lines by arity:", members[m], sizes[s]);
            for (size_t a = 0; a < sizeof arities / sizeof *arities; a++) {
                const struct wsh_steps_plan plan = {members[m], arities[a], group};
                double lines;

                for (int i = 0; i < members[m]; i++)
                    group[i] = i / sizes[s];
                lines = play_through(&plan);
                CU_ASSERT(lines > 0 && lines < 2 * members[m] + 1);
                printf(" %d: %.1f", arities[a], lines);
            }
            printf("\n");
        }
}

const struct unit_test unit_tests[] = {
    {"every member hears of every other", every_member_hears_of_every_other},
    {"nobody ends without a member", nobody_ends_without_a_member},
    {"lines are counted", lines_are_counted},
    {NULL, NULL},
};
