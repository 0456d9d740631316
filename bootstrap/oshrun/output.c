/* SPDX-License-Identifier: BSD-3-Clause */
/* What the PEs write, as whole lines of oshrun's output or in files. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/output.h"

#include "bootstrap/oshrun/io.h"
#include "base/err.h"
#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_LINE ((size_t)256 * 1024) /* longer ones are passed on in pieces */

struct stream {
    int fd; /* -1: ended */
    int index;
    struct wsh_sink *sink;
    char *line; /* begun and not ended */
    size_t used;
};

struct wsh_output {
    bool tag, timestamp;
    int n_pes;
    struct stream *streams; /* [2 * n_pes] standard output and error of each PE */
    struct wsh_sink *sinks; /* 0 and 1: ours; then as the streams, if there are files */
    int n_sinks;
};

static int pe_file_open(struct wsh_sink *sink, const char *name, int pe, const char *suffix, bool in_folder)
{
    if (asprintf(&sink->path, in_folder ? "%s/%d.%s" : "%s.%d.%s", name, pe, suffix) < 0) {
        sink->path = NULL;
        return -1;
    }
    sink->fd = wsh_file_open(sink->path, O_TRUNC, 0666);
    if (sink->fd >= 0)
        return 0;
    wsh_say("--output-filename: cannot write '%s': %s; name a writable folder or prefix", sink->path,
            wsh_file_strerror(sink->fd));
    free(sink->path);
    return -1;
}

static int pe_files_open(struct wsh_output *output, const char *name)
{
    struct stat st;
    bool in_folder = name[strlen(name) - 1] == '/';

    if (in_folder)
        mkdir(name, 0777);
    in_folder = in_folder || (!stat(name, &st) && S_ISDIR(st.st_mode));
    for (int i = 0; i < 2 * output->n_pes; i++) {
        struct wsh_sink *sink = &output->sinks[output->n_sinks];

        if (pe_file_open(sink, name, i / 2, i % 2 ? "err" : "out", in_folder))
            return -1;
        sink->instead = &output->sinks[i % 2];
        output->n_sinks++;
        output->streams[i].sink = sink;
    }
    return 0;
}

struct wsh_output *wsh_output_open(const struct wsh_args *args)
{
    size_t n = 2 * (size_t)args->n_pes;
    struct wsh_output *output = calloc(1, sizeof *output);

    if (!output)
        return NULL;
    *output = (struct wsh_output){args->tag,
                                  args->timestamp,
                                  args->n_pes,
                                  calloc(n, sizeof(struct stream)),
                                  calloc(n + 2, sizeof(struct wsh_sink)),
                                  2};
    if (!output->streams || !output->sinks)
        goto err;
    output->sinks[0].fd = STDOUT_FILENO;
    output->sinks[1].fd = wsh_say_fd();
    for (size_t i = 0; i < n; i++)
        output->streams[i] = (struct stream){.fd = -1, .index = -1, .sink = &output->sinks[i % 2]};
    if (!args->output || !pe_files_open(output, args->output))
        return output;
err:
    wsh_output_close(output);
    return NULL;
}

int wsh_output_pipes(struct wsh_output *output, int pe, int fds[2])
{
    fds[0] = fds[1] = -1;
    for (int i = 0; i < 2; i++) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC)) {
            int err = errno;

            wsh_say("cannot make a pipe for PE %d: %s; raise `ulimit -n`", pe, wsh_strerror(err));
            if (i)
                close(fds[0]);
            return -err;
        }
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        output->streams[2 * pe + i].fd = ends[0];
        fds[i] = ends[1];
    }
    return 0;
}

static void stamp_put(const struct wsh_output *output, int pe, struct wsh_sink *sink)
{
    struct timespec now;
    struct tm tm;
    char text[64];
    size_t len = 0;

    if (output->timestamp) {
        clock_gettime(CLOCK_REALTIME, &now);
        localtime_r(&now.tv_sec, &tm);
        len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
        len += (size_t)snprintf(text + len, sizeof text - len, ".%06ld ", now.tv_nsec / 1000);
    }
    if (output->tag)
        len += (size_t)snprintf(text + len, sizeof text - len, "[%d] ", pe);
    wsh_sink_put(sink, text, len);
}

/*
 * Passes on whole lines; the rest waits for its newline. With `all`, a line without a newline is passed on too, and
 * gets one if others may follow.
 */
static void stream_pass_lines(struct wsh_output *output, struct stream *stream, bool all)
{
    int pe = (int)(stream - output->streams) / 2;
    char *at = stream->line, *end = stream->line + stream->used;

    while (at < end) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        char *next = newline ? newline + 1 : end;

        if (!newline && !all && (size_t)(end - at) < LONGEST_LINE)
            break;
        stamp_put(output, pe, stream->sink);
        wsh_sink_put(stream->sink, at, (size_t)(next - at));
        if (!newline && all && output->n_pes > 1 && !stream->sink->path)
            wsh_sink_put(stream->sink, "\n", 1);
        at = next;
    }
    stream->used = (size_t)(end - at);
    memmove(stream->line, at, stream->used);
}

static void stream_end(struct wsh_output *output, struct stream *stream)
{
    if (stream->line)
        stream_pass_lines(output, stream, true);
    close(stream->fd);
    stream->fd = -1;
    free(stream->line);
    stream->line = NULL;
}

/* Takes what is there; false when there is nothing more for now. */
static bool stream_read(struct wsh_output *output, struct stream *stream)
{
    ssize_t got;

    if (!stream->line)
        stream->line = malloc(2 * LONGEST_LINE);
    if (!stream->line)
        return false;
    got = read(stream->fd, stream->line + stream->used, LONGEST_LINE);
    if (got < 0)
        return errno == EINTR;
    stream->used += (size_t)got;
    if (got == 0)
        stream_end(output, stream);
    else
        stream_pass_lines(output, stream, false);
    return got > 0;
}

void wsh_output_poll(struct wsh_output *output, struct wsh_pollset *set)
{
    for (int i = 0; i < output->n_sinks; i++)
        wsh_sink_poll(&output->sinks[i], set);
    for (int i = 0; i < 2 * output->n_pes; i++) {
        struct stream *stream = &output->streams[i];
        bool wait = stream->fd < 0 || wsh_sink_full(stream->sink);

        stream->index = wait ? -1 : wsh_pollset_add(set, stream->fd, POLLIN);
    }
}

/*
 * When nobody reads our output any more (`oshrun … | head -1`), the PEs find their pipes closed, as they would
 * behind a shell.
 */
void wsh_output_work(struct wsh_output *output, const struct wsh_pollset *set)
{
    for (int i = 0; i < output->n_sinks; i++)
        wsh_sink_work(&output->sinks[i], set);
    for (int i = 0; i < 2 * output->n_pes; i++) {
        struct stream *stream = &output->streams[i];

        if (stream->fd < 0)
            continue;
        if (stream->sink->broken && stream->sink->instead)
            stream->sink = stream->sink->instead;
        if (stream->sink->broken)
            stream_end(output, stream);
        else if (wsh_pollset_ready(set, stream->index))
            stream_read(output, stream);
    }
}

/* What a pipe holds at most; another process may go on writing into it. */
#define TAKE_READS 8

void wsh_output_take(struct wsh_output *output, int pe)
{
    for (int i = 0; i < 2 && pe >= 0 && pe < output->n_pes; i++) {
        struct stream *stream = &output->streams[2 * pe + i];

        for (int k = 0; k < TAKE_READS && stream->fd >= 0 && !stream->sink->broken; k++)
            if (!stream_read(output, stream))
                break;
    }
    for (int i = 0; i < 2; i++)
        wsh_sink_flush(&output->sinks[i]);
}

void wsh_output_drain(struct wsh_output *output)
{
    for (int i = 0; i < 2 * output->n_pes; i++) {
        struct stream *stream = &output->streams[i];

        while (stream->fd >= 0 && stream_read(output, stream))
            continue;
        if (stream->fd >= 0)
            stream_end(output, stream);
    }
}

bool wsh_output_pending(const struct wsh_output *output)
{
    for (int i = 0; i < output->n_sinks; i++)
        if (output->sinks[i].used)
            return true;
    return false;
}

bool wsh_output_close(struct wsh_output *output)
{
    bool failed = false;

    for (int i = 0; output->streams && i < 2 * output->n_pes; i++)
        if (output->streams[i].fd >= 0)
            stream_end(output, &output->streams[i]);
    for (int i = 0; output->sinks && i < output->n_sinks; i++) {
        if (i > 1)
            wsh_sink_closed(&output->sinks[i], close(output->sinks[i].fd) ? errno : 0);
        failed = failed || output->sinks[i].failed;
        wsh_sink_fini(&output->sinks[i]);
    }
    free(output->streams);
    free(output->sinks);
    free(output);
    return !failed;
}
