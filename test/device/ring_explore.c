/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings to the proxy keep every rule in every order in which stores may become visible and operations complete:
 * nothing is lost, torn or taken twice, a fence orders across rings, a quiet completes what came before it in all
 * rings, after a flush its sources have been read, and nothing waits for ever. Producers that are broken on purpose are
 * found.
 */
#include "test/device/ring_world.h"

#include <stdio.h>

static struct search search;
static uint64_t states, taken;

static const char *run(unsigned n_consumers, enum mutant broken, const char *a, const char *b, const char *c)
{
    const char *const program[PRODUCERS] = {a, b, c};

    world_begin(&search, n_consumers, broken, program);
    search_run(&search);
    states += search.states;
    taken += search.taken;
    return world_wrong;
}

static int must_hold(unsigned n_consumers, const char *a, const char *b, const char *c)
{
    uint64_t before = states;
    const char *found = run(n_consumers, NONE, a, b, c);

    printf("# %u: %-6s %-6s %-6s %9llu states: %s\n", n_consumers, a, b, c,
           (unsigned long long)(states - before), found ? found : "holds");
    for (int i = 0; found && i < SEARCH_DEPTH_MAX && search.trace[i] >= 0; i++)
        printf("#   step %d\n", search.trace[i]);
    fflush(stdout);
    return found != NULL;
}

static int must_break(unsigned n_consumers, enum mutant broken, const char *what, const char *a,
                      const char *b, const char *c)
{
    const char *found = run(n_consumers, broken, a, b, c);

    printf("# %s: %s\n", what, found ? found : "NOT FOUND");
    return !found;
}

int main(void)
{
    int failed = 0;

    failed += must_hold(1, "ppppp", "", "");
    failed += must_hold(1, "dwd", "", "");
    failed += must_hold(1, "pg", "", "");
    failed += must_hold(1, "pG", "", "");
    failed += must_hold(1, "ggggg", "", "");
    failed += must_hold(1, "pw", "", "g");
    failed += must_hold(1, "pF", "", "");
    failed += must_hold(1, "pFp", "", "");
    failed += must_hold(1, "pS", "WFp", "");
    failed += must_hold(1, "pFS", "Wp", "");
    failed += must_hold(1, "pQ", "", "");
    failed += must_hold(1, "pS", "WQ", "");
    failed += must_hold(1, "p", "WQ", "pS");
    failed += must_hold(1, "pQ", "Q", "");
    failed += must_hold(1, "pL", "", "");
    failed += must_hold(1, "pS", "WL", "");
    failed += must_hold(1, "p", "WL", "pS");
    failed += must_hold(1, "pL", "Q", "");
    failed += must_hold(1, "pL", "L", "");
    failed += must_hold(1, "p", "WFp", "pS");
    failed += must_hold(1, "gS", "WQ", "");
    failed += must_break(1, NO_FENCE_WAIT, "a fence that does not wait for the proxy", "pS", "WFp", "");
    failed += must_break(1, REQUESTS_ONCE, "a quiet that is asked once", "p", "WQ", "pS");
    failed += must_break(1, OWN_RING_QUIET, "a quiet of the caller's ring alone", "pS", "WQ", "");
    failed += must_break(1, OWN_RING_QUIET, "a flush of the caller's ring alone", "pS", "WL", "");
    failed += must_break(1, REQUESTS_ONCE, "a flush that is asked once", "p", "WL", "pS");
    failed += must_break(1, NO_PAYLOAD_RELEASE, "a payload that is not released", "p", "", "");
    failed += must_hold(2, "pPp", "", "");
    failed += must_hold(2, "pFP", "P", "");
    failed += must_hold(2, "pPS", "WFpP", "");
    failed += must_hold(2, "p", "WFp", "pS");
    failed += must_hold(2, "pPQ", "", "");
    failed += must_hold(2, "pS", "WQ", "");
    failed += must_hold(2, "PS", "WQ", "");
    failed += must_hold(2, "P", "WQ", "S");
    failed += must_hold(2, "gPS", "WQ", "");
    failed += must_hold(2, "pPL", "", "");
    failed += must_hold(2, "PS", "WL", "");
    failed += must_break(2, BY_BLOCK, "two consumers that share a PE", "pS", "WFp", "");
    failed += must_break(2, OWN_RING_QUIET, "two consumers, a quiet of one alone", "PS", "WQ", "");
    printf("explored %llu states, %llu steps\n", (unsigned long long)states, (unsigned long long)taken);
    return failed != 0;
}
