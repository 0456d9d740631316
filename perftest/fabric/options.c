/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the two options that only fabric tests take. */
#include "perftest/fabric/options.h"

#include "perftest/fabric/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 1000 };

static const char *const policies[] = {"single", "split", "roundrobin"};

const char *fab_policy_name(enum fab_policy policy)
{
    return policies[policy];
}

static int take_nics(struct fab_options *o, const char *value, char *error)
{
    char *end;
    long n = strtol(value, &end, 10);

    o->nics = strcmp(value, "all") ? (int)n : 0;
    if (!strcmp(value, "all") || (end != value && !*end && n >= 1 && n <= FAB_RAILS_MAX))
        return 0;
    snprintf(error, PERF_ERROR_TEXT, "option --nics: '%s' is not all or a number from 1 to %d", value,
             FAB_RAILS_MAX);
    return -1;
}

static int take_policy(struct fab_options *o, const char *value, char *error)
{
    for (int i = 0; i < (int)(sizeof(policies) / sizeof(policies[0])); i++) {
        o->policy = (enum fab_policy)i;
        if (!strcmp(value, policies[i]))
            return 0;
    }
    snprintf(error, PERF_ERROR_TEXT, "option --policy: '%s' is not single, split or roundrobin", value);
    return -1;
}

/* The value of `name` at argv[*i], as `--name value` or `--name=value`; NULL: it is another option. */
static const char *value_of(const char *name, char **argv, int argc, int *i)
{
    size_t len = strlen(name);
    const char *word = argv[*i];

    if (strncmp(word, name, len) || (word[len] && word[len] != '='))
        return NULL;
    if (word[len])
        return word + len + 1;
    return *i + 1 < argc ? argv[++*i] : "";
}

static int take_own(struct fab_options *o, int *argc, char **argv, char *error)
{
    int kept = 1;

    for (int i = 1; i < *argc; i++) {
        int at = i;
        const char *nics = value_of("--nics", argv, *argc, &i);
        const char *policy = nics ? NULL : value_of("--policy", argv, *argc, &i);

        if ((nics && take_nics(o, nics, error)) || (policy && take_policy(o, policy, error)))
            return -1;
        if (!nics && !policy)
            argv[kept++] = argv[at];
    }
    argv[kept] = NULL;
    *argc = kept;
    return 0;
}

int fab_options_parse(struct fab_options *o, const struct perf_defaults *defaults, int argc, char **argv,
                      char *error)
{
    *o = (struct fab_options){.nics = 1};
    if (take_own(o, &argc, argv, error) || perf_options_parse(&o->common, defaults, argc, argv, error))
        return -1;
    if (o->common.samples <= SAMPLES_MAX)
        return 0;
    snprintf(error, PERF_ERROR_TEXT, "option -n: %ld is more than %d samples; take a larger batch (-k)",
             o->common.samples, SAMPLES_MAX);
    return -1;
}

void fab_options_help(const struct perf_defaults *defaults)
{
    printf("      --nics N|all    NICs that each process opens (1)\n");
    printf("      --policy P      single: all on the first; split: stripes over all; roundrobin (single)\n");
    perf_options_help(defaults);
}
