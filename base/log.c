/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes each message as one whole line to where it belongs; the only file of the library that prints. */
#define _GNU_SOURCE
#include "base/log.h"

#include "base/env/env.h"
#include "base/err.h"
#include "base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int wsh_log_max_level = WSH_LOG_WARN;
unsigned wsh_log_subsys = WSH_SUB_ALL;
bool wsh_log_check;

static int log_fd = STDERR_FILENO;
static char log_prefix[128];
static __thread char last_error[1024], read_error[1024];
static __thread bool holds, unread; /* errors are held; last_error is one that nobody has seen */

#define CHECK (-2) /* no level, but more looks at arguments */

static const struct {
    const char *name;
    int level;
    unsigned subsys;
} log_words[] = {
    {"error", WSH_LOG_ERROR, 0},
    {"warn", WSH_LOG_WARN, 0},
    {"info", WSH_LOG_INFO, 0},
    {"trace", WSH_LOG_TRACE, 0},
    {"check", CHECK, 0},
    {"1", WSH_LOG_INFO, 0},
    {"INIT", -1, WSH_SUB_INIT},
    {"COLL", -1, WSH_SUB_COLL},
    {"P2P", -1, WSH_SUB_P2P},
    {"PROXY", -1, WSH_SUB_PROXY},
    {"TRANSPORT", -1, WSH_SUB_TRANSPORT},
    {"MEM", -1, WSH_SUB_MEM},
    {"BOOTSTRAP", -1, WSH_SUB_BOOTSTRAP},
    {"TOPO", -1, WSH_SUB_TOPO},
    {"ALL", -1, WSH_SUB_ALL},
};

static int apply_word(const char *word, size_t len, unsigned *subsys)
{
    for (size_t i = 0; i < sizeof log_words / sizeof log_words[0]; i++) {
        if (strlen(log_words[i].name) != len || strncasecmp(log_words[i].name, word, len))
            continue;
        if (log_words[i].level >= 0)
            wsh_log_max_level = log_words[i].level;
        *subsys |= log_words[i].subsys;
        wsh_log_check |= log_words[i].level == CHECK;
        return 0;
    }
    wsh_error("SHMEM_DEBUG: unknown word '%.*s'; use warn, info, trace, check or a subsystem (INIT, "
              "COLL, P2P, PROXY, TRANSPORT, MEM, BOOTSTRAP, TOPO, ALL), separated by commas",
              (int)len, word);
    return -EINVAL;
}

static int apply_spec(const char *spec)
{
    unsigned subsys = 0;

    for (const char *word = spec; *word;) {
        size_t len = strcspn(word, ",");

        if (len && apply_word(word, len, &subsys))
            return -EINVAL;
        word += len + (word[len] == ',');
    }
    if (subsys && wsh_log_max_level < WSH_LOG_INFO)
        wsh_log_max_level = WSH_LOG_INFO;
    wsh_log_subsys = subsys ? subsys : WSH_SUB_ALL;
    return 0;
}

static void expand_path(const char *pattern, char *path, size_t size)
{
    char host[HOST_NAME_MAX + 1] = "host";
    size_t used = 0;

    gethostname(host, sizeof host - 1);
    for (; *pattern && used + 1 < size; pattern++) {
        if (pattern[0] == '%' && pattern[1] == 'h')
            used += (size_t)snprintf(path + used, size - used, "%s", host), pattern++;
        else if (pattern[0] == '%' && pattern[1] == 'p')
            used += (size_t)snprintf(path + used, size - used, "%d", (int)getpid()), pattern++;
        else
            path[used++] = *pattern;
        if (used >= size)
            used = size - 1;
    }
    path[used] = '\0';
}

int wsh_log_open(const char *spec, const char *file)
{
    char path[PATH_MAX];
    int fd;

    if (spec && apply_spec(spec))
        return -EINVAL;
    if (!file)
        return 0;
    expand_path(file, path, sizeof path);
    fd = wsh_file_open(path, O_APPEND, 0644);
    if (fd < 0) {
        wsh_error("SHMEM_DEBUG_FILE: cannot open '%s': %s; name a writable path", path,
                  wsh_file_strerror(fd));
        return fd;
    }
    log_fd = fd;
    return 0;
}

void wsh_log_close(void)
{
    if (log_fd != STDERR_FILENO)
        close(log_fd);
    log_fd = STDERR_FILENO;
    wsh_log_set_pe(-1);
    wsh_log_max_level = WSH_LOG_WARN;
    wsh_log_subsys = WSH_SUB_ALL;
    wsh_log_check = false;
}

/* The number that the launcher gave this process, or -1: outside of a job, the PE that it will be or was. */
static int launched_as(void)
{
    const char *rank = wsh_env_foreign("PMIX_RANK");

    return rank ? atoi(rank) : -1;
}

void wsh_log_set_pe(int pe)
{
    char host[HOST_NAME_MAX + 1] = "host";

    if (pe < 0)
        pe = launched_as();
    if (pe < 0) {
        snprintf(log_prefix, sizeof log_prefix, "warpshmem: ");
        return;
    }
    gethostname(host, sizeof host - 1);
    snprintf(log_prefix, sizeof log_prefix, "warpshmem: PE %d (%.64s, %d): ", pe, host, (int)getpid());
}

const char *wsh_log_last_error(void)
{
    memcpy(read_error, last_error, sizeof read_error);
    last_error[0] = '\0';
    unread = false;
    return read_error;
}

static void print_unread(void)
{
    char line[sizeof last_error + 1];

    if (!unread)
        return;
    unread = false;
    (void)!write(STDERR_FILENO, line, (size_t)snprintf(line, sizeof line, "%s\n", last_error));
}

bool wsh_log_hold(bool hold)
{
    bool before = holds;

    if (!hold)
        print_unread();
    holds = hold;
    return before;
}

/* One write per line, so that lines of several threads and processes do not mix. */
void wsh_log_write(enum wsh_log_level level, const char *fmt, ...)
{
    char line[2048];
    size_t prefix;
    va_list args;
    int len;

    if ((int)level > wsh_log_max_level)
        return;
    if (!*log_prefix)
        wsh_log_set_pe(-1);
    prefix = strlen(log_prefix);
    memcpy(line, log_prefix, prefix);
    if (level == WSH_LOG_WARN)
        prefix += (size_t)snprintf(line + prefix, sizeof line - prefix, "warning: ");
    va_start(args, fmt);
    len = vsnprintf(line + prefix, sizeof line - prefix - 1, fmt, args);
    va_end(args);
    if (len < 0)
        return;
    prefix += (size_t)len < sizeof line - prefix - 1 ? (size_t)len : sizeof line - prefix - 2;
    if (level == WSH_LOG_ERROR) {
        print_unread();
        snprintf(last_error, sizeof last_error, "%.*s", (int)prefix, line);
        unread = holds;
    }
    line[prefix] = '\n';
    if (level != WSH_LOG_ERROR || !holds)
        (void)!write(level <= WSH_LOG_WARN ? STDERR_FILENO : log_fd, line, prefix + 1);
    if (level <= WSH_LOG_WARN && log_fd != STDERR_FILENO)
        (void)!write(log_fd, line, prefix + 1);
}

int wsh_log_slower(bool strict, enum wsh_log_level level, const char *text)
{
    wsh_log_write(strict ? WSH_LOG_ERROR : level, "%s%s", text,
                  strict ? "; an error, because SHMEM_STRICT is set" : "");
    return strict ? -ENOTSUP : 0;
}

void wsh_log_signal_safe(const char *text)
{
    char line[1024];
    size_t used = strnlen(log_prefix, sizeof log_prefix), len = strnlen(text, sizeof line / 2);

    memcpy(line, log_prefix, used);
    memcpy(line + used, text, len);
    line[used + len] = '\n';
    (void)!write(STDERR_FILENO, line, used + len + 1);
}

void wsh_log_print(FILE *out, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vfprintf(out, fmt, args);
    va_end(args);
    fflush(out);
}
