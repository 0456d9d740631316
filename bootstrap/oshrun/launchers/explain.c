/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of other launchers, by what is in them. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/launchers/explain.h"

#include "bootstrap/oshrun/io.h"
#include "bootstrap/oshrun/spawn.h"

#include <errno.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 4

/* What a line says, and where oshrun's exit status comes from. */
enum kind {
    FAILURE,   /* as written, OSHRUN_FAILED */
    STATUS,    /* as written, that of the launcher */
    PE_STATUS, /* as written, the third group: a PE's */
    PE_SIGNAL, /* as written, 128 + the signal whose description is the third group */
    PROGRAM    /* a host could not run the program that is the first group */
};

/*
 * Extended regular expressions, the first that matches counts: what says more stands first. In the line @L is the
 * launcher, @1 to @3 are the groups.
 */
static const struct {
    enum kind kind;
    const char *pattern, *line;
} causes[] = {
    {FAILURE, "Could not resolve hostname ([^ :]+)",
     "host '@1' is not known here; check the names behind -H or in --hostfile"},
    {FAILURE, "connect to host ([^ ]+) port [0-9]+: ([^\r\n]*)",
     "host '@1' cannot be reached by ssh: @2; @L starts processes by ssh: let sshd run there, or start the "
     "job by Slurm"},
    {FAILURE, "Host key verification failed",
     "ssh does not know the key of a host; log in there once by hand, or add its key by ssh-keyscan"},
    {FAILURE, "([^ \n@]+): Permission denied \\([a-z,-]*\\)",
     "ssh lets nobody in on host '@1' without a password; put your public key in ~/.ssh/authorized_keys "
     "there"},
    {FAILURE, "(orted|prted): (command not found|not found|No such file or directory)",
     "a host has no @1 on its PATH; install there the Open MPI that @L is of, with the same prefix"},
    {PROGRAM, "execve\\(\\): ([^\n]+): (No such file or directory|Permission denied)", NULL},
    {PROGRAM, "Executable: +([^\n]+)", NULL},
    {FAILURE, "not enough slots available",
     "@L has fewer slots than PEs; give more behind the hosts, as in -H a:8,b:8, or fewer PEs by -n"},
    {FAILURE, "specified plugin name for mpi/pmix|mpi/pmix[^\n]*(not found|cannot|Invalid)",
     "this Slurm has no PMIx plugin (srun --mpi=list); start by `srun --mpi=pmi2 PROGRAM` instead of oshrun"},
    {FAILURE, "More processors requested than permitted|Requested node configuration is not available",
     "the allocation has fewer processors than PEs are asked for; ask for more (salloc -n), or give fewer by "
     "-n"},
    {FAILURE, "Unable to create step for job [0-9]+: ([^\n]*)",
     "Slurm starts no step here: @1; compare -n and -H with the allocation (squeue, scontrol show job)"},
    {FAILURE,
     "resolve_ctls_from_dns_srv|fetch_config: |establish_config_source|Could not establish a configuration "
     "source|(open|read|find)[^\n]*slurm\\.conf",
     "SLURM_JOB_ID is set, and @L finds no slurm.conf here, as in a container; set OSHRUN_LAUNCHER=local for "
     "PEs on this "
     "machine alone, or mount /etc/slurm and munge's socket"},
    {FAILURE, "Unable to contact slurm controller|Unable to connect to controller",
     "Slurm's controller does not answer; ask `scontrol ping`"},
    {STATUS, "process rank ([0-9]+) with PID [0-9]+ on node ([^ ]+) exited on[ \n]signal ([0-9]+)",
     "PE @1 (@2) was ended by signal @3; @L ends the job"},
    {STATUS, "Process name: +\\[[^\n]*,([0-9]+)\\]\n *Exit code: +([0-9]+)",
     "PE @1 exited with status @2; @L ends the job"},
    {STATUS, "Primary job  terminated normally, but [0-9]+ process",
     "a PE ended by a signal or with a status that is not 0; @L ends the job"},
    {PE_STATUS, "srun: error: ([^:]+): tasks? ([0-9]+)[^:]*: Exited with exit code ([0-9]+)",
     "PE @2 (@1) exited with status @3; @L ends the job"},
    {PE_SIGNAL, "srun: error: ([^:]+): tasks? ([0-9]+)[^:]*: ([A-Z][a-z 0-9]+[a-z0-9])",
     "PE @2 (@1) was ended by a signal: @3; @L ends the job"},
    {FAILURE, "ORTE was unable to reliably start|PRTE (has lost|was unable to)|prterun has lost",
     "@L cannot start its daemon on a host; try `ssh HOST orted --version` (prted for prterun), and see its "
     "reasons"},
};

static const char *const beginnings[] = {"-----",  "ssh: ", "srun: ",  "slurmstepd",
                                         "bash: ", "sh: ",  "salloc: "};

bool wsh_explain_begins(const char *line)
{
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (!strncmp(line, beginnings[i], strlen(beginnings[i])))
            return true;
    return strstr(line, "Permission denied (") || strstr(line, "ost key ");
}

static size_t part_add(char *line, size_t used, size_t size, const char *part, size_t len)
{
    len = len < size - 1 - used ? len : size - 1 - used;
    memcpy(line + used, part, len);
    line[used + len] = '\0';
    return used + len;
}

static void line_fill(struct wsh_explained *explained, const char *from, const char *launcher,
                      const char *text, const regmatch_t *match)
{
    size_t used = 0;

    for (; *from; from++) {
        const regmatch_t *group = *from == '@' && from[1] != 'L' ? &match[from[1] - '0'] : NULL;

        if (group)
            used = part_add(explained->line, used, sizeof explained->line, text + group->rm_so,
                            (size_t)(group->rm_eo - group->rm_so));
        else
            used = part_add(explained->line, used, sizeof explained->line, *from == '@' ? launcher : from,
                            *from == '@' ? strlen(launcher) : 1);
        from += *from == '@';
    }
}

/* Launchers do not say why; where the program cannot be run here either, it is for that reason. */
static void program_explain(struct wsh_explained *explained, const char *name, int len)
{
    char *path = strndup(name, (size_t)len);
    int err = path ? wsh_program_check(path) : 0;

    free(path);
    explained->status = err == EACCES || err == EISDIR ? OSHRUN_CANNOT_RUN : OSHRUN_NOT_FOUND;
    snprintf(explained->line, sizeof explained->line, "%s '%.*s'%s",
             explained->status == OSHRUN_CANNOT_RUN ? "cannot run program" : "program", len, name,
             explained->status == OSHRUN_CANNOT_RUN ? "; make it executable with chmod +x"
             : err ? " not found; give the path of an executable that all hosts have"
                   : " is here, but not on another host; put it where all hosts see it under the same path");
}

static int signal_find(const char *description, size_t len)
{
    for (int i = 1; i < NSIG; i++) {
        const char *known = strsignal(i);

        if (known && strlen(known) == len && !strncmp(known, description, len))
            return i;
    }
    return 0;
}

static int cause_status(enum kind kind, const char *text, const regmatch_t *third)
{
    int sig;

    switch (kind) {
    case FAILURE: return OSHRUN_FAILED;
    case PE_STATUS: return atoi(text + third->rm_so);
    case PE_SIGNAL:
        sig = signal_find(text + third->rm_so, (size_t)(third->rm_eo - third->rm_so));
        return sig ? 128 + sig : 0;
    default: return 0;
    }
}

bool wsh_explain(const char *launcher, const char *text, struct wsh_explained *explained)
{
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        regmatch_t match[GROUPS];
        regex_t regex;
        int differs;

        if (regcomp(&regex, causes[i].pattern, REG_EXTENDED))
            continue;
        differs = regexec(&regex, text, GROUPS, match, 0);
        regfree(&regex);
        if (differs)
            continue;
        explained->sure = causes[i].kind != PE_STATUS && causes[i].kind != PE_SIGNAL;
        explained->status = cause_status(causes[i].kind, text, &match[3]);
        if (causes[i].kind == PROGRAM)
            program_explain(explained, text + match[1].rm_so, (int)(match[1].rm_eo - match[1].rm_so));
        else
            line_fill(explained, causes[i].line, launcher, text, match);
        return true;
    }
    return false;
}
