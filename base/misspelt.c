/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the names of variables with those of settings. */
#define _GNU_SOURCE
#include "base/misspelt.h"

#include "base/env.h"
#include "base/spell.h"

#include <string.h>
#include <unistd.h>

/* Of the compiler wrappers, which read them. */
static const char *const others[] = {"SHMEM_CC", "SHMEM_CXX", "SHMEM_NVCC"};

static bool name_is_other(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strlen(others[i]) == len && !strncmp(others[i], name, len))
            return true;
    return false;
}

/* The setting whose name is the same but for two letters. NULL: none, or it is the name, or another name, of one. */
static const char *setting_nearest(const char *name, size_t len)
{
    const char *meant = NULL;
    size_t least = 3;

    for (size_t i = 0; i < wsh_env_count(); i++) {
        struct wsh_env_row row;
        size_t distance;

        wsh_env_describe(i, &row);
        distance = wsh_spell_distance(name, len, row.name);
        if (!distance || (strlen(row.origin) == len && !strncmp(row.origin, name, len)))
            return NULL;
        if (distance < least && !row.internal) {
            least = distance;
            meant = row.name;
        }
    }
    return meant;
}

const char *wsh_env_misspelt(size_t *at, int *length, const char **meant)
{
    while (environ && environ[*at]) {
        const char *name = environ[(*at)++];
        size_t len = strcspn(name, "=");

        if (strncmp(name, "SHMEM_", 6) || name_is_other(name, len))
            continue;
        *meant = setting_nearest(name, len);
        *length = (int)len;
        if (*meant)
            return name;
    }
    return NULL;
}
