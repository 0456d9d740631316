/* SPDX-License-Identifier: BSD-3-Clause */
/* When another launcher must start the job, and which: jobs inside jobs, -H and --hostfile, Slurm allocations. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/launchers/delegate.h"

#include "bootstrap/oshrun/launchers/other_launcher.h"
#include "bootstrap/oshrun/environ.h"
#include "bootstrap/oshrun/io.h"
#include "bootstrap/oshrun/spawn.h"
#include "bootstrap/oshrun/launchers/translate.h"
#include "base/env/env.h"
#include "base/err.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Slurm's numbers from here on are no steps of tasks: interactive shells (salloc), batch scripts, extern, pending. */
#define FIRST_SPECIAL_STEP 0xfffffff0ul

static const struct {
    const char *variable, *launcher;
    bool is_step;
} signs[] = {
    {"SHMEM_OSHRUN_PID", "oshrun", false}, {"OMPI_COMM_WORLD_RANK", "mpirun", false},
    {"SLURM_STEP_ID", "srun", true},       {"PMIX_RANK", "a PMIx launcher", false},
    {"PMI_RANK", "a PMI launcher", false},
};

static const char *sign_value(size_t i)
{
    const char *text = wsh_env_foreign(signs[i].variable);
    char *end;

    if (!text || !signs[i].is_step)
        return text;
    return strtoul(text, &end, 10) >= FIRST_SPECIAL_STEP || *end ? NULL : text;
}

/* 0, or OSHRUN_USAGE after one line where this process is itself part of a job that a launcher started. */
static int nesting_refuse(void)
{
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (!sign_value(i))
            continue;
        wsh_say("already inside a job started by %s (%s is set); call the program itself there, or unset %s "
                "for a job "
                "of its own on this machine",
                signs[i].launcher, signs[i].variable, signs[i].variable);
        return OSHRUN_USAGE;
    }
    return 0;
}

/* Inside a Slurm allocation (which is not inside a step of it: that is nesting). */
static bool in_allocation(void)
{
    return wsh_env_foreign("SLURM_JOB_ID");
}

static int memory_report(void)
{
    wsh_say("out of memory");
    return OSHRUN_FAILED;
}

/* 0 if `text` is not a number of PEs. */
static int slots_parse(const char *text)
{
    char *end;
    long slots = strtol(text, &end, 10);

    return end == text || *end || slots < 1 || slots > WSH_OSHRUN_MAX_PES ? 0 : (int)slots;
}

/* Adds "name", "name:n", or a name whose slots are known. `where` is for the message. */
static int host_add(struct wsh_hosts *hosts, const char *name, size_t len, int slots, const char *where)
{
    struct wsh_host *more = realloc(hosts->host, ((size_t)hosts->n + 1) * sizeof *more);
    char *copy = strndup(name, len), *colon;

    if (more)
        hosts->host = more;
    if (!more || !copy) {
        free(copy);
        return memory_report();
    }
    hosts->host[hosts->n++] = (struct wsh_host){copy, slots};
    colon = strrchr(copy, ':');
    if (colon) {
        *colon = '\0';
        hosts->host[hosts->n - 1].slots = slots_parse(colon + 1);
    }
    if (*copy && (!colon || hosts->host[hosts->n - 1].slots))
        return 0;
    wsh_say("%s: '%.*s' is no host; write name or name:PEs", where, (int)len, name);
    return OSHRUN_USAGE;
}

static int hosts_parse_list(struct wsh_hosts *hosts, const char *list)
{
    int rc = 0;

    for (const char *at = list; at && !rc; at = *at ? at + 1 : NULL) {
        size_t len = strcspn(at, ",");

        rc = host_add(hosts, at, len, 0, "-H");
        at += len;
    }
    return rc;
}

/* `host`, `host slots=4`, `host:4`, with comments from # on. */
static int hosts_parse_line(struct wsh_hosts *hosts, const char *path, char *line)
{
    char *save, *name, *word;
    int slots = 0;

    line[strcspn(line, "#\n")] = '\0';
    name = strtok_r(line, " \t\r", &save);
    if (!name)
        return 0;
    while ((word = strtok_r(NULL, " \t\r", &save))) {
        if (strncmp(word, "max", 3))
            slots = strncmp(word, "slots=", 6) ? 0 : slots_parse(word + 6);
        if (slots || !strncmp(word, "max", 3))
            continue;
        wsh_say("--hostfile %s: '%s' after host %s; write `%s slots=4`", path, word, name, name);
        return OSHRUN_USAGE;
    }
    return host_add(hosts, name, strlen(name), slots, path);
}

static int hosts_read_file(struct wsh_hosts *hosts, const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    int rc = 0;

    if (!file) {
        wsh_say("--hostfile %s: %s; give a file with one host a line", path, wsh_strerror(errno));
        return OSHRUN_USAGE;
    }
    while (!rc && getline(&line, &size, file) >= 0)
        rc = hosts_parse_line(hosts, path, line);
    free(line);
    fclose(file);
    if (rc || hosts->n)
        return rc;
    wsh_say("--hostfile %s: names no host; write one host a line", path);
    return OSHRUN_USAGE;
}

/* Reads args->hosts or args->hostfile; none gives n = 0. 0, or OSHRUN_USAGE after one line. */
static int hosts_init(struct wsh_hosts *hosts, const struct wsh_args *args)
{
    *hosts = (struct wsh_hosts){0};
    if (args->hosts)
        return hosts_parse_list(hosts, args->hosts);
    return args->hostfile ? hosts_read_file(hosts, args->hostfile) : 0;
}

static void hosts_fini(struct wsh_hosts *hosts)
{
    for (int i = 0; i < hosts->n; i++)
        free(hosts->host[i].name);
    free(hosts->host);
    *hosts = (struct wsh_hosts){0};
}

static bool host_is_here(const char *name)
{
    char host[HOST_NAME_MAX + 1] = "";
    size_t len;

    if (!strcmp(name, "localhost") || !strcmp(name, "127.0.0.1") || !strcmp(name, "::1"))
        return true;
    gethostname(host, sizeof host - 1);
    len = strcspn(host, ".");
    return !strcmp(name, host) || (strlen(name) == len && !strncmp(name, host, len));
}

/* All of them are names of this machine. */
static bool hosts_are_here(const struct wsh_hosts *hosts)
{
    for (int i = 0; i < hosts->n; i++)
        if (!host_is_here(hosts->host[i].name))
            return false;
    return true;
}

static const struct {
    const char *name;
    enum wsh_launcher launcher;
} launchers[] = {
    {"srun", WSH_SRUN},      {"prterun", WSH_PRTERUN}, {"mpirun", WSH_MPIRUN},
    {"mpiexec", WSH_MPIRUN}, {"orterun", WSH_MPIRUN},
};

#define N_LAUNCHERS (sizeof launchers / sizeof launchers[0])
#define N_AUTOMATIC 3 /* the others only when OSHRUN_LAUNCHER names them */

/* The entry for a name or path that the user chose. */
static size_t launcher_find_chosen(const char *chosen)
{
    const char *slash = strrchr(chosen, '/'), *name = slash ? slash + 1 : chosen;
    size_t i = 0;

    while (i < N_LAUNCHERS && strcmp(launchers[i].name, name))
        i++;
    if (i == N_LAUNCHERS)
        wsh_say("OSHRUN_LAUNCHER=%s: unknown; name srun, prterun, mpirun, the path of one of them, or local",
                chosen);
    return i;
}

/* Outside an allocation srun would wait in Slurm's queue for one. */
static size_t launcher_find_first(void)
{
    for (size_t i = 0; i < N_AUTOMATIC; i++)
        if ((launchers[i].launcher != WSH_SRUN || in_allocation()) && wsh_program_is_there(launchers[i].name))
            return i;
    wsh_say("no launcher for several machines on PATH (%sprterun or mpirun); install one, or set "
            "OSHRUN_LAUNCHER to "
            "the path of one, or to local",
            in_allocation() ? "srun, " : "");
    return N_LAUNCHERS;
}

static void command_print(const struct wsh_words *words)
{
    char text[4096] = "";
    size_t used = 0;

    for (size_t i = 0; i < words->n && used + strlen(words->word[i]) + 2 < sizeof text; i++) {
        if (i)
            text[used++] = ' ';
        used += strlen(strcpy(text + used, words->word[i]));
    }
    wsh_say_more("%s", text);
}

static int launcher_run(const char *chosen, const struct wsh_args *args, const struct wsh_hosts *hosts,
                        bool *ran)
{
    size_t i = chosen ? launcher_find_chosen(chosen) : launcher_find_first();
    struct wsh_words words = {0};
    char *path;
    int rc;

    if (i == N_LAUNCHERS)
        return OSHRUN_USAGE;
    rc = wsh_program_find(chosen ? chosen : launchers[i].name, &path);
    if (rc)
        return rc;
    rc = wsh_environ_export(args->exports);
    if (!rc)
        rc = wsh_translate(launchers[i].launcher, path, args, hosts, &words);
    if (!rc) {
        command_print(&words);
        rc = wsh_below_run(launchers[i].name, path, words.word);
        *ran = true;
    }
    wsh_words_free(&words);
    free(path);
    return rc;
}

static int launcher_decide(const struct wsh_args *args, const struct wsh_hosts *hosts, bool *ran)
{
    const char *chosen = wsh_env_foreign("OSHRUN_LAUNCHER");
    bool here = hosts_are_here(hosts);

    if (chosen && !strcmp(chosen, "local")) {
        if (here)
            return 0;
        wsh_say("OSHRUN_LAUNCHER=local reaches this machine only; unset it, or leave out -H and --hostfile");
        return OSHRUN_USAGE;
    }
    return chosen || !here || in_allocation() ? launcher_run(chosen, args, hosts, ran) : 0;
}

int wsh_delegate(const struct wsh_args *args, bool *ran)
{
    struct wsh_hosts hosts;
    int rc = nesting_refuse();

    *ran = false;
    if (rc)
        return rc;
    rc = hosts_init(&hosts, args);
    if (!rc)
        rc = launcher_decide(args, &hosts, ran);
    hosts_fini(&hosts);
    return rc;
}
