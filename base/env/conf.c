/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of settings: which there are, who may have written them, and their lines. */
#define _GNU_SOURCE
#include "base/env/conf.h"

#include "base/env/conf_file.h"
#include "base/env/env.h"
#include "base/env/secure.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BELOW_HOME "/.config/warpshmem.conf"

static struct {
    pthread_mutex_t lock;
    bool loaded;
    struct wsh_conf_file file[WSH_CONF_PLACES];
    char fault[768];
} conf = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void load_locked(const char *const paths[WSH_CONF_PLACES])
{
    *conf.fault = '\0';
    for (int i = 0; i < WSH_CONF_PLACES; i++)
        wsh_conf_file_free(&conf.file[i]);
    for (int i = 0; i < WSH_CONF_PLACES && !*conf.fault; i++)
        if (paths[i])
            wsh_conf_file_read(&conf.file[i], (enum wsh_conf_place)i, paths[i], conf.fault,
                               sizeof conf.fault);
    for (int i = 0; i < WSH_CONF_PLACES && *conf.fault; i++)
        wsh_conf_file_free(&conf.file[i]);
    conf.loaded = true;
}

/* Where the environment leads. A path that is cut is refused by its length. */
static void load_default(void)
{
    bool secure = wsh_env_is_secure();
    const char *named = secure ? NULL : wsh_env_foreign("WARPSHMEM_CONF");
    const char *home = secure ? NULL : wsh_env_foreign("HOME");
    char below[WSH_CONF_PATH_MAX];
    const char *paths[WSH_CONF_PLACES] = {named, NULL, WSH_CONF_SITE};

    if (home && *home == '/' && snprintf(below, sizeof below, "%s%s", home, BELOW_HOME) < (int)sizeof below)
        paths[WSH_CONF_HOME] = below;
    if (named && !strcmp(named, "none"))
        memset(paths, 0, sizeof paths);
    load_locked(paths);
}

static void need(void)
{
    pthread_mutex_lock(&conf.lock);
    if (!conf.loaded)
        load_default();
    pthread_mutex_unlock(&conf.lock);
}

void wsh_conf_load(const char *const paths[WSH_CONF_PLACES])
{
    pthread_mutex_lock(&conf.lock);
    load_locked(paths);
    pthread_mutex_unlock(&conf.lock);
}

const struct wsh_conf_line *wsh_conf_line(size_t i)
{
    need();
    for (int place = 0; place < WSH_CONF_PLACES; place++) {
        if (i < conf.file[place].n)
            return &conf.file[place].line[i];
        i -= conf.file[place].n;
    }
    return NULL;
}

const char *wsh_conf_fault(void)
{
    need();
    return *conf.fault ? conf.fault : NULL;
}
