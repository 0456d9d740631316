/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the names of variables with those of settings. */
#define _GNU_SOURCE
#include "base/env/misspelt.h"

#include "base/env/conf.h"
#include "base/env/env.h"
#include "base/env/spell.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Of the compiler wrappers, which read them, of oshrun for scripts, and of users' own scripts, for folders. */
static const char *const others[] = {"SHMEM_CC",      "SHMEM_CXX",  "SHMEM_NVCC", "SHMEM_PE",
                                     "SHMEM_HOST_PE", "SHMEM_HOME", "SHMEM_DIR",  "SHMEM_ROOT",
                                     "SHMEM_PATH",    "SHMEM_INC",  "SHMEM_LIB"};

static bool name_is_other(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strlen(others[i]) == len && !strncmp(others[i], name, len))
            return true;
    return false;
}

/* A name, and the known one that is the same but for two letters. */
struct search {
    const char *name;
    size_t len, least;
    bool known; /* it is one of these itself */
    char meant[WSH_SPELL_LONGEST + 1];
};

static void search_compare(struct search *search, const char *other, size_t len, bool may_be_meant)
{
    char text[WSH_SPELL_LONGEST + 1];
    size_t distance;

    if (len + search->least <= search->len || search->len + search->least <= len)
        return; /* so many letters are another name */
    snprintf(text, sizeof text, "%.*s", (int)len, other);
    distance = wsh_spell_distance(search->name, search->len, text);
    search->known |= !distance;
    if (distance >= search->least || !may_be_meant)
        return;
    search->least = distance;
    strcpy(search->meant, text);
}

static void search_settings(struct search *search)
{
    struct wsh_env_row row;

    for (size_t i = 0; i < wsh_env_count(); i++) {
        wsh_env_name(i, &row);
        search_compare(search, row.name, strlen(row.name), !row.internal);
        for (const char *alias = row.aliases; *alias;) {
            size_t len = strcspn(alias, " ");

            search_compare(search, alias, len, !strncmp(search->name, "NVSHMEM_", 8));
            alias += len + (alias[len] == ' ');
        }
    }
    for (size_t i = 0; wsh_env_not_needed(i); i++)
        search_compare(search, wsh_env_not_needed(i), strlen(wsh_env_not_needed(i)), true);
}

/* Whether `name` is no setting; *meant is then the one that may be meant. */
static bool is_none(const char *name, size_t len, const char **meant)
{
    static _Thread_local struct search search;

    search = (struct search){.name = name, .len = len, .least = 3};
    search_settings(&search);
    *meant = *search.meant ? search.meant : NULL;
    return !search.known;
}

static bool find_in_environment(size_t *at, struct wsh_misspelt *found)
{
    while (environ && environ[*at]) {
        const char *name = environ[(*at)++];
        size_t len = strcspn(name, "=");
        bool theirs = !strncmp(name, "NVSHMEM_", 8);

        *found = (struct wsh_misspelt){.name = name, .length = (int)len};
        if ((strncmp(name, "SHMEM_", 6) && !theirs) || name_is_other(name, len))
            continue;
        if (is_none(name, len, &found->meant) && (found->meant || !theirs))
            return true;
    }
    return false;
}

static bool is_oshruns(const char *name)
{
    struct wsh_env_row row;

    for (size_t i = 0; i < wsh_env_count(); i++) {
        wsh_env_name(i, &row);
        if (row.internal && !strcmp(row.name, name))
            return true;
    }
    return false;
}

/* Every name: a file has settings alone, and none of oshrun's. SMA_ stands for SHMEM_. */
static bool is_none_of_file(const char *name, const char **meant)
{
    char other[WSH_SPELL_LONGEST + 1];

    if (!strncmp(name, "SMA_", 4))
        snprintf(other, sizeof other, "SHMEM_%s", name + 4);
    else
        snprintf(other, sizeof other, "%s", name);
    return is_none(other, strlen(other), meant) || is_oshruns(other);
}

bool wsh_env_misspelt(size_t *at, struct wsh_misspelt *found)
{
    const struct wsh_conf_line *line;
    size_t n = 0;

    while (environ && environ[n])
        n++;
    if (*at < n && find_in_environment(at, found))
        return true;
    while ((line = wsh_conf_line((*at)++ - n))) {
        *found = (struct wsh_misspelt){line->name, (int)strlen(line->name), NULL, line->path, line->number};
        if (is_none_of_file(line->name, &found->meant))
            return true;
    }
    return false;
}
