/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how the PEs of a job come to share an emulated EFA device (--emulate-efa). */
#define _GNU_SOURCE
#include "bootstrap/oshrun/emulate.h"

#include "bootstrap/oshrun/environ.h"
#include "bootstrap/oshrun/say.h"
#include "base/env.h"
#include "base/err.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libefa-emulator.so"
#define BUILT "emulator/.libs/" LIBRARY /* in a build folder, where oshrun stands at the top */

static const char *const profiles[] = {"p4d", "p5", "p5en", "p6", "minimal"};

bool wsh_emulate_knows(const char *profile)
{
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
        if (!strcmp(profiles[i], profile))
            return true;
    return false;
}

/* The folder that oshrun itself lies in, without the slash; empty when it cannot be told. */
static void own_folder(char folder[PATH_MAX])
{
    ssize_t len = readlink("/proc/self/exe", folder, PATH_MAX - 1);

    folder[len > 0 ? len : 0] = '\0';
    if (strrchr(folder, '/'))
        *strrchr(folder, '/') = '\0';
}

static bool is_build_folder(const char *folder)
{
    char status[PATH_MAX + 16];

    snprintf(status, sizeof status, "%s/config.status", folder);
    return !access(status, F_OK);
}

static int missing(const char *library, bool built)
{
    wsh_say("--emulate-efa: no emulator at %s (%s); %s", library, wsh_strerror(errno),
            built ? "make emulator/libefa-emulator.la in the build folder"
                  : "make install-emulator in the build folder");
    return OSHRUN_FAILED;
}

/* Beside an oshrun that was not installed, else where `make install-emulator` puts it. */
static int find_library(char **library)
{
    char folder[PATH_MAX];
    bool built;

    own_folder(folder);
    built = is_build_folder(folder);
    if (asprintf(library, "%s/%s", built ? folder : WSH_PKGLIBDIR, built ? BUILT : LIBRARY) < 0) {
        *library = NULL;
        wsh_say("out of memory");
        return OSHRUN_FAILED;
    }
    if (access(*library, R_OK))
        return missing(*library, built);
    if (!strpbrk(*library, " :"))
        return 0;
    wsh_say(
        "--emulate-efa: %s cannot be preloaded: no space or colon may be in its path; build or install it "
        "elsewhere",
        *library);
    return OSHRUN_FAILED;
}

static int make_folder(const char *tmpdir, char **folder)
{
    if (asprintf(folder, "%s/efa", tmpdir) < 0) {
        *folder = NULL;
        wsh_say("out of memory");
        return OSHRUN_FAILED;
    }
    if (!mkdir(*folder, 0700))
        return 0;
    wsh_say("cannot make %s: %s; set TMPDIR to a writable folder", *folder, wsh_strerror(errno));
    return OSHRUN_FAILED;
}

int wsh_emulate_open(struct wsh_emulate *emulate, const char *profile, const char *tmpdir)
{
    int rc = find_library(&emulate->library);

    emulate->profile = profile;
    return rc ? rc : make_folder(tmpdir, &emulate->folder);
}

void wsh_emulate_close(struct wsh_emulate *emulate)
{
    free(emulate->library);
    free(emulate->folder);
    *emulate = (struct wsh_emulate){0};
}

/* Whether the user left a setting alone, under all its names. */
static bool is_default(const char *name)
{
    struct wsh_env_row row;

    for (size_t i = 0; i < wsh_env_count(); i++)
        if (!wsh_env_describe(i, &row) && !strcmp(row.name, name))
            return !strcmp(row.origin, "default");
    return false;
}

/* Last in the list: a sanitizer's library must stay the first. */
static int preload(const char *library, char ***env)
{
    const char *others = wsh_env_foreign("LD_PRELOAD");
    char *list;
    int rc;

    if (asprintf(&list, "%s%s%s", others ? others : "", others ? ":" : "", library) < 0)
        return -ENOMEM;
    rc = wsh_environ_set(env, "LD_PRELOAD", list);
    free(list);
    return rc;
}

int wsh_emulate_environ(const struct wsh_emulate *emulate, bool within_hosts, char ***env)
{
    int rc = preload(emulate->library, env);

    if (!rc)
        rc = wsh_environ_set(env, "EFA_EMULATOR_DIR", emulate->folder);
    if (!rc)
        rc = wsh_environ_set(env, "EFA_EMULATOR_PROFILE", emulate->profile);
    if (!rc && !wsh_env_foreign("FI_EFA_ENABLE_SHM_TRANSFER"))
        rc = wsh_environ_set(env, "FI_EFA_ENABLE_SHM_TRANSFER", "0");
    if (!rc && !within_hosts && is_default("SHMEM_TRANSPORTS"))
        rc = wsh_environ_set(env, "SHMEM_TRANSPORTS", "efa");
    if (!rc && is_default("SHMEM_LIBFABRIC_PROVIDER"))
        rc = wsh_environ_set(env, "SHMEM_LIBFABRIC_PROVIDER", "efa");
    return rc;
}
