/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps the parts of a trace, and their clocks to that of PE 0's host. */
#define _GNU_SOURCE
#include "trace/parts.h"

#include "base/file.h"
#include "base/version.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_PES (1 << 20)

static bool names_are_sound(const struct wsh_trace_head *head)
{
    bool sound = true;

    for (int i = 0; i < WSH_TRACE_NAMES; i++)
        sound &= memchr(head->name[i], 0, sizeof head->name[i]) != NULL;
    for (int i = 0; i < WSH_TRACE_LINES; i++)
        sound &= memchr(head->line[i], 0, sizeof head->line[i]) != NULL;
    return sound;
}

static bool head_is_sound(const struct wsh_trace_head *head, size_t len, int pe)
{
    return !memcmp(head->magic, WSH_TRACE_MAGIC, sizeof head->magic) &&
           !strncmp(head->version, WSH_RELEASE, sizeof head->version) && head->pe == pe && head->n_pes > pe &&
           head->n_pes <= MAX_PES && head->capacity && !(head->capacity & (head->capacity - 1)) &&
           len >= WSH_TRACE_HEAD &&
           head->capacity <= (len - WSH_TRACE_HEAD) / sizeof(union wsh_trace_record) &&
           memchr(head->host, 0, sizeof head->host) && names_are_sound(head);
}

static void part_open(struct wsh_trace_part *part, const char *file, int pe)
{
    const struct wsh_trace_head *head;
    char path[PATH_MAX];
    struct stat st;
    int fd;

    snprintf(path, sizeof path, "%s.pe%d", file, pe);
    fd = wsh_file_read(path);
    if (fd < 0)
        return;
    if (!fstat(fd, &st) && st.st_size >= WSH_TRACE_HEAD) {
        part->len = (size_t)st.st_size;
        head = mmap(NULL, part->len, PROT_READ, MAP_PRIVATE, fd, 0);
        if (head != MAP_FAILED && head_is_sound(head, part->len, pe))
            part->head = head;
        else if (head != MAP_FAILED)
            munmap((void *)(uintptr_t)head, part->len);
    }
    close(fd);
}

/* Of a PE that was killed at once there is but one reading: a tick is taken as one of the others'. */
static void part_clock(struct wsh_trace_part *part)
{
    const struct wsh_trace_moment *first = &part->head->first, *last = &part->head->last;

    part->record = (const union wsh_trace_record *)((const char *)part->head + WSH_TRACE_HEAD);
    part->leader = part->head;
    if (last->ticks > first->ticks)
        part->ns_per_tick = (double)(last->ns - first->ns) / (double)(last->ticks - first->ticks);
}

static int64_t host_time(const struct wsh_trace_part *part, uint64_t ticks)
{
    const struct wsh_trace_moment *first = &part->head->first;

    return (int64_t)first->ns + (int64_t)((double)(int64_t)(ticks - first->ticks) * part->ns_per_tick);
}

/* Between the two comparisons, and beyond them, the clocks are taken to drift evenly. */
static int64_t ahead_at(const struct wsh_trace_head *leader, int64_t ns)
{
    const struct wsh_trace_ahead *a = &leader->ahead[0], *b = &leader->ahead[1];

    if (a->error < 0 || b->error < 0 || b->at <= a->at)
        return a->error < 0 ? 0 : a->ns;
    return a->ns +
           (int64_t)((double)(b->ns - a->ns) * (double)(ns - (int64_t)a->at) / (double)(b->at - a->at));
}

static int64_t time_of(const struct wsh_trace_part *part, uint64_t ticks)
{
    int64_t ns = host_time(part, ticks);

    return ns + ahead_at(part->leader, ns);
}

int64_t wsh_trace_time(const struct wsh_trace_parts *parts, const struct wsh_trace_part *part, uint64_t ticks)
{
    return time_of(part, ticks) - parts->origin;
}

int64_t wsh_trace_time_ns(const struct wsh_trace_parts *parts, const struct wsh_trace_part *part, uint64_t ns)
{
    return (int64_t)ns + ahead_at(part->leader, (int64_t)ns) - parts->origin;
}

int64_t wsh_trace_error(const struct wsh_trace_part *part)
{
    const struct wsh_trace_ahead *ahead = part->leader->ahead;

    return ahead[1].error > ahead[0].error ? ahead[1].error : ahead[0].error;
}

uint64_t wsh_trace_count(const struct wsh_trace_part *part)
{
    return part->head->n < part->head->capacity ? part->head->n : part->head->capacity;
}

const union wsh_trace_record *wsh_trace_at(const struct wsh_trace_part *part, uint64_t i)
{
    return &part->record[(part->head->n - wsh_trace_count(part) + i) & (part->head->capacity - 1)];
}

static void clocks_join(struct wsh_trace_parts *parts)
{
    double known = 1;

    for (int pe = 0; pe < parts->n; pe++)
        if (parts->part[pe].head && parts->part[pe].ns_per_tick > 0)
            known = parts->part[pe].ns_per_tick;
    parts->origin = INT64_MAX;
    for (int pe = 0; pe < parts->n; pe++) {
        struct wsh_trace_part *part = &parts->part[pe];
        int leader = part->head ? part->head->leader : -1;

        if (!part->head)
            continue;
        if (part->ns_per_tick <= 0)
            part->ns_per_tick = known;
        if (leader >= 0 && leader < parts->n && parts->part[leader].head)
            part->leader = parts->part[leader].head;
        if (time_of(part, part->head->first.ticks) < parts->origin)
            parts->origin = time_of(part, part->head->first.ticks);
    }
}

int wsh_trace_parts_open(struct wsh_trace_parts *parts, const char *file)
{
    struct wsh_trace_part first = {0};
    int pe = 0;

    *parts = (struct wsh_trace_parts){0};
    for (; pe < 4096 && !first.head; pe++)
        part_open(&first, file, pe);
    if (!first.head)
        return -ENOENT;
    parts->n = first.head->n_pes;
    munmap((void *)(uintptr_t)first.head, first.len);
    parts->part = calloc((size_t)parts->n, sizeof *parts->part);
    if (!parts->part)
        return -ENOMEM;
    for (pe = 0; pe < parts->n; pe++) {
        part_open(&parts->part[pe], file, pe);
        if (parts->part[pe].head)
            part_clock(&parts->part[pe]);
        parts->missing += !parts->part[pe].head;
    }
    clocks_join(parts);
    return 0;
}

void wsh_trace_parts_close(struct wsh_trace_parts *parts, const char *file, bool remove)
{
    char path[PATH_MAX];

    for (int pe = 0; pe < parts->n; pe++) {
        if (!parts->part[pe].head)
            continue;
        munmap((void *)(uintptr_t)parts->part[pe].head, parts->part[pe].len);
        snprintf(path, sizeof path, "%s.pe%d", file, pe);
        if (remove)
            unlink(path);
    }
    free(parts->part);
}
