/* SPDX-License-Identifier: BSD-3-Clause */
/* oshrun's command line. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/args.h"

#include "bootstrap/oshrun/environ.h"
#include "bootstrap/oshrun/io.h"
#include "bootstrap/oshrun/launchers/foreign_options.h"
#include "base/env/spell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char wsh_args_help[] =
    "Usage: oshrun -n N [options] [--] program [arguments]\n"
    "Runs N PEs (processes) of an OpenSHMEM program.\n"
    "\n"
    "  -n, -np N               number of PEs\n"
    "  -x VAR[=value]          give the PEs the environment variable VAR (may be repeated)\n"
    "  -H, --host A[:n],B[:n]  hosts to run on, with PEs a host\n"
    "  --hostfile FILE         the same from a file, one `host [slots=n]` a line\n"
    "  --bind HOW              bind each PE: none (default), hwthread, core, numa or socket\n"
    "  --tag-output            begin each line of output with its PE, as in `[3] text`\n"
    "  --timestamp             begin each line of output with the time\n"
    "  --output-filename NAME  write output to NAME.<PE>.out and NAME.<PE>.err, or to <PE>.out and\n"
    "                          <PE>.err in NAME if NAME is a folder or ends in a slash\n"
    "  --nvtx                  show each call as an NVTX range, for Nsight Systems\n"
    "  --trace FILE            write what every PE did and when to FILE, for ui.perfetto.dev\n"
    "  --nodes-emulated N      spread the PEs over N emulated hosts of this machine\n"
    "  --emulate-efa[=PROFILE] give the PEs an emulated EFA device to talk through, with the NICs of a\n"
    "                          PE of PROFILE: " WSH_EMULATE_PROFILES " (default " WSH_EMULATE_DEFAULT ")\n"
    "  --gdb[=PE]              at a terminal: gdb of that PE (default 0), to type in; else every PE, or "
    "that\n"
    "                          one, runs under gdb, which prints the stacks where it crashes\n"
    "  --wrap CMD              put CMD before the program, as in --wrap 'valgrind "
    "--log-file=vg.%q{SHMEM_PE}'\n"
    "  --kill-wait SECONDS     kill PEs that still run so long after a SIGTERM was passed on (default 30)\n"
    "  --on-pe-failure HOW     what the failure of a PE means for the others: abort (default) or continue\n"
    "  --top                   show what the PEs do: whom each waits for, rates, every second on a\n"
    "                          terminal, else in a line every 10 seconds\n"
    "  -v, --verbose           say what is started and how\n"
    "  --help, --version\n"
    "\n"
    "Standard input goes to PE 0. The exit status is that of the first PE that failed, 128 + its\n"
    "signal, or the status given to shmem_global_exit. SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2,\n"
    "SIGTSTP and SIGCONT are passed on to the PEs; a second SIGINT or SIGTERM kills them. So does\n"
    "--kill-wait after a SIGTERM, and 2 seconds after one while no PE has finished shmem_init.\n"
    "\n"
    "With other hosts, or inside a Slurm allocation, srun, prterun or mpirun is started instead, with\n"
    "the options translated; OSHRUN_LAUNCHER=<name or path> chooses which, OSHRUN_LAUNCHER=local none.\n";

enum option {
    OPT_PES,
    OPT_EXPORT,
    OPT_HOSTS,
    OPT_HOSTFILE,
    OPT_BIND,
    OPT_TAG,
    OPT_TIME,
    OPT_OUTPUT,
    OPT_NVTX,
    OPT_TRACE,
    OPT_NODES,
    OPT_EMULATE,
    OPT_GDB,
    OPT_WRAP,
    OPT_KILL_WAIT,
    OPT_SURVIVE,
    OPT_TOP,
    OPT_VERBOSE,
    OPT_HELP,
    OPT_VERSION
};

static const struct {
    const char *name;
    enum option option;
    const char *example; /* of its value; NULL = takes none */
    bool may_stand_alone;
} options[] = {
    {"-n", OPT_PES, "4"},
    {"-np", OPT_PES, "4"},
    {"--np", OPT_PES, "4"},
    {"-x", OPT_EXPORT, "SHMEM_DEBUG=info"},
    {"-H", OPT_HOSTS, "node1,node2"},
    {"-host", OPT_HOSTS, "node1,node2"},
    {"--host", OPT_HOSTS, "node1,node2"},
    {"--hosts", OPT_HOSTS, "node1,node2"},
    {"-hostfile", OPT_HOSTFILE, "hosts.txt"},
    {"--hostfile", OPT_HOSTFILE, "hosts.txt"},
    {"--bind", OPT_BIND, "core"},
    {"--bind-to", OPT_BIND, "core"},
    {"--tag-output", OPT_TAG, NULL},
    {"--timestamp", OPT_TIME, NULL},
    {"--output-filename", OPT_OUTPUT, "out/"},
    {"--nvtx", OPT_NVTX, NULL},
    {"--trace", OPT_TRACE, "trace.json"},
    {"--nodes-emulated", OPT_NODES, "2"},
    {"--emulate-efa", OPT_EMULATE, "p5", true},
    {"--gdb", OPT_GDB, "2", true},
    {"--wrap", OPT_WRAP, "valgrind"},
    {"--kill-wait", OPT_KILL_WAIT, "30"},
    {"--on-pe-failure", OPT_SURVIVE, "continue"},
    {"--top", OPT_TOP, NULL},
    {"-v", OPT_VERBOSE, NULL},
    {"--verbose", OPT_VERBOSE, NULL},
    {"-h", OPT_HELP, NULL},
    {"--help", OPT_HELP, NULL},
    {"-V", OPT_VERSION, NULL},
    {"--version", OPT_VERSION, NULL},
};

#define N_OPTIONS (sizeof options / sizeof options[0])

static const struct {
    const char *name;
    enum wsh_bind bind;
} bindings[] = {
    {"none", WSH_BIND_NONE}, {"hwthread", WSH_BIND_HWTHREAD}, {"core", WSH_BIND_CORE},
    {"numa", WSH_BIND_NUMA}, {"socket", WSH_BIND_SOCKET},
};

/* The option that `word` names, up to a '=' in long ones. */
static size_t option_find(const char *word)
{
    size_t len = strncmp(word, "--", 2) ? strlen(word) : strcspn(word, "=");

    for (size_t i = 0; i < N_OPTIONS; i++)
        if (strlen(options[i].name) == len && !strncmp(options[i].name, word, len))
            return i;
    return N_OPTIONS;
}

static int count_parse(const char *name, const char *text, int max, int *count)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < 1 || value > max) {
        wsh_say("%s %s: must be a whole number from 1 to %d, for example %s 4", name, text, max, name);
        return OSHRUN_USAGE;
    }
    *count = (int)value;
    return 0;
}

static int kill_wait_parse(struct wsh_args *args, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= 0 && value <= WSH_OSHRUN_MAX_KILL_WAIT)) {
        wsh_say("--kill-wait %s: must be a number of seconds from 0 to %d, for example --kill-wait 30", text,
                WSH_OSHRUN_MAX_KILL_WAIT);
        return OSHRUN_USAGE;
    }
    args->kill_wait = value;
    args->kill_wait_given = true;
    return 0;
}

static int survive_parse(struct wsh_args *args, const char *text)
{
    args->survive = !strcmp(text, "continue");
    args->survive_given = true;
    if (args->survive || !strcmp(text, "abort"))
        return 0;
    wsh_say("--on-pe-failure %s: unknown; write abort or continue", text);
    return OSHRUN_USAGE;
}

static int bind_parse(struct wsh_args *args, const char *text)
{
    for (size_t i = 0; i < sizeof bindings / sizeof bindings[0]; i++) {
        if (strcmp(bindings[i].name, text))
            continue;
        args->bind = bindings[i].bind;
        args->bind_given = true;
        return 0;
    }
    wsh_say("--bind %s: unknown; write none, hwthread, core, numa or socket", text);
    return OSHRUN_USAGE;
}

static int profile_parse(struct wsh_args *args, const char *text)
{
    args->emulate = text ? text : WSH_EMULATE_DEFAULT;
    if (wsh_emulate_knows(args->emulate))
        return 0;
    wsh_say("--emulate-efa=%s: unknown profile; write " WSH_EMULATE_PROFILES, text);
    return OSHRUN_USAGE;
}

static int gdb_parse(struct wsh_args *args, const char *text)
{
    char *end;
    long pe = text ? strtol(text, &end, 10) : -1;

    args->gdb = true;
    args->gdb_pe = (int)pe;
    if (!text || (end != text && !*end && pe >= 0 && pe < WSH_OSHRUN_MAX_PES))
        return 0;
    wsh_say("--gdb=%s: must be the number of a PE, for example --gdb=2", text);
    return OSHRUN_USAGE;
}

static int export_add(struct wsh_args *args, char *text)
{
    size_t n = 0;

    if (!*text || *text == '=' || *text == '-') {
        wsh_say("-x '%s': no variable; write -x VAR or -x VAR=value", text);
        return OSHRUN_USAGE;
    }
    while (args->exports[n])
        n++;
    args->exports[n] = text;
    return 0;
}

static int pes_parse(struct wsh_args *args, const char *name, const char *text)
{
    int before = args->n_pes, rc = count_parse(name, text, WSH_OSHRUN_MAX_PES, &args->n_pes);

    if (rc || !before || before == args->n_pes)
        return rc;
    wsh_say("%s %d after %s %d: the number of PEs is given twice; give it once", name, args->n_pes, name,
            before);
    return OSHRUN_USAGE;
}

static int option_apply(struct wsh_args *args, size_t i, char *value)
{
    switch (options[i].option) {
    case OPT_PES: return pes_parse(args, options[i].name, value);
    case OPT_EXPORT: return export_add(args, value);
    case OPT_HOSTS: args->hosts = value; break;
    case OPT_HOSTFILE: args->hostfile = value; break;
    case OPT_BIND: return bind_parse(args, value);
    case OPT_TAG: args->tag = true; break;
    case OPT_TIME: args->timestamp = true; break;
    case OPT_OUTPUT: args->output = value; break;
    case OPT_NVTX: args->nvtx = true; break;
    case OPT_TRACE: args->trace = value; break;
    case OPT_NODES:
        args->nodes_given = true;
        return count_parse(options[i].name, value, WSH_OSHRUN_MAX_PES, &args->nodes_emulated);
    case OPT_EMULATE: return profile_parse(args, value);
    case OPT_GDB: return gdb_parse(args, value);
    case OPT_WRAP: args->wrap = value; break;
    case OPT_KILL_WAIT: return kill_wait_parse(args, value);
    case OPT_SURVIVE: return survive_parse(args, value);
    case OPT_TOP: args->top = true; break;
    case OPT_VERBOSE: args->verbose = true; break;
    case OPT_HELP: args->help = true; break;
    case OPT_VERSION: args->version = true; break;
    }
    return 0;
}

/* An option that is spelt nearly so, two letters off at most; NULL if there is none, or it is too short to tell. */
static const char *option_nearest(const char *word)
{
    size_t len = strcspn(word, "="), least = len < 6 ? 2 : 3;
    const char *nearest = NULL;

    for (size_t i = 0; i < N_OPTIONS && len > 4; i++) {
        size_t distance = wsh_spell_distance(word, len, options[i].name);

        if (distance < least) {
            least = distance;
            nearest = options[i].name;
        }
    }
    return nearest;
}

static int option_refuse(const char *word)
{
    const char *instead = wsh_foreign_option(word), *nearest = option_nearest(word);

    if (instead)
        wsh_say("%s is no option of oshrun: %s", word, instead);
    else if (nearest)
        wsh_say("unknown option '%s'; is it %s? oshrun --help lists the options", word, nearest);
    else
        wsh_say("unknown option '%s'; oshrun --help lists the options", word);
    return OSHRUN_USAGE;
}

/* -n4, as other launchers take it. The number, or NULL. */
static char *number_attached(char *word)
{
    size_t len = strspn(word, "-np");

    return word[1] == 'n' && word[len] && !word[len + strspn(word + len, "0123456789")] ? word + len : NULL;
}

static bool is_number(const char *word)
{
    return word && *word && !word[strspn(word, "0123456789")];
}

/* One option and its value; *at moves to the next word. */
static int option_parse(struct wsh_args *args, char **argv, int *at)
{
    char *word = argv[(*at)++], *value = number_attached(word);
    size_t i = option_find(value ? "-n" : word);
    bool needs_value = i < N_OPTIONS && options[i].example && !options[i].may_stand_alone;

    if (i == N_OPTIONS)
        return option_refuse(word);
    if (!strncmp(word, "--", 2) && strchr(word, '='))
        value = strchr(word, '=') + 1;
    if (value && !options[i].example) {
        wsh_say("%s takes no value; write %s alone", options[i].name, options[i].name);
        return OSHRUN_USAGE;
    }
    if (!value && options[i].option == OPT_GDB && is_number(argv[*at]))
        value = argv[(*at)++];
    if (!value && needs_value)
        value = argv[*at] ? argv[(*at)++] : NULL;
    if (needs_value && (!value || !*value)) {
        wsh_say("%s needs a value, for example %s %s", options[i].name, options[i].name, options[i].example);
        return OSHRUN_USAGE;
    }
    return option_apply(args, i, value);
}

static int before_check(const struct wsh_args *args)
{
    if (args->gdb && args->wrap) {
        wsh_say("--gdb and --wrap exclude each other; give one of them");
        return OSHRUN_USAGE;
    }
    if (args->n_pes && args->gdb_pe >= args->n_pes) {
        wsh_say("--gdb=%d: there is no such PE; give one from 0 to %d", args->gdb_pe, args->n_pes - 1);
        return OSHRUN_USAGE;
    }
    return 0;
}

static int args_check(const struct wsh_args *args)
{
    if (args->help || args->version)
        return 0;
    if (!args->program[0]) {
        wsh_say("no program; write oshrun -n 4 ./program");
        return OSHRUN_USAGE;
    }
    if (args->emulate && wsh_emulate_knows(args->program[0])) {
        wsh_say("'%s' stands where the program should; write --emulate-efa=%s", args->program[0],
                args->program[0]);
        return OSHRUN_USAGE;
    }
    for (char **word = args->program; *word && args->n_pes; word++)
        if (wsh_second_program(word)) {
            wsh_say("':' begins no second program: oshrun runs one program a job; let it branch by "
                    "shmem_my_pe(), or "
                    "start a script that does by $PMIX_RANK");
            return OSHRUN_USAGE;
        }
    if (args->hosts && args->hostfile) {
        wsh_say("-H and --hostfile exclude each other; give one of them");
        return OSHRUN_USAGE;
    }
    if (args->n_pes && args->nodes_emulated > args->n_pes) {
        wsh_say("--nodes-emulated %d: more hosts than PEs; give at most -n, which is %d",
                args->nodes_emulated, args->n_pes);
        return OSHRUN_USAGE;
    }
    return before_check(args);
}

int wsh_args_parse(struct wsh_args *args, int argc, char **argv)
{
    int at = 1;

    *args = (struct wsh_args){.nodes_emulated = 1,
                              .gdb_pe = -1,
                              .kill_wait = WSH_OSHRUN_KILL_WAIT,
                              .exports = calloc((size_t)argc + 1, sizeof(char *))};
    if (!args->exports) {
        wsh_say("out of memory");
        return OSHRUN_FAILED;
    }
    while (at < argc && argv[at][0] == '-' && strcmp(argv[at], "--")) {
        int rc = option_parse(args, argv, &at);

        if (rc)
            return rc;
    }
    if (at < argc && !strcmp(argv[at], "--"))
        at++;
    args->program = argv + at;
    return args_check(args);
}

void wsh_args_fini(struct wsh_args *args)
{
    free(args->exports);
}
