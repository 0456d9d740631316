/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of a PE, also that of an emulated EFA device (--emulate-efa). */
#define _GNU_SOURCE
#include "bootstrap/oshrun/environ.h"

#include "bootstrap/oshrun/io.h"
#include "bootstrap/blob/blob_file.h"
#include "base/env/env.h"
#include "base/err.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t environ_count(char **env)
{
    size_t n = 0;

    while (env[n])
        n++;
    return n;
}

static char **environ_find(char **env, const char *name)
{
    size_t len = strcspn(name, "=");

    for (; *env; env++)
        if (!strncmp(*env, name, len) && (*env)[len] == '=')
            break;
    return env;
}

void wsh_environ_free(char **env)
{
    for (size_t i = 0; env && env[i]; i++)
        free(env[i]);
    free(env);
}

char **wsh_environ_copy(void)
{
    size_t n = environ_count(environ);
    char **env = calloc(n + 1, sizeof *env);

    for (size_t i = 0; env && i < n; i++) {
        env[i] = strdup(environ[i]);
        if (env[i])
            continue;
        wsh_environ_free(env);
        return NULL;
    }
    return env;
}

int wsh_environ_set(char ***env, const char *name, const char *value)
{
    char *text, **at, **longer;
    size_t n = environ_count(*env);

    if (asprintf(&text, "%s=%s", name, value) < 0)
        return -ENOMEM;
    at = environ_find(*env, name);
    if (*at) {
        free(*at);
        *at = text;
        return 0;
    }
    longer = realloc(*env, (n + 2) * sizeof *longer);
    if (!longer) {
        free(text);
        return -ENOMEM;
    }
    longer[n] = text;
    longer[n + 1] = NULL;
    *env = longer;
    return 0;
}

int wsh_environ_set_int(char ***env, const char *name, long value)
{
    char text[32];

    snprintf(text, sizeof text, "%ld", value);
    return wsh_environ_set(env, name, text);
}

void wsh_environ_keep_signals(void)
{
    for (const char *const *name = wsh_env_no_handlers; *name; name++)
        wsh_env_set_default(*name, "1");
}

int wsh_environ_export(char **exports)
{
    for (; *exports; exports++) {
        char *name, *equals = strchr(*exports, '=');

        if (!equals && !*environ_find(environ, *exports)) {
            wsh_say("-x %s: not set in this environment; write -x %s=value", *exports, *exports);
            return OSHRUN_USAGE;
        }
        if (!equals)
            continue;
        name = strndup(*exports, (size_t)(equals - *exports));
        if (name)
            setenv(name, equals + 1, 1);
        free(name);
    }
    return 0;
}

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

/* The folder that oshrun itself lies in, without the slash; empty when it is not known. */
static void oshrun_folder(char folder[PATH_MAX])
{
    ssize_t len = readlink("/proc/self/exe", folder, PATH_MAX - 1);

    folder[len > 0 ? len : 0] = '\0';
    if (strrchr(folder, '/'))
        *strrchr(folder, '/') = '\0';
}

static bool folder_is_build(const char *folder)
{
    char status[PATH_MAX + 16];

    snprintf(status, sizeof status, "%s/config.status", folder);
    return !access(status, F_OK);
}

bool wsh_oshrun_place(char folder[PATH_MAX])
{
    oshrun_folder(folder);
    return folder_is_build(folder);
}

static int library_report_missing(const char *library, bool built)
{
    wsh_say("--emulate-efa: no emulator at %s (%s); %s", library, wsh_strerror(errno),
            built ? "make emulator/libefa-emulator.la in the build folder"
                  : "make install-emulator in the build folder");
    return OSHRUN_FAILED;
}

/* Beside an oshrun that was not installed, else where `make install-emulator` puts it. */
static int library_find(char **library)
{
    char folder[PATH_MAX];
    bool built;

    oshrun_folder(folder);
    built = folder_is_build(folder);
    if (asprintf(library, "%s/%s", built ? folder : WSH_PKGLIBDIR, built ? BUILT : LIBRARY) < 0) {
        *library = NULL;
        wsh_say("out of memory");
        return OSHRUN_FAILED;
    }
    if (access(*library, R_OK))
        return library_report_missing(*library, built);
    if (!strpbrk(*library, " :"))
        return 0;
    wsh_say(
        "--emulate-efa: %s cannot be preloaded: no space or colon may be in its path; build or install it "
        "elsewhere",
        *library);
    return OSHRUN_FAILED;
}

static int device_folder_make(const char *tmpdir, char **folder)
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
    int rc = library_find(&emulate->library);

    emulate->profile = profile;
    return rc ? rc : device_folder_make(tmpdir, &emulate->folder);
}

void wsh_emulate_close(struct wsh_emulate *emulate)
{
    free(emulate->library);
    free(emulate->folder);
    *emulate = (struct wsh_emulate){0};
}

/* Whether the user left a setting alone, under all its names. */
static bool setting_is_default(const char *name)
{
    struct wsh_env_row row;

    for (size_t i = 0; i < wsh_env_count(); i++)
        if (!wsh_env_describe(i, &row) && !strcmp(row.name, name))
            return !strcmp(row.origin, "default");
    return false;
}

/* Last in the list: a sanitizer's library must stay the first. */
static int library_preload(const char *library, char ***env)
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
    int rc = library_preload(emulate->library, env);

    if (!rc)
        rc = wsh_environ_set(env, "EFA_EMULATOR_DIR", emulate->folder);
    if (!rc)
        rc = wsh_environ_set(env, "EFA_EMULATOR_PROFILE", emulate->profile);
    if (!rc && !wsh_env_foreign("FI_EFA_ENABLE_SHM_TRANSFER"))
        rc = wsh_environ_set(env, "FI_EFA_ENABLE_SHM_TRANSFER", "0");
    if (!rc && !within_hosts && setting_is_default("SHMEM_TRANSPORTS"))
        rc = wsh_environ_set(env, "SHMEM_TRANSPORTS", "efa");
    if (!rc && setting_is_default("SHMEM_LIBFABRIC_PROVIDER"))
        rc = wsh_environ_set(env, "SHMEM_LIBFABRIC_PROVIDER", "efa");
    return rc;
}

/* Whether a file may be as long as that of so many PEs. */
static bool blob_file_fits(int n_pes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur / WSH_BLOB_FILE_PART >= (rlim_t)n_pes;
}

int wsh_blob_file_make(const char *tmpdir, int n_pes, char **path)
{
    int fd;

    *path = NULL;
    if (!blob_file_fits(n_pes)) {
        wsh_say_more("`ulimit -f` is less than the file of addresses needs, which go by PMIx instead");
        return 0;
    }
    if (asprintf(path, "%s/addresses", tmpdir) < 0) {
        *path = NULL;
        return -ENOMEM;
    }
    fd = open(*path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        wsh_say("%s: %s; set TMPDIR to a folder that can be written", *path, wsh_strerror(errno));
        return -EIO;
    }
    close(fd);
    return 0;
}
