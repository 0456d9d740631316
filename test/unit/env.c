/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings are read with defaults, aliases and precedence; a value that does not parse is named in one line. */
#define _GNU_SOURCE
#include "base/env/env.h"
#include "base/env/misspelt.h"

#include "base/log.h"
#include "test/common/unit.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static struct wsh_env env;
static int load_rc;

static void load(void *arg)
{
    (void)arg;
    load_rc = wsh_env_load(&env);
}

/* Loads under exactly these variables (NULL-terminated NAME=value); text = what was printed. */
static void load_with(char **vars, char *text, size_t size)
{
    char **saved = environ;

    environ = vars;
    unit_capture(load, NULL, text, size);
    environ = saved;
}

static const struct wsh_env_row *row_named(const char *name)
{
    static struct wsh_env_row row;

    for (size_t i = 0; i < wsh_env_count(); i++) {
        if (wsh_env_describe(i, &row) == 0 && !strcmp(row.name, name))
            return &row;
    }
    return NULL;
}

static void note(void *arg)
{
    (void)arg;
    wsh_env_note();
}

/* What is taken by an alias, and what is not read, is said; what is set by its own name is not. */
static void notes_aliases(void)
{
    char *vars[] = {(char[]){"NVSHMEM_SYMMETRIC_SIZE=64M"},
                    (char[]){"NVSHMEM_DISABLE_NVLS=1"},
                    (char[]){"SHMEM_STRICT=0"},
                    (char[]){"FI_EFA_ENABLE_SHM_TRANSFER=0"},
                    (char[]){"FI_EFA_USE_DEVICE_RDMA=1"},
                    NULL};
    char text[2000], **saved = environ;

    environ = vars;
    CU_ASSERT_EQUAL_FATAL(wsh_log_open("info", NULL), 0);
    unit_capture(note, NULL, text, sizeof text);
    wsh_log_close();
    wsh_log_max_level = WSH_LOG_WARN;
    environ = saved;
    CU_ASSERT(strstr(text, "NVSHMEM_SYMMETRIC_SIZE is taken as SHMEM_SYMMETRIC_SIZE") != NULL);
    CU_ASSERT(strstr(text, "NVSHMEM_DISABLE_NVLS is not read: ") != NULL);
    CU_ASSERT(strstr(text, "FI_EFA_USE_DEVICE_RDMA=1 is not needed: ") != NULL);
    CU_ASSERT(!strstr(text, "STRICT") && unit_lines(text) == 4); /* both heaps take that size */
}

/* A name that is nearly a setting's is found with that setting, an unlike one without; those of settings are not. */
static void finds_misspelt(void)
{
    char *vars[] = {(char[]){"SHMEM_SYMETRIC_SIZE=1G"},
                    (char[]){"SHMEM_SYMMETRIC_SIZE=1G"},
                    (char[]){"SHMEM_CC=cc"},
                    (char[]){"SHMEM_SYMMETRIC_HEAP_SIZE=1G"},
                    (char[]){"SHMEM_UNRELATED=1"},
                    (char[]){"HOME=/"},
                    (char[]){"SHMEM_DEBG=info"},
                    (char[]){"SHMEM_HOME=/opt"},
                    (char[]){"NVSHMEM_SYMETRIC_SIZE=1G"},
                    (char[]){"NVSHMEM_SYMMETRIC_SIZE=1G"},
                    (char[]){"NVSHMEM_DISABLE_NVLS=1"},
                    (char[]){"NVSHMEM_PREFIX=/opt"},
                    NULL};
    char **saved = environ;
    struct wsh_misspelt it;
    size_t at = 0;

    environ = vars;
    CU_ASSERT_FATAL(wsh_env_misspelt(&at, &it));
    CU_ASSERT(it.length == 19 && !strncmp(it.name, "SHMEM_SYMETRIC_SIZE", 19) && !it.path &&
              !strcmp(it.meant, "SHMEM_SYMMETRIC_SIZE"));
    CU_ASSERT_FATAL(wsh_env_misspelt(&at, &it));
    CU_ASSERT(!strncmp(it.name, "SHMEM_UNRELATED=", 16) && !it.meant);
    CU_ASSERT_FATAL(wsh_env_misspelt(&at, &it));
    CU_ASSERT(!strncmp(it.name, "SHMEM_DEBG=", 11) && !strcmp(it.meant, "SHMEM_DEBUG"));
    CU_ASSERT_FATAL(wsh_env_misspelt(&at, &it));
    CU_ASSERT(it.length == 21 && !strcmp(it.meant, "NVSHMEM_SYMMETRIC_SIZE"));
    CU_ASSERT(!wsh_env_misspelt(&at, &it));
    environ = saved;
}

static void parses_sizes(void)
{
    static const struct {
        const char *text;
        size_t bytes;
    } rows[] = {
        {"0", 0},           {"1", 1},         {"4096", 4096},      {"1k", 1024},
        {"1K", 1024},       {"2m", 2 << 20},  {"512M", 512 << 20}, {"1g", 1 << 30},
        {"1.5G", 3u << 29}, {".5m", 1 << 19}, {"3.1M", 3250586},   {"1t", 1ull << 40},
        {"0.25k", 256},     {"1.", 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t bytes = 77;

        CU_ASSERT_EQUAL(wsh_env_parse_size(rows[i].text, &bytes), 0);
        CU_ASSERT(bytes == rows[i].bytes ||
                  (rows[i].bytes == 3250586 && (bytes == 3250585 || bytes == 3250586)));
    }
}

static void refuses_what_is_no_size(void)
{
    static const char *const bad[] = {"",    "banana", "-1",    "1x",  "1kk", "k",   ".",  "1 k", " 1",
                                      "1e3", "0x10",   "1.2.3", "nan", "inf", "1kb", "+1", "..5"};
    size_t bytes;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int rc = wsh_env_parse_size(bad[i], &bytes);

        CU_ASSERT_EQUAL(rc, -EINVAL);
        if (rc != -EINVAL)
            printf("accepted '%s'\n", bad[i]);
    }
    CU_ASSERT_EQUAL(wsh_env_parse_size("99999999999999999999", &bytes), -ERANGE);
    CU_ASSERT_EQUAL(wsh_env_parse_size("99999999t", &bytes), -ERANGE);
}

static void has_defaults(void)
{
    char *none[] = {NULL}, text[2048];

    load_with(none, text, sizeof text);
    CU_ASSERT_EQUAL(load_rc, 0);
    CU_ASSERT_EQUAL(unit_lines(text), 0);
    CU_ASSERT_EQUAL(env.symmetric_size, (size_t)1 << 30);
    CU_ASSERT_EQUAL(env.bootstrap, WSH_BOOTSTRAP_AUTO);
    CU_ASSERT_PTR_NULL(env.transports);
    CU_ASSERT(!env.strict && !env.version && !env.info);
}

static void prefers_shmem_to_sma_to_aliases(void)
{
    char *all[] = {"SHMEM_SYMMETRIC_SIZE=1M", "SMA_SYMMETRIC_SIZE=2M", "NVSHMEM_SYMMETRIC_SIZE=3M", NULL};
    char text[2048];

    load_with(all, text, sizeof text);
    CU_ASSERT_EQUAL(env.symmetric_size, 1 << 20);
    load_with(all + 1, text, sizeof text);
    CU_ASSERT_EQUAL(env.symmetric_size, 2 << 20);
    load_with(all + 2, text, sizeof text);
    CU_ASSERT_EQUAL(env.symmetric_size, 3 << 20);
    CU_ASSERT_EQUAL(load_rc, 0);
}

static void takes_empty_as_unset(void)
{
    char *vars[] = {"SHMEM_SYMMETRIC_SIZE=", "SHMEM_TRANSPORTS=", NULL}, text[2048];

    load_with(vars, text, sizeof text);
    CU_ASSERT_EQUAL(load_rc, 0);
    CU_ASSERT_EQUAL(env.symmetric_size, (size_t)1 << 30);
    CU_ASSERT_PTR_NULL(env.transports);
}

static void names_bad_values_in_one_line(void)
{
    static char *const bad[] = {"SHMEM_SYMMETRIC_SIZE=banana", "SHMEM_BOOTSTRAP=telepathy",
                                "SHMEM_STRICT=maybe",          "SHMEM_HANG_SECONDS=soon",
                                "SHMEM_SPIN_US=1.5",           "SMA_INFO=7up",
                                "SHMEM_HANG_SECONDS=-1",       "SHMEM_HANG_SECONDS=1e19",
                                "SHMEM_HANG_SECONDS=1e-300",   "SHMEM_HANG_SECONDS=nan"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *vars[] = {bad[i], NULL}, text[2048], name[64];

        snprintf(name, sizeof name, "%.*s", (int)strcspn(bad[i], "="), bad[i]);
        load_with(vars, text, sizeof text);
        CU_ASSERT_EQUAL(load_rc, -EINVAL);
        CU_ASSERT_EQUAL(unit_lines(text), 1);
        CU_ASSERT(strstr(text, name) && strstr(text, strchr(bad[i], '=') + 1) && strstr(text, "use "));
        CU_ASSERT_EQUAL(env.symmetric_size, (size_t)1 << 30);
    }
}

static void tells_where_values_come_from(void)
{
    const struct wsh_env_row *row;

    unsetenv("SHMEM_SYMMETRIC_SIZE");
    row = row_named("SHMEM_SYMMETRIC_SIZE");
    CU_ASSERT(row && !strcmp(row->origin, "default"));
    setenv("SMA_SYMMETRIC_SIZE", "5M", 1);
    row = row_named("SHMEM_SYMMETRIC_SIZE");
    CU_ASSERT(row && !strcmp(row->origin, "SMA_SYMMETRIC_SIZE") && !strcmp(row->value, "5M"));
    unsetenv("SMA_SYMMETRIC_SIZE");
}

static void hides_secrets(void)
{
    const struct wsh_env_row *row;

    setenv("SHMEM_BOOTSTRAP_UID_SECRET", "nobody-may-see-this", 1);
    row = row_named("SHMEM_BOOTSTRAP_UID_SECRET");
    CU_ASSERT(row && !strcmp(row->value, "(set)"));
    unsetenv("SHMEM_BOOTSTRAP_UID_SECRET");
    row = row_named("SHMEM_BOOTSTRAP_UID_SECRET");
    CU_ASSERT(row && !*row->value);
}

static void every_row_is_complete(void)
{
    struct wsh_env_row row;

    for (size_t i = 0; i < wsh_env_count(); i++) {
        CU_ASSERT_EQUAL(wsh_env_describe(i, &row), 0);
        CU_ASSERT(!strncmp(row.name, "SHMEM_", 6) && strlen(row.help) > 10);
    }
}

static void sees_foreign_variables(void)
{
    setenv("WSH_UNIT_FOREIGN", "x", 1);
    CU_ASSERT(wsh_env_foreign("WSH_UNIT_FOREIGN") && !strcmp(wsh_env_foreign("WSH_UNIT_FOREIGN"), "x"));
    setenv("WSH_UNIT_FOREIGN", "", 1);
    CU_ASSERT_PTR_NULL(wsh_env_foreign("WSH_UNIT_FOREIGN"));
}

const struct unit_test unit_tests[] = {
    {"notes aliases, and what is not read", notes_aliases},
    {"finds what is nearly a setting", finds_misspelt},
    {"parses sizes", parses_sizes},
    {"refuses what is no size", refuses_what_is_no_size},
    {"has defaults", has_defaults},
    {"prefers SHMEM_ to SMA_ to aliases", prefers_shmem_to_sma_to_aliases},
    {"takes empty as unset", takes_empty_as_unset},
    {"names bad values in one line", names_bad_values_in_one_line},
    {"tells where values come from", tells_where_values_come_from},
    {"hides secrets", hides_secrets},
    {"every row is complete", every_row_is_complete},
    {"sees foreign variables", sees_foreign_variables},
    {NULL, NULL},
};
