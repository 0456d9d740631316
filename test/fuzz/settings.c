/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever stands in the environment: every setting is read, or refused with one line that names it and leaves its
 * default. An input is lines NAME=value; where a name begins with no capital, its first letter chooses a row.
 */
#define _GNU_SOURCE
#include "base/env/env.h"

#include "base/log.h"
#include "test/fuzz/common/fuzz.h"
#include "topo/niclist.h"
#include "topo/topo.h"
#include "topo/binding.h"
#include "transports/efa/nic/interface.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

enum { LINES_MAX = 64 };

static char *line_name(char *line)
{
    struct wsh_env_row row;
    const char *value = strchr(line, '=');
    char *made;

    if (!value || (*line >= 'A' && *line <= 'Z'))
        return strdup(line);
    wsh_env_describe((unsigned char)*line % wsh_env_count(), &row);
    return asprintf(&made, "%s%s", row.name, value) < 0 ? NULL : made;
}

static void environ_make(char *text, char **vars)
{
    size_t n = 0;

    for (char *rest = text, *line; n < LINES_MAX && (line = strsep(&rest, "\n"));)
        vars[n++] = line_name(line);
    vars[n] = NULL;
}

/* Each row alone; the number of those that do not parse. */
static unsigned rows_describe(void)
{
    unsigned invalid = 0;
    struct wsh_env_row row;

    for (size_t i = 0; i < wsh_env_count(); i++) {
        invalid += wsh_env_describe(i, &row) != 0;
        fuzz_read(row.value, strlen(row.value));
        fuzz_read(row.origin, strlen(row.origin));
    }
    return invalid;
}

static void settings_print(void)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    wsh_env_print(out, true);
    fclose(out);
    free(text);
}

/* The settings that are lists, as their readers take them. */
static void lists_read(const struct wsh_env *env)
{
    static const struct wsh_topo_dev nics[] = {{.name = "rdmap0s6", .pci = "0000:00:06.0"},
                                               {.name = "rdmap79s0", .pci = "0000:4f:00.0"}};
    static const struct wsh_topo topo = {
        .n_gpus = 2,
        .gpu = {{.pci = "0000:53:00.0", .uuid = "GPU-4a51a4b2"}, {.pci = "0000:64:00.0", .uuid = "GPU-77"}}};
    const struct wsh_topo_local local = {.rank = 1, .n = 3};
    struct wsh_binding w;
    struct wsh_efa_where where;
    uint64_t usable;

    fuzz_lines();
    FUZZ_CHECK(wsh_niclist_filter(nics, 2, env->nics, env->nics_exclude, &usable) || (usable && usable < 4));
    fuzz_lines();
    FUZZ_CHECK(!wsh_binding_find(&w, &topo, env->pe_gpu, &local) || fuzz_lines() == 1);
    FUZZ_CHECK(w.n_list >= 0 && w.n_list <= WSH_TOPO_GPUS && w.own < topo.n_gpus);
    fuzz_lines();
    FUZZ_CHECK(!wsh_efa_where_open(&where, env, false) || fuzz_lines() == 1);
    wsh_log_max_level = -1; /* its own line goes nowhere */
    FUZZ_CHECK(wsh_log_open(env->debug, NULL) <= 0);
    wsh_log_close();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    char *text = fuzz_text(&in), *vars[LINES_MAX + 1], **saved = environ;
    struct wsh_env env;
    unsigned invalid, lines;
    int rc;

    environ_make(text, vars);
    environ = vars;
    invalid = rows_describe();
    fuzz_lines();
    rc = wsh_env_load(&env);
    lines = fuzz_lines();
    FUZZ_CHECK((rc != 0) == (invalid != 0) && lines == invalid);
    FUZZ_CHECK(env.hang_seconds >= 0 && env.hang_seconds <= 1e9);
    settings_print();
    lists_read(&env);
    environ = saved;
    for (char **var = vars; *var; var++)
        free(*var);
    free(text);
    return 0;
}
