/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows when another launcher must start the job, and which one. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/delegate.h"

#include "bootstrap/oshrun/environ.h"
#include "bootstrap/oshrun/nesting.h"
#include "bootstrap/oshrun/program.h"
#include "bootstrap/oshrun/say.h"
#include "bootstrap/oshrun/translate.h"
#include "base/env.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
static size_t find_chosen(const char *chosen)
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
static size_t find_first(void)
{
    for (size_t i = 0; i < N_AUTOMATIC; i++)
        if ((launchers[i].launcher != WSH_SRUN || wsh_in_allocation()) &&
            wsh_program_is_there(launchers[i].name))
            return i;
    wsh_say("no launcher for several machines on PATH (%sprterun or mpirun); install one, or set "
            "OSHRUN_LAUNCHER to "
            "the path of one, or to local",
            wsh_in_allocation() ? "srun, " : "");
    return N_LAUNCHERS;
}

static void say_command(const struct wsh_words *words)
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

static int become(const char *chosen, const struct wsh_args *args, const struct wsh_hosts *hosts)
{
    size_t i = chosen ? find_chosen(chosen) : find_first();
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
        say_command(&words);
        execv(path, words.word);
        wsh_say("cannot run '%s': %s; set OSHRUN_LAUNCHER to another launcher", path, wsh_strerror(errno));
        rc = OSHRUN_CANNOT_RUN;
    }
    wsh_words_free(&words);
    free(path);
    return rc;
}

static int decide(const struct wsh_args *args, const struct wsh_hosts *hosts)
{
    const char *chosen = wsh_env_foreign("OSHRUN_LAUNCHER");
    bool here = wsh_hosts_are_here(hosts);

    if (chosen && !strcmp(chosen, "local")) {
        if (here)
            return 0;
        wsh_say("OSHRUN_LAUNCHER=local reaches this machine only; unset it, or leave out -H and --hostfile");
        return OSHRUN_USAGE;
    }
    return chosen || !here || wsh_in_allocation() ? become(chosen, args, hosts) : 0;
}

int wsh_delegate(const struct wsh_args *args)
{
    struct wsh_hosts hosts;
    int rc = wsh_nesting_refuse();

    if (rc)
        return rc;
    rc = wsh_hosts_init(&hosts, args);
    if (!rc)
        rc = decide(args, &hosts);
    wsh_hosts_fini(&hosts);
    return rc;
}
