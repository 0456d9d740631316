/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloads libwarpshmem-trace into the PEs (--trace, --nvtx), and starts warpshmem-trace where a job has failed. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/trace.h"

#include "bootstrap/oshrun/environ.h"
#include "bootstrap/oshrun/io.h"
#include "base/env/env.h"
#include "base/err.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARY "libwarpshmem-trace.so.0"

static char file[PATH_MAX];

/* From the folder of oshrun: a launcher may start the PEs elsewhere. */
static int file_take(const char *given)
{
    char folder[PATH_MAX] = "", *slash;
    struct stat st;
    int len;

    if (*given != '/' && !getcwd(folder, sizeof folder))
        *folder = '\0';
    len = snprintf(file, sizeof file, "%s%s%s", folder, *folder ? "/" : "", given);
    snprintf(folder, sizeof folder, "%s", file);
    if (!stat(file, &st) && S_ISDIR(st.st_mode)) {
        wsh_say("--trace %s: that is a folder; name a file in it", given);
        return OSHRUN_USAGE;
    }
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    if (len < (int)sizeof file - 16 && !access(slash ? (*folder ? folder : "/") : ".", W_OK))
        return 0;
    wsh_say("--trace %s: its folder cannot be written: %s; name a file in one that can", given,
            wsh_strerror(errno));
    return OSHRUN_USAGE;
}

/* What is built as folder/`built` lies beside an installed oshrun, as in a wheel, or in `installed`. */
static int thing_find(const char *built, const char *name, const char *installed, char path[PATH_MAX])
{
    char folder[PATH_MAX];
    bool in_build = wsh_oshrun_place(folder);

    if (snprintf(path, PATH_MAX, "%s/%s", folder, in_build ? built : name) >= PATH_MAX)
        return -ENAMETOOLONG;
    if (in_build || !access(path, R_OK))
        return access(path, R_OK) ? -errno : 0;
    snprintf(path, PATH_MAX, "%s/%s", installed, name);
    return access(path, R_OK) ? -errno : 0;
}

static int library_preload(const char *path)
{
    const char *others = wsh_env_foreign("LD_PRELOAD");
    char *list;

    if (asprintf(&list, "%s%s%s", others ? others : "", others ? ":" : "", path) < 0)
        return -ENOMEM;
    setenv("LD_PRELOAD", list, 1);
    free(list);
    return 0;
}

/* Also to PEs that another launcher starts. value NULL: as it is. */
static void pass_on(const struct wsh_args *args, const char *name, const char *value)
{
    size_t n = 0;

    if (value)
        setenv(name, value, 1);
    while (args->exports[n])
        n++;
    args->exports[n] = (char *)(size_t)name;
}

int wsh_trace_prepare(const struct wsh_args *args)
{
    char path[PATH_MAX];
    int rc = args->trace ? file_take(args->trace) : 0;

    if (rc)
        return rc;
    rc = thing_find(".libs/" LIBRARY, LIBRARY, WSH_LIBDIR, path);
    if (!rc && strpbrk(path, " :"))
        rc = -EINVAL;
    if (!rc)
        rc = library_preload(path);
    if (rc) {
        wsh_say("--trace, --nvtx: %s cannot be preloaded: %s; install libwarpshmem-trace there, in a path "
                "without "
                "space and colon",
                path, wsh_strerror(rc));
        return OSHRUN_FAILED;
    }
    if (args->trace)
        pass_on(args, "SHMEM_TRACE", file);
    if (args->nvtx)
        pass_on(args, "SHMEM_NVTX", "1");
    pass_on(args, "LD_PRELOAD", NULL);
    return 0;
}

static bool parts_are_there(void)
{
    char path[PATH_MAX + 16];

    for (int pe = 0; pe < WSH_OSHRUN_MAX_PES; pe++) {
        snprintf(path, sizeof path, "%s.pe%d", file, pe);
        if (!access(path, F_OK))
            return true;
    }
    return false;
}

void wsh_trace_finish(void)
{
    static const char name[] = "warpshmem-trace";
    static char *const env[] = {NULL};
    char path[PATH_MAX], *const words[] = {(char *)(size_t)name, file, NULL};
    int rc, status = 0;
    pid_t pid;

    if (!parts_are_there())
        return;
    rc = thing_find(name, name, WSH_LIBDIR, path);
    if (!rc)
        rc = -posix_spawn(&pid, path, NULL, NULL, words, env);
    if (!rc)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
    if (rc)
        wsh_say("--trace: the parts %s.pe* are not merged: %s: %s; call warpshmem-trace %s", file, path,
                wsh_strerror(rc), file);
}
