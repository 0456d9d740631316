/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the files of addresses in /proc/self/maps, and passes notes of crashes on as files. */
#define _GNU_SOURCE
#include "base/process/crash.h"

#include "base/process/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *number_read(const char *at, unsigned base, uint64_t *number)
{
    *number = 0;
    for (;; at++) {
        unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a') + 10
                                                    : 16;

        if (digit >= base)
            return at;
        *number = *number * base + digit;
    }
}

/* "7f00-7f80 r-xp 00001000 08:01 123   /path" */
static void map_use(struct wsh_crash *crash, void *const *pc, const char *line)
{
    uint64_t start, end, off;
    const char *at = number_read(line, 16, &start), *path = strchr(line, '/');

    at = number_read(at + (*at == '-'), 16, &end);
    if (!path || strlen(at) < 6)
        return;
    number_read(at + 6, 16, &off);
    for (int i = 0; i < crash->n; i++) {
        uint64_t address = (uintptr_t)pc[i] - (i > 0); /* a call, not what follows it */

        if (address < start || address >= end)
            continue;
        crash->frame[i].off = address - start + off;
        wsh_text_set(crash->frame[i].module, sizeof crash->frame[i].module, path, strlen(path));
    }
}

void wsh_crash_locate(struct wsh_crash *crash, void *const *pc, int n)
{
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char line[512], part[1024];
    size_t used = 0;
    ssize_t got;

    crash->n = n < WSH_CRASH_FRAMES ? n : WSH_CRASH_FRAMES;
    for (int i = 0; i < crash->n; i++)
        crash->frame[i].module[0] = '\0';
    while (fd >= 0 && (got = read(fd, part, sizeof part)) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            if (part[i] != '\n') {
                if (used + 1 < sizeof line)
                    line[used++] = part[i];
                continue;
            }
            line[used] = '\0';
            map_use(crash, pc, line);
            used = 0;
        }
    }
    if (fd >= 0)
        close(fd);
}

void wsh_crash_path(const char *file, int pe, char *path, size_t size)
{
    const char *slash = strrchr(file, '/');
    struct wsh_text text = {path, size, 0};

    wsh_text_add_n(&text, file, slash ? (size_t)(slash - file) + 1 : 0);
    wsh_text_add(&text, "crash.");
    wsh_text_add_base(&text, (uint64_t)pe, 10);
}

bool wsh_crash_write(const char *path, const struct wsh_crash *crash)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool whole;

    if (fd < 0)
        return false;
    whole = write(fd, crash, sizeof *crash) == (ssize_t)sizeof *crash;
    close(fd);
    return whole;
}

/* A process whose memory is damaged has written it. */
bool wsh_crash_read(const char *path, struct wsh_crash *crash)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool whole;

    if (fd < 0)
        return false;
    whole = read(fd, crash, sizeof *crash) == (ssize_t)sizeof *crash && crash->version == WSH_CRASH_VERSION &&
            crash->n >= 0 && crash->n <= WSH_CRASH_FRAMES;
    close(fd);
    for (int i = 0; i < crash->n && whole; i++)
        crash->frame[i].module[sizeof crash->frame[i].module - 1] = '\0';
    return whole;
}
