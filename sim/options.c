/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the options of the simulator. */
#include "sim/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* X(field, type, "option", default, least, most, "help") */
#define SIM_NUMBERS(X)                                                                                \
    X(pes, int, "pes", 1024, 1, 1 << 20, "PEs")                                                       \
    X(per_host, int, "per-host", 8, 1, 1 << 20, "PEs of a host")                                      \
    X(nics, int, "nics", 4, 1, 64, "NICs of a host")                                                  \
    X(full, int, "full-hosts", 0, 0, 1 << 20, "that run in full, the others by their rates; 0: all")  \
    X(cores, int, "cores", 0, 0, 1024,                                                                \
      "of one machine on which all hosts are emulated; 0: a core for each PE")                        \
    X(sockets, int, "sockets", 0, 0, 1, "1: the library's choices of algorithms over sockets")        \
    X(len, size_t, "len", 8, 8, 1 << 30, "bytes: of a block, or of the whole array")                  \
    X(tokens, int, "tokens", 8, 1, 4096, "of a PE in a call of expert parallelism")                   \
    X(hidden, int, "hidden", 128, 128, 16384, "columns of a token's row, a multiple of 128")          \
    X(fp8, int, "fp8", 0, 0, 1, "1: rows are dispatched as FP8")                                      \
    X(threads, int, "threads", 0, 0, 1,                                                               \
      "1: a progress thread of each PE works while it computes, and begins long requests")            \
    X(nic_counts, int, "nic-counts", 0, 0, 1,                                                         \
      "1: the NIC counts a counted put, which is one write; 0: a CPU of the target does")             \
    X(rounds, int, "rounds", 5, 1, 1 << 20, "calls")                                                  \
    X(seed, uint64_t, "seed", 1, 0, INT64_MAX, "of all that is random")                               \
    X(seeds, uint64_t, "seeds", 0, 0, INT64_MAX, "soak: so many seeds, each with a shape of its own") \
    X(window, uint32_t, "window", 0, 0, 256,                                                          \
      "messages of a flow under way, a power of two; 0: the library's")                               \
    X(ops, uint32_t, "ops", 0, 0, 1 << 20, "operations of a PE under way; 0: the library's")          \
    X(receives, uint32_t, "receives", 0, 0, 1 << 30, "posted by a PE; 0: the library's")              \
    X(stack, size_t, "stack", 131072, 16384, 1 << 30, "bytes of a PE's stack")

void sim_options_default(struct sim_options *set)
{
    *set = (struct sim_options){.program = "barrier"};
#define SIM_DEFAULT(field, type, option, def, least, most, help) set->field = def;
    SIM_NUMBERS(SIM_DEFAULT)
#undef SIM_DEFAULT
#define SIM_DEFAULT(field, option, def, help) set->field = def;
    SIM_COSTS(SIM_DEFAULT)
#undef SIM_DEFAULT
}

static void help_print(void)
{
    printf("usage: sim [--run WORDS] [options]\n"
           "Runs the library's own collectives and flow control in a simulated job.\n\n"
           "  --run WORDS      of: sync barrier broadcast fcollect collect alltoall reduce scan put bruck "
           "requests exchanges gpu-whole gpu-slices "
           "decode prefill dispatch combine, with commas;\n"
           "                   each is a run of its own, or, in a soak, all of them one program [barrier]\n"
           "  --algo WORD      another algorithm than choice.c has, of a sync: of the leaders "
           "(warpshmem-info --collectives)\n"
           "  --skew NS        PEs enter calls so far apart [0]\n"
           "  --mutant WORD    lost, early or window: a fault which the run must find\n"
           "  --json           a line of JSON for each run, instead of a table\n");
#define SIM_HELP(field, type, option, def, least, most, help) \
    printf("  --%-14s %s [%ld]\n", option, help, (long)def);
    SIM_NUMBERS(SIM_HELP)
#undef SIM_HELP
    printf("Costs in nanoseconds:\n");
#define SIM_HELP(field, option, def, help) printf("  --%-14s %s [%g]\n", option, help, (double)def);
    SIM_COSTS(SIM_HELP)
#undef SIM_HELP
}

/* True: the option was of this kind; a bad value ends the program. */
static bool number_read(struct sim_options *set, const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);

#define SIM_READ(field, type, name, def, least, most, help)                                             \
    if (!strcmp(option, name)) {                                                                        \
        if (*end || value < (double)(least) || value > (double)(most)) {                                \
            fprintf(stderr, "sim: --%s %s: give a number from %ld to %ld\n", name, text, (long)(least), \
                    (long)(most));                                                                      \
            exit(2);                                                                                    \
        }                                                                                               \
        set->field = (type)value;                                                                       \
        return true;                                                                                    \
    }
    SIM_NUMBERS(SIM_READ)
#undef SIM_READ
#define SIM_READ(field, name, def, help)                \
    if (!strcmp(option, name) && !*end && value >= 0) { \
        set->field = value;                             \
        return true;                                    \
    }
    SIM_COSTS(SIM_READ)
#undef SIM_READ
    return false;
}

static bool word_read(struct sim_options *set, const char *option, const char *text)
{
    static const char *const mutants[SIM_MUTANTS] = {"none", "lost", "early", "window"};

    if (!strcmp(option, "run"))
        set->program = text;
    else if (!strcmp(option, "algo"))
        set->algo = text;
    else if (!strcmp(option, "skew"))
        set->skew = strtod(text, NULL);
    else if (!strcmp(option, "mutant")) {
        for (int i = 0; i < SIM_MUTANTS; i++)
            if (!strcmp(text, mutants[i])) {
                set->mutant = (enum sim_mutant)i;
                return true;
            }
        return false;
    } else
        return false;
    return true;
}

int sim_options_read(struct sim_options *set, int argc, char **argv)
{
    sim_options_default(set);
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];

        if (!strcmp(option, "--help")) {
            help_print();
            return 0;
        }
        if (!strcmp(option, "--json")) {
            set->json = true;
            continue;
        }
        if (strncmp(option, "--", 2) || i + 1 == argc ||
            !(word_read(set, option + 2, argv[i + 1]) || number_read(set, option + 2, argv[i + 1]))) {
            fprintf(stderr, "sim: %s %s is not an option; see sim --help\n", option,
                    i + 1 < argc ? argv[i + 1] : "");
            return 2;
        }
        i++;
    }
    if (set->hidden % 128) {
        fprintf(stderr, "sim: --hidden %d: give a multiple of 128\n", set->hidden);
        return 2;
    }
    if (set->window & (set->window - 1)) {
        fprintf(stderr, "sim: --window %u: give a power of two\n", set->window);
        return 2;
    }
    return -1;
}
