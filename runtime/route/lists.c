/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists by which the settings restrict transports. */
#include "base/log.h"
#include "runtime/job/job.h"
#include "runtime/route/route.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The i-th transport by name: those of the registry, then staging, which is the core's own; NULL: there are no more. */
static const char *name_at(size_t i)
{
    const struct wsh_tp_ops *const *ops = wsh_tp_registry();
    size_t n = 0;

    while (ops[n] && n < i)
        n++;
    return ops[n] ? ops[n]->name : n == i ? WSH_STAGE_NAME : NULL;
}

/* Whether a word of a list names the transport; "relay" is the former name of staging. */
static bool is_name(const char *word, size_t len, const char *name)
{
    static const char former[] = "relay";

    return (strlen(name) == len && !strncasecmp(word, name, len)) ||
           (!strcmp(name, WSH_STAGE_NAME) && len == strlen(former) && !strncasecmp(word, former, len));
}

static bool is_listed(const char *list, const char *name)
{
    for (const char *word = list; word && *word;) {
        size_t len = strcspn(word, ",");

        if (is_name(word, len, name))
            return true;
        word += len + (word[len] == ',');
    }
    return false;
}

static bool is_known(const char *word, size_t len)
{
    for (size_t i = 0; name_at(i); i++)
        if (is_name(word, len, name_at(i)))
            return true;
    return false;
}

static int check_list(const char *setting, const char *list)
{
    char names[128] = "";

    for (size_t i = 0; name_at(i); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "", name_at(i));
    for (const char *word = list; word && *word;) {
        size_t len = strcspn(word, ",");

        if (!is_known(word, len)) {
            wsh_error("%s: unknown transport '%.*s'; known: %s", setting, (int)len, word, names);
            return -EINVAL;
        }
        word += len + (word[len] == ',');
    }
    return 0;
}

bool wsh_route_allows(const struct wsh_job *job, const struct wsh_tp_ops *ops, int seg)
{
    const char *list = seg == WSH_SEG_STATIC && job->env.transports_static ? job->env.transports_static
                                                                           : job->env.transports;

    return !list || is_listed(list, ops->name);
}

/* The first of the registry is the one that maps host memory. */
bool wsh_route_shares_memory(const struct wsh_job *job)
{
    return wsh_route_allows(job, wsh_tp_registry()[0], WSH_SEG_HEAP);
}

int wsh_route_check_lists(const struct wsh_job *job)
{
    int rc = check_list("SHMEM_TRANSPORTS", job->env.transports);

    return rc ? rc : check_list("SHMEM_TRANSPORTS_STATIC", job->env.transports_static);
}
