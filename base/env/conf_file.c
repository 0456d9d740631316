/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a file of settings, and refuses what others can have written, or what is no NAME=value. */
#define _GNU_SOURCE
#include "base/env/conf_file.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES 65536
#define BLANKS " \t\r"
#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"

struct reader {
    struct wsh_conf_file *file;
    enum wsh_conf_place place;
    const char *path;
    struct stat st;
    char *fault;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct reader *r, const char *fmt, ...)
{
    size_t used = (size_t)snprintf(r->fault, r->size, "%.*s", WSH_CONF_PATH_MAX, r->path);
    va_list args;

    va_start(args, fmt);
    vsnprintf(r->fault + used, r->size - used, fmt, args);
    va_end(args);
    return -EINVAL;
}

/* Root, and this user except in what counts for the whole site. */
static bool owner_is_right(const struct reader *r, const struct stat *st)
{
    return st->st_uid == 0 || (r->place != WSH_CONF_ETC && st->st_uid == geteuid());
}

/* In a folder with the sticky bit nobody replaces the file of another. */
static int check_folder(const struct reader *r, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    struct stat st;

    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (stat(folder, &st))
        return refuse(r, ": its folder cannot be examined: %s", wsh_strerror(errno));
    if (!owner_is_right(r, &st))
        return refuse(r, ": its folder %.200s is of user %u, who could replace it; chown it to %s", folder,
                      st.st_uid, r->place == WSH_CONF_ETC ? "root" : "the user who reads it, or root");
    if (st.st_mode & 022 && !(st.st_mode & S_ISVTX))
        return refuse(r, ": others can write its folder %.200s (mode %04o); chmod go-w it", folder,
                      st.st_mode & 07777);
    return 0;
}

/* Also the folder in which a symbolic link ends. */
static int check_folders(const struct reader *r)
{
    char real[PATH_MAX];
    int rc = check_folder(r, r->path);

    if (rc || !realpath(r->path, real))
        return rc;
    return strcmp(real, r->path) ? check_folder(r, real) : 0;
}

static int check_file(struct reader *r, int fd)
{
    if (fstat(fd, &r->st))
        return refuse(r, ": %s", wsh_strerror(errno));
    if (!S_ISREG(r->st.st_mode))
        return refuse(r, ": is no ordinary file; write NAME=value lines into one");
    if (!owner_is_right(r, &r->st))
        return refuse(r, ": is of user %u, and not of %s; chown it", r->st.st_uid,
                      r->place == WSH_CONF_ETC ? "root" : "the user who reads it, or root");
    if (r->st.st_mode & 022)
        return refuse(r, ": others can write it (mode %04o); chmod go-w it", r->st.st_mode & 07777);
    if (r->st.st_size > MOST_BYTES)
        return refuse(r, ": has %lld bytes, and a file of settings at most %d", (long long)r->st.st_size,
                      MOST_BYTES);
    return check_folders(r);
}

static int read_text(struct reader *r, int fd)
{
    ssize_t got, used = 0;

    r->file->text = malloc(MOST_BYTES + 1);
    if (!r->file->text)
        return refuse(r, ": out of memory");
    while (used < MOST_BYTES && (got = read(fd, r->file->text + used, (size_t)(MOST_BYTES - used))) != 0) {
        if (got < 0 && errno != EINTR)
            return refuse(r, ": cannot be read: %s", wsh_strerror(errno));
        used += got > 0 ? got : 0;
    }
    r->file->text[used] = '\0';
    if (memchr(r->file->text, '\0', (size_t)used))
        return refuse(r, ": has bytes of value 0; save it as plain text");
    if (!strncmp(r->file->text, "\xef\xbb\xbf", 3))
        return refuse(r, ": begins with a byte-order mark; save it without");
    return 0;
}

/* Without blanks at both ends, and without a comment behind one. */
static char *trim(char *text)
{
    size_t len;

    text += strspn(text, BLANKS);
    for (char *hash = strchr(text, '#'); hash; hash = strchr(hash + 1, '#'))
        if (hash == text || strchr(BLANKS, hash[-1])) {
            *hash = '\0';
            break;
        }
    for (len = strlen(text); len && strchr(BLANKS, text[len - 1]);)
        text[--len] = '\0';
    return text;
}

static int check_name(const struct reader *r, int number, const char *name)
{
    if (!strncmp(name, "export", 6) && name[6] && strchr(BLANKS, name[6]))
        return refuse(r, ":%d: this is no script: write NAME=value without `export`", number);
    if (*name && !strchr(DIGITS, *name) && !name[strspn(name, LETTERS DIGITS)])
        return 0;
    return refuse(r, ":%d: '%.40s' is no name of a setting; write NAME=value", number, name);
}

static int check_value(const struct reader *r, int number, const char *name, const char *value)
{
    if (*value && strchr("\"'", *value))
        return refuse(r, ":%d: write the value of %.64s without quotes", number, name);
    for (const char *at = value; *at; at++)
        if ((unsigned char)*at < ' ' && *at != '\t')
            return refuse(r, ":%d: the value of %.64s has a control character", number, name);
    if (strstr(name, "_SECRET") && *value && strncmp(value, "file:", 5) && r->st.st_mode & 077)
        return refuse(r, ":%d: others can read %.64s; chmod 600 the file, or write file: and the path of one",
                      number, name);
    return 0;
}

static int check_twice(const struct reader *r, int number, const char *name)
{
    for (size_t i = 0; i < r->file->n; i++)
        if (!strcmp(r->file->line[i].name, name))
            return refuse(r, ":%d: line %d has set %.64s already; remove one of them", number,
                          r->file->line[i].number, name);
    return 0;
}

static int add_line(const struct reader *r, int number, const char *name, const char *value)
{
    struct wsh_conf_file *file = r->file;
    struct wsh_conf_line *more = realloc(file->line, (file->n + 1) * sizeof *more);

    if (!more)
        return refuse(r, ": out of memory");
    file->line = more;
    more[file->n++] = (struct wsh_conf_line){name, value, file->path, number};
    return 0;
}

static int take_line(const struct reader *r, int number, char *text)
{
    char *name = trim(text), *equals = strchr(name, '='), *value;
    int rc;

    if (!*name)
        return 0;
    if (!equals)
        return refuse(r, ":%d: '%.40s' is no setting; write NAME=value, and # before comments", number, name);
    *equals = '\0';
    value = trim(equals + 1);
    name = trim(name);
    rc = check_name(r, number, name);
    if (!rc)
        rc = check_value(r, number, name, value);
    if (!rc)
        rc = check_twice(r, number, name);
    return rc ? rc : add_line(r, number, name, value);
}

static int take_lines(const struct reader *r)
{
    int number = 0, rc = 0;

    for (char *at = r->file->text, *next; at && !rc; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = '\0';
        rc = take_line(r, ++number, at);
    }
    return rc;
}

/* Another user's home, as after su, is no mistake. */
static bool may_lack(const struct reader *r, int err)
{
    return (r->place != WSH_CONF_NAMED && (err == ENOENT || err == ENOTDIR)) ||
           (r->place == WSH_CONF_HOME && err == EACCES);
}

static int read_file(struct reader *r)
{
    int fd, rc;

    if (strlen(r->path) >= WSH_CONF_PATH_MAX)
        return refuse(r, ": the path of a file of settings has at most %d bytes", WSH_CONF_PATH_MAX - 1);
    fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && may_lack(r, errno))
        return 0;
    if (fd < 0)
        return refuse(r, ": %s; %s", wsh_strerror(errno),
                      r->place == WSH_CONF_NAMED ? "WARPSHMEM_CONF names a file that can be read, or none"
                                                 : "let all read it, or remove it");
    rc = check_file(r, fd);
    r->file->path = strdup(r->path);
    if (!rc && !r->file->path)
        rc = refuse(r, ": out of memory");
    if (!rc)
        rc = read_text(r, fd);
    close(fd);
    return rc ? rc : take_lines(r);
}

int wsh_conf_file_read(struct wsh_conf_file *file, enum wsh_conf_place place, const char *path, char *fault,
                       size_t size)
{
    struct reader reader = {.file = file, .place = place, .path = path, .fault = fault, .size = size};
    int rc;

    *file = (struct wsh_conf_file){0};
    rc = read_file(&reader);
    if (rc)
        wsh_conf_file_free(file);
    return rc;
}

void wsh_conf_file_free(struct wsh_conf_file *file)
{
    free(file->path);
    free(file->text);
    free(file->line);
    *file = (struct wsh_conf_file){0};
}
