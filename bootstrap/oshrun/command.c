/* SPDX-License-Identifier: BSD-3-Clause */
/* What the process of a PE executes: the program, or gdb or the words of --wrap before it. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/command.h"

#include "bootstrap/oshrun/io.h"
#include "bootstrap/oshrun/spawn.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As the launchers call them that oshrun starts on other hosts. */
#define NAMES                                                                              \
    "pe=${PMIX_RANK-$SLURM_PROCID} host_pe=${OMPI_COMM_WORLD_LOCAL_RANK-$SLURM_LOCALID}; " \
    "[ -z \"$pe\" ] || export SHMEM_PE=\"$pe\"; "                                          \
    "[ -z \"$host_pe\" ] || export SHMEM_HOST_PE=\"$host_pe\"; "

char *wsh_wrap_script(const char *words, bool names)
{
    char *script;

    return asprintf(&script, "%sexec %s \"$@\"", names ? NAMES : "", words) < 0 ? NULL : script;
}

/* A first word that the shell would change is left to the shell. */
int wsh_wrap_check(const char *words)
{
    const char *at = words + strspn(words, " \t");
    size_t len = strcspn(at, " \t");
    char *name = strndup(at, len);
    int err = 0;

    if (name && *name && !strpbrk(name, "'\"`$\\;&|<>(){}*?[]~#!=\n"))
        err = wsh_program_check(name);
    if (err)
        wsh_say("--wrap: '%s' cannot be run: %s; install it, or give its path", name, wsh_strerror(err));
    free(name);
    return !err ? 0 : err == ENOENT || err == ENOTDIR ? OSHRUN_NOT_FOUND : OSHRUN_CANNOT_RUN;
}

static size_t words_count(char *const *words)
{
    size_t n = 0;

    while (words[n])
        n++;
    return n;
}

/* `before`, the path of the program, and its arguments. */
static int words_join(struct wsh_command *command, const char *const *before)
{
    size_t n = 0, n_program = words_count(command->program);
    char **words;

    while (before[n])
        n++;
    words = calloc(n + n_program + 1, sizeof *words);
    if (!words) {
        wsh_say("out of memory");
        return OSHRUN_FAILED;
    }
    for (size_t i = 0; i < n; i++)
        words[i] = (char *)(size_t)before[i];
    words[n] = command->path;
    for (size_t i = 1; i < n_program; i++)
        words[n + i] = command->program[i];
    command->before = words;
    return 0;
}

/*
 * At a terminal the user has the prompt of one PE's gdb. Elsewhere gdb runs the program, prints the stacks of all
 * threads where it stops, and ends with the program's status, or 128 + its signal. SIGUSR1 asks PEs for reports.
 */
static const char *const gdb_asks[] = {"gdb",    "-q", "-ex", "handle SIGUSR1 nostop noprint pass",
                                       "--args", NULL};
static const char *const gdb_runs[] = {
    "gdb",
    "-q",
    "-batch",
    "-nx",
    "-ex",
    "set print thread-events off",
    "-ex",
    "set print inferior-events off",
    "-ex",
    "handle SIGUSR1 SIGUSR2 nostop noprint pass",
    "-ex",
    "run",
    "-ex",
    "thread apply all backtrace",
    "-ex",
    "quit $_isvoid($_exitcode) ? 128 + ($_isvoid($_exitsignal) ? $_siginfo.si_signo : $_exitsignal) : "
    "$_exitcode",
    "--args",
    NULL};

static int gdb_open(struct wsh_command *command, const struct wsh_args *args)
{
    command->terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    command->only = command->terminal && args->gdb_pe < 0 ? 0 : args->gdb_pe;
    if (command->terminal)
        tcgetattr(STDIN_FILENO, &command->modes);
    if (!wsh_program_is_there("gdb")) {
        wsh_say("--gdb: gdb is not on PATH; install it, or print where a PE crashes by SHMEM_BACKTRACE");
        return OSHRUN_NOT_FOUND;
    }
    if (command->terminal)
        wsh_say("gdb of PE %d: `run` starts it, and the other PEs wait for it in shmem_init", command->only);
    return wsh_program_find("gdb", &command->before_path) ||
                   words_join(command, command->terminal ? gdb_asks : gdb_runs)
               ? OSHRUN_FAILED
               : 0;
}

static int wrap_open(struct wsh_command *command, const struct wsh_args *args)
{
    char *script = wsh_wrap_script(args->wrap, false);
    const char *before[] = {"sh", "-c", script, "oshrun", NULL};
    int rc = wsh_wrap_check(args->wrap);

    if (!script) {
        wsh_say("out of memory");
        return OSHRUN_FAILED;
    }
    command->before_path = strdup("/bin/sh");
    if (!rc)
        rc = command->before_path ? words_join(command, before) : OSHRUN_FAILED;
    if (rc)
        free(script);
    return rc;
}

int wsh_command_open(struct wsh_command *command, const struct wsh_args *args)
{
    int rc;

    *command = (struct wsh_command){.program = args->program, .only = -1};
    rc = wsh_program_find(args->program[0], &command->path);
    if (!rc && args->gdb)
        rc = gdb_open(command, args);
    if (!rc && args->wrap)
        rc = wrap_open(command, args);
    return rc;
}

void wsh_command_close(struct wsh_command *command)
{
    if (command->terminal)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &command->modes);
    if (command->before && !strcmp(command->before[0], "sh"))
        free(command->before[2]);
    free(command->before);
    free(command->before_path);
    free(command->path);
    *command = (struct wsh_command){.only = -1};
}

const char *wsh_command_of(const struct wsh_command *command, int pe, char ***argv)
{
    bool has = command->before && (command->only < 0 || command->only == pe);

    *argv = has ? command->before : command->program;
    return has ? command->before_path : command->path;
}

int wsh_command_terminal(const struct wsh_command *command)
{
    return command->terminal ? command->only : -1;
}

int wsh_command_streams(int std[3])
{
    const int own[3] = {STDIN_FILENO, STDOUT_FILENO, wsh_say_fd()};

    for (int i = 0; i < 3; i++) {
        std[i] = fcntl(own[i], F_DUPFD_CLOEXEC, 3);
        if (std[i] >= 0)
            continue;
        wsh_say("cannot give gdb the terminal: %s; raise `ulimit -n`", wsh_strerror(errno));
        return -EMFILE;
    }
    return 0;
}
