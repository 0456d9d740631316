/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the environment that a PE gets. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/environ.h"

#include "bootstrap/oshrun/say.h"
#include "base/env.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t count(char **env)
{
    size_t n = 0;

    while (env[n])
        n++;
    return n;
}

static char **find(char **env, const char *name)
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
    size_t n = count(environ);
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
    size_t n = count(*env);

    if (asprintf(&text, "%s=%s", name, value) < 0)
        return -ENOMEM;
    at = find(*env, name);
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

        if (!equals && !*find(environ, *exports)) {
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
