/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small programs over the real ordering engine keep every rule in every order in which an unordered network may
 * deliver, complete and tell: every state that can be reached is visited. WSH_TEST_LONG=1 tries all programs up to a
 * length.
 * `explore PROGRAM [PROGRAM]` tries one, with all settings.
 */
#include "test/srd/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH_MAX = 160 };

static uint64_t *table; /* fingerprints of the states visited, 0: free */
static size_t table_size, table_used;
static struct world stack[DEPTH_MAX];
static int trace[DEPTH_MAX];
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

static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15) * (b ^ 0xd6e8feb86659fd93);

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Four lanes, because one waits for each of its multiplications. */
static uint64_t fingerprint(void)
{
    const unsigned char *bytes = (const unsigned char *)&world;
    uint64_t lane[4] = {1, 2, 3, 4}, part[8] = {0};
    size_t at = 0;

    for (; at + sizeof part <= world_size; at += sizeof part) {
        memcpy(part, bytes + at, sizeof part);
        for (int i = 0; i < 4; i++)
            lane[i] = mix(lane[i] ^ part[i], part[i + 4]) + lane[i];
    }
    memset(part, 0, sizeof part);
    memcpy(part, bytes + at, world_size - at);
    for (int i = 0; i < 4; i++)
        lane[i] = mix(lane[i] ^ part[i], part[i + 4]) + lane[i];
    lane[0] = mix(mix(lane[0], lane[1]), mix(lane[2], lane[3]));
    return lane[0] ? lane[0] : 1;
}

static bool insert(uint64_t *into, size_t size, uint64_t print)
{
    size_t at = print & (size - 1);

    while (into[at] && into[at] != print)
        at = (at + 1) & (size - 1);
    if (into[at])
        return false;
    into[at] = print;
    return true;
}

static void table_reset(void)
{
    free(table);
    table_size = 1024;
    table_used = 0;
    table = calloc(table_size, sizeof *table);
}

static void table_grow(void)
{
    uint64_t *larger = calloc(2 * table_size, sizeof *larger);

    if (!larger)
        exit(99);
    for (size_t i = 0; i < table_size; i++) {
        if (table[i])
            insert(larger, 2 * table_size, table[i]);
    }
    free(table);
    table = larger;
    table_size *= 2;
}

static bool visited(void)
{
    if (2 * table_used >= table_size)
        table_grow();
    if (!insert(table, table_size, fingerprint()))
        return true;
    table_used++;
    return false;
}

static bool explore(int depth)
{
    bool moved = false;

    if (depth >= DEPTH_MAX)
        world_wrong = "runs for ever";
    if (world_wrong)
        return false;
    if (visited())
        return true;
    if (depth > deepest)
        deepest = depth;
    memcpy(&stack[depth], &world, world_size);
    for (int step = 0; step < WORLD_STEPS; step++) {
        if (!world_step(step))
            continue;
        moved = true;
        all_steps++;
        trace[depth] = step;
        if (!explore(depth + 1))
            return false;
        memcpy(&world, &stack[depth], world_size);
    }
    trace[depth] = -1;
    if (!moved)
        world_check_end();
    return !world_wrong;
}

static void print_trace(void)
{
    char name[80];

    for (int i = 0; i < DEPTH_MAX && trace[i] >= 0; i++) {
        world_step_name(trace[i], name, sizeof name);
        printf("  %2d %s\n", i, name);
    }
}

/* NULL if all is well in every order, else what is wrong in one. */
static const char *try_program(const struct settings *settings, const char *first, const char *second)
{
    const char *const program[SOURCES] = {first, second};
    const char *wrong;

    memset(trace, 0xff, sizeof trace);
    table_reset();
    world_wrong = NULL;
    world_init(settings, program);
    explore(0);
    all_states += table_used;
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
    free(table);
    return 0;
}
