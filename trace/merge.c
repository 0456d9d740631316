/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the events of all PEs as JSON: a call is a slice of its thread, a signal an arrow from the call that sent it
 * to the end of the wait that it ended, and bytes under way over the network are a counter.
 */
#define _GNU_SOURCE
#include "trace/merge.h"

#include "base/file.h"
#include "base/version.h"
#include "trace/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { OTHER, PUT, GET, GET_NBI, QUIET, SIGNAL, WAIT, EXPERTS };

static const struct {
    const char *name;
    enum kind kind;
} routines[] = {
#define WSH_TRACE_ROUTINE(name, kind) {#name, kind},
#include "trace/names.h"
#undef WSH_TRACE_ROUTINE
};

#define N_ROUTINES (sizeof routines / sizeof routines[0])
#define THREADS 256     /* whose last calls are remembered at a time */
#define FIRST_LINE 1000 /* the thread that the first line of spans is */
#define LOOK_BACK 64    /* signals that are looked at for the one that ended a wait */

static const char *const categories[] = {"other", "put", "get", "get", "quiet", "put", "wait", "experts"};

/* A signal on its way. */
struct sent {
    int32_t to, from;
    bool is_static, adds;
    uint16_t thread;
    uint64_t off, value;
    int64_t at;
};

struct writer {
    FILE *out;
    struct wsh_trace_parts parts;
    struct sent *sent;
    size_t n_sent;
    uint64_t flows, spans;
    bool more; /* something stands before */
};

static int sent_compare(const void *a, const void *b)
{
    const struct sent *x = a, *y = b;

    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->is_static != y->is_static)
        return x->is_static ? 1 : -1;
    if (x->off != y->off)
        return x->off < y->off ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool is_sent(const union wsh_trace_record *record)
{
    return record->call.kind == WSH_TRACE_SET || record->call.kind == WSH_TRACE_ADD;
}

static void sent_add(struct writer *w, const struct wsh_trace_part *part)
{
    for (uint64_t i = 0; i < wsh_trace_count(part); i++) {
        const struct wsh_trace_signal *signal = &wsh_trace_at(part, i)->signal;

        if (is_sent(wsh_trace_at(part, i)))
            w->sent[w->n_sent++] = (struct sent){
                .to = signal->pe,
                .from = part->head->pe,
                .is_static = signal->is_static,
                .adds = signal->kind == WSH_TRACE_ADD,
                .thread = signal->thread,
                .off = signal->off,
                .value = signal->value,
                .at = wsh_trace_time(&w->parts, part, signal->start),
            };
    }
}

static int sent_collect(struct writer *w)
{
    size_t n = 0;

    for (int pe = 0; pe < w->parts.n; pe++)
        for (uint64_t i = 0; w->parts.part[pe].head && i < wsh_trace_count(&w->parts.part[pe]); i++)
            n += is_sent(wsh_trace_at(&w->parts.part[pe], i));
    w->sent = malloc((n + 1) * sizeof *w->sent);
    if (!w->sent)
        return -ENOMEM;
    for (int pe = 0; pe < w->parts.n; pe++)
        if (w->parts.part[pe].head)
            sent_add(w, &w->parts.part[pe]);
    qsort(w->sent, w->n_sent, sizeof *w->sent, sent_compare);
    return 0;
}

/* The signal that made a wait's value: the last one before the end that set it, or that added. */
static const struct sent *sent_find(const struct writer *w, const struct wsh_trace_part *part,
                                    const struct wsh_trace_signal *wait, int64_t end)
{
    struct sent wanted = {.to = part->head->pe, .is_static = wait->is_static, .off = wait->off, .at = end};
    size_t low = 0, high = w->n_sent;

    if (wsh_trace_error(part) > 0)
        wanted.at += wsh_trace_error(part);
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (sent_compare(&w->sent[middle], &wanted) > 0)
            high = middle;
        else
            low = middle + 1;
    }
    for (int i = 0; i < LOOK_BACK && low-- > 0; i++) {
        const struct sent *sent = &w->sent[low];

        if (sent->to != wanted.to || sent->is_static != wanted.is_static || sent->off != wanted.off)
            return NULL;
        if (sent->adds || sent->value == wait->value)
            return sent;
    }
    return NULL;
}

static void event_begin(struct writer *w, const char *phase, int pe, int thread)
{
    fprintf(w->out, "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", w->more ? ",\n" : "\n", phase, pe, thread);
    w->more = true;
}

static void time_write(struct writer *w, const char *name, int64_t ns)
{
    if (ns < 0)
        ns = 0;
    fprintf(w->out, ",\"%s\":%" PRId64 ".%03d", name, ns / 1000, (int)(ns % 1000));
}

static void flow_write(struct writer *w, const struct wsh_trace_part *part,
                       const struct wsh_trace_signal *wait, int64_t end)
{
    const struct sent *sent = sent_find(w, part, wait, end);

    if (!sent)
        return;
    w->flows++;
    event_begin(w, "s", sent->from, sent->thread);
    time_write(w, "ts", sent->at);
    fprintf(w->out, ",\"id\":%" PRIu64 ",\"name\":\"signal\",\"cat\":\"signal\"}", w->flows);
    event_begin(w, "f", part->head->pe, wait->thread);
    time_write(w, "ts", end);
    fprintf(w->out, ",\"id\":%" PRIu64 ",\"name\":\"signal\",\"cat\":\"signal\",\"bp\":\"e\"}", w->flows);
}

static void call_write(struct writer *w, const struct wsh_trace_event *call, int pe, int64_t start,
                       int64_t end)
{
    static const char *const paths[] = {NULL, "local", "network"};

    event_begin(w, "X", pe, call->thread);
    time_write(w, "ts", start);
    time_write(w, "dur", end - start);
    fprintf(w->out, ",\"name\":\"%s\",\"cat\":\"%s\",\"args\":{", routines[call->routine].name,
            categories[routines[call->routine].kind]);
    if (call->pe >= 0)
        fprintf(w->out, "\"pe\":%d,", call->pe);
    if (call->path == WSH_TRACE_LOCAL || call->path == WSH_TRACE_NETWORK)
        fprintf(w->out, "\"path\":\"%s\",", paths[call->path]);
    fprintf(w->out, "\"bytes\":%" PRIu64 ",\"ctx\":%u}}", (uint64_t)call->bytes, call->ctx);
}

static void counter_write(struct writer *w, int pe, int64_t at, uint64_t bytes)
{
    event_begin(w, "C", pe, 0);
    time_write(w, "ts", at);
    fprintf(w->out, ",\"name\":\"bytes under way\",\"args\":{\"bytes\":%" PRIu64 "}}", bytes);
}

/* What is started is under way until a quiet or a barrier has ended. */
static void bytes_follow(struct writer *w, const struct wsh_trace_event *call, int pe, int64_t start,
                         int64_t end, uint64_t *under_way)
{
    enum kind kind = routines[call->routine].kind;
    bool starts = kind == PUT || kind == SIGNAL || kind == GET_NBI;

    if (starts && call->path == WSH_TRACE_NETWORK && call->bytes) {
        *under_way += call->bytes;
        counter_write(w, pe, start, *under_way);
    } else if (kind == QUIET && *under_way) {
        *under_way = 0;
        counter_write(w, pe, end, 0);
    }
}

/* A slice, or where others are under way at the same time its begin and end by a number. */
static void span_write(struct writer *w, const struct wsh_trace_part *part,
                       const struct wsh_trace_event *span)
{
    const struct wsh_trace_head *head = part->head;
    int64_t start = wsh_trace_time_ns(&w->parts, part, span->start);
    int64_t end = wsh_trace_time_ns(&w->parts, part, span->start + span->ticks);
    int line = span->ctx % WSH_TRACE_LINES;
    const char *name = head->name[span->routine % WSH_TRACE_NAMES];
    bool overlaps = span->kind == WSH_TRACE_OVERLAPS;

    event_begin(w, overlaps ? "b" : "X", head->pe, FIRST_LINE + line);
    time_write(w, "ts", start);
    if (overlaps)
        fprintf(w->out, ",\"id\":%" PRIu64, ++w->spans);
    else
        time_write(w, "dur", end - start);
    fprintf(w->out, ",\"name\":\"%s\",\"cat\":\"library\",\"args\":{", name);
    if (span->pe >= 0)
        fprintf(w->out, "\"pe\":%d,", span->pe);
    fprintf(w->out, "\"bytes\":%" PRIu64 "}}", (uint64_t)span->bytes);
    if (!overlaps)
        return;
    event_begin(w, "e", head->pe, FIRST_LINE + line);
    time_write(w, "ts", end);
    fprintf(w->out, ",\"id\":%" PRIu64 ",\"name\":\"%s\",\"cat\":\"library\"}", w->spans, name);
}

static void part_write(struct writer *w, const struct wsh_trace_part *part)
{
    struct {
        uint64_t start;
        int64_t end;
    } last[THREADS] = {{0, 0}};
    uint64_t under_way = 0;

    for (uint64_t i = 0; i < wsh_trace_count(part); i++) {
        const union wsh_trace_record *record = wsh_trace_at(part, i);
        const struct wsh_trace_event *call = &record->call;
        int64_t start = wsh_trace_time(&w->parts, part, call->start), end;

        if (call->kind == WSH_TRACE_SPAN || call->kind == WSH_TRACE_OVERLAPS) {
            span_write(w, part, call);
            continue;
        }
        if (call->routine >= N_ROUTINES || !call->start)
            continue;
        if (call->kind == WSH_TRACE_WAITED && last[call->thread % THREADS].start == call->start)
            flow_write(w, part, &record->signal, last[call->thread % THREADS].end);
        if (call->kind != WSH_TRACE_A_CALL)
            continue;
        end = wsh_trace_time(&w->parts, part, call->start + call->ticks);
        last[call->thread % THREADS].start = call->start;
        last[call->thread % THREADS].end = end;
        call_write(w, call, part->head->pe, start, end);
        bytes_follow(w, call, part->head->pe, start, end, &under_way);
    }
}

static void name_write(struct writer *w, const struct wsh_trace_part *part)
{
    const struct wsh_trace_head *head = part->head;

    event_begin(w, "M", head->pe, 0);
    fprintf(w->out, ",\"name\":\"process_name\",\"args\":{\"name\":\"PE %d (%.63s, pid %d)\"}}", head->pe,
            head->host, head->pid);
    for (int line = 0; line < WSH_TRACE_LINES && head->line[line][0]; line++) {
        event_begin(w, "M", head->pe, FIRST_LINE + line);
        fprintf(w->out, ",\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}", head->line[line]);
    }
    event_begin(w, "M", head->pe, 0);
    fprintf(w->out, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}}", head->pe);
}

/* What to know of the file as a whole: of each PE how far its times may be wrong, and what was dropped. */
static void facts_write(struct writer *w)
{
    fprintf(w->out,
            "\n],\n\"otherData\":{\"made by\":\"warpshmem " WSH_VERSION "\",\"pes\":%d,\"missing\":%d,"
            "\"pe\":[",
            w->parts.n, w->parts.missing);
    w->more = false;
    for (int pe = 0; pe < w->parts.n; pe++) {
        const struct wsh_trace_part *part = &w->parts.part[pe];

        if (!part->head)
            continue;
        fprintf(w->out,
                "%s{\"pe\":%d,\"host\":\"%.63s\",\"first of host\":%d,\"clock_error_ns\":%" PRId64
                ",\"events\":%" PRIu64 ",\"dropped\":%" PRIu64 "}",
                w->more ? ",\n" : "\n", pe, part->head->host, part->leader->pe, wsh_trace_error(part),
                wsh_trace_count(part), part->head->n - wsh_trace_count(part));
        w->more = true;
    }
    fprintf(w->out, "]}}\n");
}

static int trace_write(struct writer *w)
{
    int rc = sent_collect(w);

    if (rc)
        return rc;
    fprintf(w->out, "{\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[");
    for (int pe = 0; pe < w->parts.n; pe++)
        if (w->parts.part[pe].head) {
            name_write(w, &w->parts.part[pe]);
            part_write(w, &w->parts.part[pe]);
        }
    facts_write(w);
    return ferror(w->out) ? -EIO : 0;
}

/* Under another name until it is whole. */
static int file_write(struct writer *w, const char *file)
{
    char path[PATH_MAX];
    int fd, rc;

    snprintf(path, sizeof path, "%s.part", file);
    fd = wsh_file_create(path, 0644);
    if (fd < 0)
        return fd;
    w->out = fdopen(fd, "w");
    if (!w->out) {
        close(fd);
        return -ENOMEM;
    }
    rc = trace_write(w);
    if (fclose(w->out) && !rc)
        rc = -errno;
    if (!rc && rename(path, file))
        rc = -errno;
    if (rc)
        unlink(path);
    free(w->sent);
    return rc;
}

int wsh_trace_merge(const char *file, char *text, size_t size)
{
    struct writer w = {0};
    int rc = wsh_trace_parts_open(&w.parts, file);

    *text = '\0';
    if (rc == -ENOENT) {
        snprintf(text, size,
                 "no part of a trace of this version at '%s.pe0'; start the job with oshrun --trace %s", file,
                 file);
        return rc;
    }
    if (!rc)
        rc = file_write(&w, file);
    if (rc)
        snprintf(text, size,
                 "cannot write '%s': %s; name a file in a folder with room, then `warpshmem-trace %s`", file,
                 wsh_file_strerror(rc), file);
    else if (w.parts.missing)
        snprintf(
            text, size,
            "'%s' lacks %d of %d PEs: their parts are not in its folder; put it where all hosts reach it and "
            "there is room",
            file, w.parts.missing, w.parts.n);
    wsh_trace_parts_close(&w.parts, file, !rc);
    return rc;
}
