/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings to the proxy keep every rule in every order in which stores may become visible and operations complete:
 * nothing is lost, torn or taken twice, a fence orders across rings, a quiet completes what came before it in all
 * rings, and nothing waits for ever. Producers that are broken on purpose are found.
 */
#include "test/device/ring_world.h"

#include <stdio.h>

static struct search search;
static uint64_t states, taken;

static const char *run(enum mutant broken, const char *a, const char *b, const char *c)
{
    const char *const program[PRODUCERS] = {a, b, c};

    world_begin(&search, broken, program);
    search_run(&search);
    states += search.states;
    taken += search.taken;
    return world_wrong;
}

static int must_hold(const char *a, const char *b, const char *c)
{
    uint64_t before = states;
    const char *found = run(NONE, a, b, c);

    printf("# %-6s %-6s %-6s %9llu states: %s\n", a, b, c, (unsigned long long)(states - before),
           found ? found : "holds");
    for (int i = 0; found && i < SEARCH_DEPTH_MAX && search.trace[i] >= 0; i++)
        printf("#   step %d\n", search.trace[i]);
    fflush(stdout);
    return found != NULL;
}

static int must_break(enum mutant broken, const char *what, const char *a, const char *b, const char *c)
{
    const char *found = run(broken, a, b, c);

    printf("# %s: %s\n", what, found ? found : "NOT FOUND");
    return !found;
}

int main(void)
{
    int failed = 0;

    failed += must_hold("ppppp", "", "");
    failed += must_hold("dwd", "", "");
    failed += must_hold("pg", "", "");
    failed += must_hold("pw", "", "g");
    failed += must_hold("pF", "", "");
    failed += must_hold("pFp", "", "");
    failed += must_hold("pS", "WFp", "");
    failed += must_hold("pFS", "Wp", "");
    failed += must_hold("pQ", "", "");
    failed += must_hold("pS", "WQ", "");
    failed += must_hold("p", "WQ", "pS");
    failed += must_hold("pQ", "Q", "");
    failed += must_hold("p", "WFp", "pS");
    failed += must_hold("gS", "WQ", "");
    failed += must_break(NO_FENCE_WAIT, "a fence that does not wait for the proxy", "pS", "WFp", "");
    failed += must_break(ASKS_ONCE, "a quiet that is asked once", "p", "WQ", "pS");
    failed += must_break(OWN_RING_QUIET, "a quiet of the caller's ring alone", "pS", "WQ", "");
    failed += must_break(NO_PAYLOAD_RELEASE, "a payload that is not released", "p", "", "");
    printf("explored %llu states, %llu steps\n", (unsigned long long)states, (unsigned long long)taken);
    return failed != 0;
}
