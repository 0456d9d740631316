/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the hosts that the user names with -H or --hostfile. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/hosts.h"

#include "bootstrap/oshrun/say.h"
#include "base/err.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int out_of_memory(void)
{
    wsh_say("out of memory");
    return OSHRUN_FAILED;
}

/* 0 when `text` is no number of PEs. */
static int read_slots(const char *text)
{
    char *end;
    long slots = strtol(text, &end, 10);

    return end == text || *end || slots < 1 || slots > WSH_OSHRUN_MAX_PES ? 0 : (int)slots;
}

/* Adds "name", "name:n", or a name whose slots are known. `where` is for the message. */
static int add(struct wsh_hosts *hosts, const char *name, size_t len, int slots, const char *where)
{
    struct wsh_host *more = realloc(hosts->host, ((size_t)hosts->n + 1) * sizeof *more);
    char *copy = strndup(name, len), *colon;

    if (more)
        hosts->host = more;
    if (!more || !copy) {
        free(copy);
        return out_of_memory();
    }
    hosts->host[hosts->n++] = (struct wsh_host){copy, slots};
    colon = strrchr(copy, ':');
    if (colon) {
        *colon = '\0';
        hosts->host[hosts->n - 1].slots = read_slots(colon + 1);
    }
    if (*copy && (!colon || hosts->host[hosts->n - 1].slots))
        return 0;
    wsh_say("%s: '%.*s' is no host; write name or name:PEs", where, (int)len, name);
    return OSHRUN_USAGE;
}

static int read_list(struct wsh_hosts *hosts, const char *list)
{
    int rc = 0;

    for (const char *at = list; at && !rc; at = *at ? at + 1 : NULL) {
        size_t len = strcspn(at, ",");

        rc = add(hosts, at, len, 0, "-H");
        at += len;
    }
    return rc;
}

/* `host`, `host slots=4`, `host:4`, with comments from # on. */
static int read_line(struct wsh_hosts *hosts, const char *path, char *line)
{
    char *save, *name, *word;
    int slots = 0;

    line[strcspn(line, "#\n")] = '\0';
    name = strtok_r(line, " \t\r", &save);
    if (!name)
        return 0;
    while ((word = strtok_r(NULL, " \t\r", &save))) {
        if (strncmp(word, "max", 3))
            slots = strncmp(word, "slots=", 6) ? 0 : read_slots(word + 6);
        if (slots || !strncmp(word, "max", 3))
            continue;
        wsh_say("--hostfile %s: '%s' after host %s; write `%s slots=4`", path, word, name, name);
        return OSHRUN_USAGE;
    }
    return add(hosts, name, strlen(name), slots, path);
}

static int read_file(struct wsh_hosts *hosts, const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    int rc = 0;

    if (!file) {
        wsh_say("--hostfile %s: %s; give a file with one host a line", path, wsh_strerror(errno));
        return OSHRUN_USAGE;
    }
    while (!rc && getline(&line, &size, file) >= 0)
        rc = read_line(hosts, path, line);
    free(line);
    fclose(file);
    if (rc || hosts->n)
        return rc;
    wsh_say("--hostfile %s: names no host; write one host a line", path);
    return OSHRUN_USAGE;
}

int wsh_hosts_init(struct wsh_hosts *hosts, const struct wsh_args *args)
{
    *hosts = (struct wsh_hosts){0};
    if (args->hosts)
        return read_list(hosts, args->hosts);
    return args->hostfile ? read_file(hosts, args->hostfile) : 0;
}

void wsh_hosts_fini(struct wsh_hosts *hosts)
{
    for (int i = 0; i < hosts->n; i++)
        free(hosts->host[i].name);
    free(hosts->host);
    *hosts = (struct wsh_hosts){0};
}

static bool is_here(const char *name)
{
    char host[HOST_NAME_MAX + 1] = "";
    size_t len;

    if (!strcmp(name, "localhost") || !strcmp(name, "127.0.0.1") || !strcmp(name, "::1"))
        return true;
    gethostname(host, sizeof host - 1);
    len = strcspn(host, ".");
    return !strcmp(name, host) || (strlen(name) == len && !strncmp(name, host, len));
}

bool wsh_hosts_are_here(const struct wsh_hosts *hosts)
{
    for (int i = 0; i < hosts->n; i++)
        if (!is_here(hosts->host[i].name))
            return false;
    return true;
}
