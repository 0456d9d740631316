/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE's process: the program's file, the processors (--bind), and fork and exec. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/spawn.h"

#include "bootstrap/oshrun/cleanup.h"
#include "bootstrap/oshrun/io.h"
#include "base/env/env.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0: can be run; else the errno that says why not. */
static int file_check(const char *path)
{
    struct stat st;

    if (stat(path, &st))
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return access(path, X_OK) ? errno : 0;
}

/* Tries name below each folder of PATH; the most informative errno wins. */
static int path_search(const char *name, char **path)
{
    const char *folders = wsh_env_foreign("PATH");
    int err = ENOENT;

    for (const char *at = folders ? folders : "/usr/bin:/bin"; at; at = *at ? at + 1 : NULL) {
        size_t len = strcspn(at, ":");
        int why;

        if (asprintf(path, "%.*s%s%s", (int)len, at, len ? "/" : "", name) < 0)
            return ENOMEM;
        why = file_check(*path);
        if (!why)
            return 0;
        free(*path);
        *path = NULL;
        if (why == EACCES)
            err = why;
        at += len;
    }
    return err;
}

static int program_search(const char *name, char **path)
{
    int err;

    *path = NULL;
    if (!strchr(name, '/'))
        return path_search(name, path);
    err = file_check(name);
    if (!err)
        *path = strdup(name);
    return err;
}

int wsh_program_check(const char *name)
{
    char *path;
    int err = program_search(name, &path);

    free(path);
    return err;
}

int wsh_program_is_there(const char *name)
{
    return !wsh_program_check(name);
}

int wsh_program_find(const char *name, char **path)
{
    int err = program_search(name, path);
    const char *slash = strchr(name, '/');

    if (!err)
        return 0;
    if (err == ENOENT && !slash) {
        bool here = !file_check(name);

        wsh_say("program '%s' is not on PATH; %s%s", name,
                here ? "it is in this folder: write ./" : "give its path, as in ./", name);
        return OSHRUN_NOT_FOUND;
    }
    if (err == ENOENT || err == ENOTDIR) {
        wsh_say("program '%s' not found; give the path of an executable", name);
        return OSHRUN_NOT_FOUND;
    }
    wsh_say("cannot run '%s': %s; %s", name, wsh_strerror(err),
            err == EACCES ? "make it executable with chmod +x" : "name an executable file");
    return OSHRUN_CANNOT_RUN;
}

#define MAX_NODES 1024

/* Reads a list as sysfs writes it: "0-3,8,10-11". */
static int cpus_read(const char *path, cpu_set_t *set)
{
    FILE *file = fopen(path, "re");
    int first, last, sep = ',';

    if (!file)
        return -errno;
    CPU_ZERO(set);
    while (sep == ',' && fscanf(file, "%d", &first) == 1) {
        last = first;
        sep = fgetc(file);
        if (sep == '-' && fscanf(file, "%d", &last) == 1)
            sep = fgetc(file);
        for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET(cpu, set);
    }
    fclose(file);
    return 0;
}

static int cpus_of_node(int cpu, cpu_set_t *set)
{
    char path[128];

    for (int node = 0; node < MAX_NODES; node++) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
        if (!cpus_read(path, set) && CPU_ISSET(cpu, set))
            return 0;
    }
    return -ENOENT;
}

static int cpus_of_topology(int cpu, const char *name, const char *old_name, cpu_set_t *set)
{
    char path[128];

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
    if (!cpus_read(path, set))
        return 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, old_name);
    return cpus_read(path, set);
}

/* The processors that share a core, … with `cpu`. */
static int cpus_around(enum wsh_bind bind, int cpu, cpu_set_t *set)
{
    switch (bind) {
    case WSH_BIND_NUMA: return cpus_of_node(cpu, set);
    case WSH_BIND_SOCKET: return cpus_of_topology(cpu, "package_cpus_list", "core_siblings_list", set);
    case WSH_BIND_CORE: return cpus_of_topology(cpu, "core_cpus_list", "thread_siblings_list", set);
    default: break;
    }
    CPU_ZERO(set);
    CPU_SET(cpu, set);
    return 0;
}

/* Splits the processors we may use into such sets, in order of their first processor; returns how many, or -errno. */
static int cpus_split(enum wsh_bind bind, cpu_set_t *sets)
{
    cpu_set_t left;
    int n = 0;

    if (sched_getaffinity(0, sizeof left, &left))
        return -errno;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        int rc;

        if (!CPU_ISSET(cpu, &left))
            continue;
        rc = cpus_around(bind, cpu, &sets[n]);
        if (rc)
            return rc;
        CPU_AND(&sets[n], &sets[n], &left);
        CPU_XOR(&left, &left, &sets[n]);
        n++;
    }
    return n ? n : -ENOENT;
}

int wsh_bind_plan(enum wsh_bind bind, int n_pes, cpu_set_t **sets)
{
    cpu_set_t *all;
    int n;

    *sets = NULL;
    if (bind == WSH_BIND_NONE)
        return 0;
    all = calloc(CPU_SETSIZE, sizeof *all);
    *sets = calloc((size_t)n_pes, sizeof **sets);
    n = all && *sets ? cpus_split(bind, all) : -ENOMEM;
    for (int pe = 0; pe < n_pes && n > 0; pe++)
        (*sets)[pe] = all[n_pes <= n ? pe : (int)((long)pe * n / n_pes)];
    free(all);
    if (n > 0)
        return 0;
    wsh_say("--bind: cannot read this machine's topology: %s; use --bind none", wsh_strerror(n));
    free(*sets);
    *sets = NULL;
    return n;
}

/* Between fork and exec in a process with threads: async-signal-safe calls only. */
static void pe_exec(const struct wsh_spawn *how, pid_t oshrun)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != oshrun)
        _exit(OSHRUN_FAILED);
    if (!how->terminal)
        setpgid(0, 0);
    wsh_guardian_send(how->guardian_fd, getpid());
    for (int fd = 0; fd < 3; fd++)
        dup2(how->std[fd], fd);
    if (how->cpus)
        sched_setaffinity(0, sizeof *how->cpus, how->cpus);
    setrlimit(RLIMIT_NOFILE, &how->files);
    wsh_signals_default();
    sigprocmask(SIG_SETMASK, how->mask, NULL);
    execve(how->path, how->argv, how->env);
    wsh_event_send(how->event_fd, WSH_EVENT_EXEC_FAILED, how->pe, errno);
    _exit(OSHRUN_CANNOT_RUN);
}

pid_t wsh_spawn(const struct wsh_spawn *how)
{
    pid_t oshrun = getpid(), pid = fork();

    if (pid == 0)
        pe_exec(how, oshrun);
    if (pid < 0)
        return -errno;
    if (!how->terminal)
        setpgid(pid, pid); /* both sides, so that neither has to wait for the other */
    return pid;
}
