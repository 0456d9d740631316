/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads, checks and shows settings; the only file that reads the environment. */
#include "base/env/env.h"

#include "base/env/conf.h"
#include "base/env/secure.h"
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct setting {
    size_t offset;
    const char *kind, *name, *def, *aliases, *help;
};

static const struct setting settings[] = {
#define WSH_ENV(field, kind, name, def, aliases, help) \
    {offsetof(struct wsh_env, field), #kind, name, def, aliases, help},
#include "base/env/env_defs.h"
#undef WSH_ENV
};

size_t wsh_env_count(void)
{
    return sizeof settings / sizeof settings[0];
}

const char *wsh_env_foreign(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

bool wsh_env_set_default(const char *name, const char *value)
{
    return !getenv(name) && !setenv(name, value, 1);
}

/* Of libinfinipath and of older versions of libpsm2, whose constructors look whether they are set. */
const char *const wsh_env_no_handlers[] = {"IPATH_NO_BACKTRACE", "HFI_NO_BACKTRACE", NULL};

/* A number that oshrun itself gives its PEs. */
static bool is_oshruns_number(const struct setting *row)
{
    return !strncmp(row->help, "internal", 8) && row->kind[0] == 'I';
}

/* The i-th name of a setting: its own, SMA_ for SHMEM_, then its aliases. False: it has no more. */
static bool nth_name(const struct setting *row, int i, char *name, size_t size)
{
    const char *alias = row->aliases;
    bool old = !strncmp(row->name, "SHMEM_", 6);

    if (i < 1 + old) {
        snprintf(name, size, "%s%s", i ? "SMA_" : "", row->name + (i ? 6 : 0));
        return true;
    }
    for (i -= 1 + old; i && *alias; i--) {
        alias += strcspn(alias, " ");
        alias += *alias == ' ';
    }
    if (*alias)
        snprintf(name, size, "%.*s", (int)strcspn(alias, " "), alias);
    return *alias;
}

/* Where a setting has its value from. */
struct found {
    const char *text;
    char name[64];                    /* the name by which it is set; "" for the default */
    const struct wsh_conf_line *line; /* of a file; NULL: by the environment, or default */
};

/* Which of a setting's names that is, as nth_name counts; -1: none. */
static int name_rank(const struct setting *row, const char *name)
{
    bool old = !strncmp(row->name, "SHMEM_", 6);
    int rank = 1 + old;

    if (!strcmp(name, row->name))
        return 0;
    if (old && !strncmp(name, "SMA_", 4) && !strcmp(name + 4, row->name + 6))
        return 1;
    for (const char *alias = row->aliases; *alias; alias += *alias == ' ', rank++) {
        size_t len = strcspn(alias, " ");

        if (strlen(name) == len && !strncmp(name, alias, len))
            return rank;
        alias += len;
    }
    return -1;
}

/* The first file that has the setting, in it the first of its names. */
static void take_file(struct found *found, const struct setting *row)
{
    const struct wsh_conf_line *line;
    int least = 0;

    for (size_t i = 0; (line = wsh_conf_line(i)); i++) {
        int rank = name_rank(row, line->name);

        if (found->line && found->line->path != line->path)
            break;
        if (rank < 0 || (found->line && rank > least))
            continue;
        least = rank;
        found->line = line;
    }
    if (!found->line)
        return;
    found->text = *found->line->value ? found->line->value : row->def;
    snprintf(found->name, sizeof found->name, "%s", found->line->name);
}

/* The environment comes before files, and of these the user's before the site's. */
static struct found find_value(const struct setting *row)
{
    struct found found = {0};

    for (int i = 0; !found.text && nth_name(row, i, found.name, sizeof found.name); i++)
        found.text = wsh_env_secure_value(found.name, !i && is_oshruns_number(row));
    if (!found.text && strncmp(row->help, "internal", 8))
        take_file(&found, row);
    if (!found.text)
        found = (struct found){.text = row->def};
    return found;
}

int wsh_env_parse_size(const char *text, size_t *bytes)
{
    static const char suffixes[] = "kmgt";
    char *end;
    double value;
    const char *suffix;

    if (!strchr("0123456789.", text[0]))
        return -EINVAL;
    value = strtod(text, &end);
    if (end == text || text[strspn(text, "0123456789.")] != *end)
        return -EINVAL;
    if (*end) {
        suffix = strchr(suffixes, *end | 0x20);
        if (!suffix || end[1])
            return -EINVAL;
        value = ldexp(value, 10 * (int)(suffix - suffixes + 1));
    }
    if (!(value < (double)(SIZE_MAX / 2)))
        return -ERANGE;
    *bytes = (size_t)value + ((double)(size_t)value < value); /* a part of a byte needs a whole one */
    return 0;
}

static int parse_bool(const char *text, bool *value)
{
    static const char *const yes[] = {"1", "y", "yes", "t", "true", "on"};
    static const char *const no[] = {"0", "n", "no", "f", "false", "off"};

    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        if (!strcasecmp(text, yes[i]) || !strcasecmp(text, no[i])) {
            *value = !strcasecmp(text, yes[i]);
            return 0;
        }
    }
    return -EINVAL;
}

/* What stands in the parentheses of a kind, NULL where there are none. */
static const char *kind_limit(const char *kind)
{
    const char *open = strchr(kind, '(');

    return open ? open + 1 : NULL;
}

static int parse_int(const char *kind, const char *text, long *value)
{
    const char *limit = kind_limit(kind);
    char *end;

    errno = 0;
    *value = strtol(text, &end, 10);
    if (end == text || *end || errno)
        return -EINVAL;
    if (!limit)
        return 0;
    return *value < strtol(limit, &end, 10) || *value > strtol(end + strlen(".."), NULL, 10) ? -EINVAL : 0;
}

static size_t kind_least(const char *kind)
{
    const char *limit = kind_limit(kind);
    char text[16] = "0";
    size_t least = 0;

    if (limit)
        snprintf(text, sizeof text, "%.*s", (int)strcspn(limit, ")"), limit);
    wsh_env_parse_size(text, &least);
    return least;
}

static int parse_size(const char *kind, const char *text, size_t *bytes)
{
    int rc = wsh_env_parse_size(text, bytes);

    return !rc && *bytes < kind_least(kind) ? -EINVAL : rc;
}

static int parse_text(const char *kind, const char *text, const char **value)
{
    *value = *text ? text : NULL;
    return *value && kind_limit(kind) && access(text, R_OK) ? -EINVAL : 0;
}

/* A time that a clock's numbers take, also when it is added to another; a shorter one than this is a mistake. */
#define SECONDS_MIN 1e-3
#define SECONDS_MAX 1e9

static int parse_seconds(const char *text, double *value)
{
    char *end;

    *value = strtod(text, &end);
    return end == text || *end || !(*value == 0 || (*value >= SECONDS_MIN && *value <= SECONDS_MAX)) ? -EINVAL
                                                                                                     : 0;
}

/* kind is "ENUM(a|b|c)"; *value = position of `text` in it. */
static int parse_enum(const char *kind, const char *text, int *value)
{
    const char *word = kind + strlen("ENUM(");

    for (int i = 0; *word; i++) {
        size_t len = strcspn(word, "|)");

        if (strlen(text) == len && !strncasecmp(word, text, len)) {
            *value = i;
            return 0;
        }
        word += len + 1;
    }
    return -EINVAL;
}

static int setting_parse(const struct setting *row, const char *text, struct wsh_env *env)
{
    void *field = (char *)env + row->offset;

    switch (row->kind[1]) {
    case 'T': return parse_text(row->kind, text, field);
    case 'O': return parse_bool(text, field);
    case 'N':
        return row->kind[0] == 'E' ? parse_enum(row->kind, text, field) : parse_int(row->kind, text, field);
    case 'I': return parse_size(row->kind, text, field);
    default: return parse_seconds(text, field);
    }
}

/* "1..8" */
static void range_accepts(const char *range, char *text, size_t size)
{
    int first = (int)strcspn(range, "."), second = (int)strcspn(range + first + 2, ")");

    snprintf(text, size, "a whole number from %.*s to %.*s", first, range, second, range + first + 2);
}

static const char *setting_accepts(const struct setting *row, char *text, size_t size)
{
    const char *limit = kind_limit(row->kind);
    int length = limit ? (int)strcspn(limit, ")") : 0;

    switch (row->kind[1]) {
    case 'O': return "1 or 0, yes or no, on or off";
    case 'T': return "a file that can be read";
    case 'E': return "a number of seconds: 0, or 0.001 to 1000000000";
    default: break;
    }
    if (row->kind[0] == 'E')
        snprintf(text, size, "%.*s", length, limit);
    else if (row->kind[0] == 'I' && limit)
        range_accepts(limit, text, size);
    else if (row->kind[0] == 'I')
        return "a whole number";
    else if (limit)
        snprintf(text, size, "a size in bytes of at least %.*s, such as %s", length, limit, row->def);
    else
        return "a size in bytes such as 512M, 1.5g or 1073741824";
    return text;
}

static int load_row(const struct setting *row, struct wsh_env *env)
{
    struct found found = find_value(row);
    int rc = setting_parse(row, found.text, env);
    char words[128];

    if (rc && found.line)
        wsh_error("%s:%d: %s='%s' is not valid; use %s", found.line->path, found.line->number, found.name,
                  found.text, setting_accepts(row, words, sizeof words));
    else if (rc)
        wsh_error("%s='%s' is not valid; use %s", found.name, found.text,
                  setting_accepts(row, words, sizeof words));
    if (rc)
        setting_parse(row, row->def, env);
    return rc;
}

int wsh_env_load(struct wsh_env *env)
{
    int rc = 0;

    wsh_env_secure_clean();
    memset(env, 0, sizeof *env);
    if (wsh_conf_fault()) {
        wsh_error("%s", wsh_conf_fault());
        rc = -EINVAL;
    }
    for (size_t i = 0; i < wsh_env_count(); i++)
        if (load_row(&settings[i], env) && !rc)
            rc = -EINVAL;
    return rc;
}

static void origin_print(const struct found *found, char *text, size_t size)
{
    if (found->line)
        snprintf(text, size, "%s:%d", found->line->path, found->line->number);
    else
        snprintf(text, size, "%s", *found->name ? found->name : "default");
}

void wsh_env_name(size_t i, struct wsh_env_row *row)
{
    *row = (struct wsh_env_row){.name = settings[i].name,
                                .kind = settings[i].kind,
                                .def = settings[i].def,
                                .aliases = settings[i].aliases,
                                .help = settings[i].help,
                                .internal = !strncmp(settings[i].help, "internal", 8)};
}

int wsh_env_describe(size_t i, struct wsh_env_row *row)
{
    static _Thread_local char origin[WSH_CONF_PATH_MAX + 16];
    struct found found = find_value(&settings[i]);
    struct wsh_env scratch;

    wsh_env_name(i, row);
    origin_print(&found, origin, sizeof origin);
    row->origin = origin;
    snprintf(row->by, sizeof row->by, "%s", found.name);
    /* What is printed may be read by others. */
    snprintf(row->value, sizeof row->value, "%s",
             *found.text && strstr(row->name, "_SECRET") ? "(set)" : found.text);
    return setting_parse(&settings[i], found.text, &scratch);
}

const char *wsh_env_text(const char *name)
{
    for (size_t i = 0; i < wsh_env_count(); i++)
        if (!strcmp(settings[i].name, name)) {
            struct found found = find_value(&settings[i]);

            return *found.name && (!found.line || *found.line->value) ? found.text : NULL;
        }
    return NULL;
}

void wsh_env_print(FILE *out, bool all)
{
    struct wsh_env_row row;

    for (size_t i = 0; i < wsh_env_count(); i++) {
        int rc = wsh_env_describe(i, &row);

        if (row.internal && !all)
            continue;
        wsh_log_print(out, "%-26s %-10s %s%s\n    %s\n", row.name, *row.value ? row.value : "(empty)",
                      strcmp(row.origin, "default") ? "set by " : "", rc ? "an invalid value" : row.origin,
                      row.help);
    }
}
