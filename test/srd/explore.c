/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small programs over the real ordering engine keep every rule in every order in which an unordered network may
 * deliver, complete and tell: every state that can be reached is visited. WSH_TEST_LONG=1 tries all programs up to a
 * length.
 * `explore PROGRAM [PROGRAM]` tries one, with all settings.
 */
#include "test/srd/world.h"

#include "test/common/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct search search = {.world = &world,
                               .steps = WORLD_STEPS,
                               .step = world_step,
                               .at_end = world_check_end,
                               .wrong = &world_wrong};
static uint64_t all_states, all_steps, all_programs;
static int deepest;

static const struct settings plenty = {"plenty", 8, 8, 8, 8, 8, .imm = true, .no_stall = true};
static const struct settings one_each = {"one credit of each", 1, 2, 1, 1, 2, .imm = true};
static const struct settings shared = {
    "two contexts share two credits", 2, 2, 1, 2, 4, .imm = true, .one_link = true};
static const struct settings no_imm = {"no immediate data", 8, 8, 8, 8, 8, .imm = false};
static const struct settings wrap = {"numbers wrap", 3, 4, 2, 2, 4, .imm = true, .wrap = true};
static const struct settings full = {"provider refuses once", 4, 4, 2, 2, 4, .imm = true, .full = true};
static const struct settings deaf = {"control: no fence", 8, 8, 8, 8, 8, .imm = true, .deaf_fence = true};
static const struct settings *const every[] = {&plenty, &one_each, &shared, &no_imm, &wrap, &full, NULL};
static const struct settings *const scarce[] = {&one_each, &shared, &wrap, NULL};
static const struct settings *const tight[] = {&one_each, &wrap, NULL};
static const struct settings *const some[] = {&plenty, &one_each, &no_imm, NULL};

static void print_trace(void)
{
    char name[80];

    for (int i = 0; i < SEARCH_DEPTH_MAX && search.trace[i] >= 0; i++) {
        world_step_name(search.trace[i], name, sizeof name);
        printf("  %2d %s\n", i, name);
    }
}

/* NULL if all is well in every order, else what is wrong in one. */
static const char *try_program(const struct settings *settings, const char *first, const char *second)
{
    const char *const program[SOURCES] = {first, second};
    const char *wrong;

    world_wrong = NULL;
    world_init(settings, program);
    search.size = world_size;
    search_run(&search);
    all_states += search.states;
    all_steps += search.taken;
    deepest = search.deepest > deepest ? search.deepest : deepest;
    all_programs++;
    wrong = world_wrong;
    world_wrong = NULL;
    return wrong;
}

static void must_hold(const struct settings *const *settings, const char *first, const char *second)
{
    for (; *settings; settings++) {
        const char *wrong = try_program(*settings, first, second);

        if (!wrong)
            continue;
        printf("VIOLATION: %s\nprograms \"%s\" and \"%s\", %s:\n", wrong, first, second, (*settings)->name);
        print_trace();
        exit(1);
    }
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void report(const char *what)
{
    static uint64_t states, steps, programs;
    static double last;
    double now = seconds();

    if (what)
        printf("%-58s %9llu programs %12llu states %12llu steps %7.1f s  0 violations\n", what,
               (unsigned long long)(all_programs - programs), (unsigned long long)(all_states - states),
               (unsigned long long)(all_steps - steps), now - last);
    fflush(stdout);
    states = all_states;
    steps = all_steps;
    programs = all_programs;
    last = now;
}

/*
 * The specification's table: what is before the fence, what behind it. `ordered`: the order is demanded, so that a
 * search without the fence must find it broken (if not, the search would prove nothing). Gets before the fence order
 * nothing; a blocking one is complete when it returns.
 */
static void ordering_table(void)
{
    static const char before[] = "wcCpasSlfFgn", after[] = "wcCpasSlfFgn";
    char program[8];
    int rows = 0, broken = 0;

    for (const char *a = before; *a; a++) {
        for (const char *b = after; *b; b++) {
            bool ordered = !strchr("gnf", *a) && *b != 'n';
            const char *wrong;

            snprintf(program, sizeof program, "%c|%cq", *a, *b);
            must_hold(every, program, "");
            wrong = try_program(&deaf, program, "");
            if (!wrong != !ordered) {
                printf("\"%s\" without its fence: %s\n", program, wrong ? wrong : "no violation found");
                exit(1);
            }
            rows++;
            broken += ordered;
        }
    }
    printf("# %d pairs before | after a fence; without the fence %d are found broken, %d need no order\n",
           rows, broken, rows - broken);
    report("every row of the ordering table");
}

/* Sequences in which a simple design goes wrong. */
static void known_cases(bool deep)
{
    static const char *const cases[] = {
        "w|gq",     "c|gq",  "p|gq",   "w|p|wq", "c|p|wq", "p|p|wq",   "a|wq",  "f|wq",  "F|wq",  "s|wq",
        "S|wq",     "l|wq",  "s|s|aq", "c|s|aq", "a|c|aq", "p|p|p|gq", "sc|aq", "cs|aq", "ca|aq", "wqc|aq",
        "c|a|c|aq", "ss|aq", "la|aq",  "ll|aq",  "a||wq",  "c||aq",    "aqwqa", NULL};

    for (const char *const *program = cases; *program; program++) {
        must_hold(every, *program, "");
        if (deep || strlen(*program) <= 4)
            must_hold(scarce, *program, "c|aq");
    }
    report("sequences that are easily got wrong, one and two sources");
}

/* All programs of n operations from `letters`, with and without a fence between any two. */
static void all_programs_of(const struct settings *const *settings, const char *letters, int n,
                            const char *other)
{
    size_t kinds = strlen(letters), total = 1;
    char program[16], what[80];

    for (int i = 0; i < n; i++)
        total *= kinds;
    for (size_t which = 0; which < total << (n - 1); which++) {
        size_t rest = which >> (n - 1), at = 0;

        for (int i = 0; i < n; i++, rest /= kinds) {
            program[at++] = letters[rest % kinds];
            if (i < n - 1 && which >> i & 1)
                program[at++] = '|';
        }
        program[at++] = 'q';
        program[at] = '\0';
        must_hold(settings, program, other);
    }
    snprintf(what, sizeof what, "all of %d from %s, fences or not%s%s", n, letters, *other ? ", beside " : "",
             other);
    report(what);
}

static void all_pairs(const char *letters)
{
    char first[8], second[8], what[80];

    for (const char *a = letters; *a; a++)
        for (const char *b = letters; *b; b++)
            for (const char *c = letters; *c; c++)
                for (const char *d = letters; *d; d++) {
                    snprintf(first, sizeof first, "%c|%cq", *a, *b);
                    snprintf(second, sizeof second, "%c|%cq", *c, *d);
                    must_hold(scarce, first, second);
                }
    snprintf(what, sizeof what, "two sources, each two of %s behind a fence", letters);
    report(what);
}

static void long_form(void)
{
    all_programs_of(every, "wcCpasSlfFgn", 3, "");
    all_programs_of(some, "wcasl", 4, "");
    all_programs_of(tight, "cas", 5, "");
    all_programs_of(scarce, "cas", 3, "s|aq");
    all_pairs("wcaslf");
}

int main(int argc, char **argv)
{
    const char *longer = getenv("WSH_TEST_LONG");

    report(NULL);
    if (argc > 1) {
        must_hold(every, argv[1], argc > 2 ? argv[2] : "");
        report(argv[1]);
    } else {
        ordering_table();
        known_cases(longer != NULL);
        all_programs_of(every, "wcaslg", 2, "");
        all_programs_of(some, "wcasl", 3, "");
        if (longer)
            long_form();
    }
    printf("explored %llu states (%llu steps, at most %d deep) of %llu programs: 0 violations\n",
           (unsigned long long)all_states, (unsigned long long)all_steps, deepest,
           (unsigned long long)all_programs);
    return 0;
}
