/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whoever starts a set-user-ID program chooses its environment, and would otherwise name files that it writes and
 * objects that it loads. libc has dropped LD_*, TMPDIR and others of its own before.
 */
#define _GNU_SOURCE
#include "base/env/secure.h"

#include "base/env/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/*
 * Of libraries that are loaded at run time: some of these name folders of plugins, or files. What says which job this
 * is (PMIX_NAMESPACE, PMI_FD, …) and which GPUs it may use stays.
 */
static const char *const dropped[] = {
    "FI_",          "OFI_",  "HWLOC_", "RDMAV_",         "IBV_",
    "EFA_EMULATOR", "MLX4_", "MLX5_",  "CUDA_INJECTION", "CUDA_CACHE",
    "CUDA_LOG",     "PSM2_", "UCX_",   "PMIX_MCA_",      "PMIX_INSTALL_PREFIX",
    "PMIX_OUTPUT_"};

static char ignored[64];

bool wsh_env_is_secure(void)
{
    return getauxval(AT_SECURE);
}

const char *wsh_env_secure_ignored(void)
{
    return *ignored ? ignored : NULL;
}

static void note_ignored(const char *name, size_t len)
{
    if (!*ignored)
        snprintf(ignored, sizeof ignored, "%.*s", (int)len, name);
}

const char *wsh_env_secure_value(const char *name, bool internal)
{
    const char *value = wsh_env_foreign(name);

    if (!value || internal || !wsh_env_is_secure())
        return value;
    note_ignored(name, strlen(name));
    return NULL;
}

static bool is_dropped(const char *word)
{
    for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
        if (!strncmp(word, dropped[i], strlen(dropped[i])))
            return true;
    return false;
}

void wsh_env_secure_clean(void)
{
    size_t at = 0;

    while (wsh_env_is_secure() && environ && environ[at]) {
        size_t len = strcspn(environ[at], "=");
        char *name = is_dropped(environ[at]) ? strndup(environ[at], len) : NULL;

        at++;
        if (!name)
            continue;
        note_ignored(name, len);
        unsetenv(name);
        free(name);
        at = 0; /* the others have moved */
    }
}
