/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What oshrun reads, writes and waits for: its lines to the user, the descriptors of its loop, signals, events, the
 * PEs' standard input, slow outputs.
 */
#define _GNU_SOURCE
#include "bootstrap/oshrun/io.h"

#include "base/err.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool say_is_verbose;
static int say_fd = STDERR_FILENO;

static void line_write(const char *fmt, va_list args)
{
    static const char prefix[] = "oshrun: ";
    char line[4096];
    size_t used = sizeof prefix - 1, room = sizeof line - used - 1;
    int len;

    memcpy(line, prefix, used);
    len = vsnprintf(line + used, room, fmt, args);
    if (len < 0)
        return;
    used += (size_t)len < room ? (size_t)len : room - 1;
    line[used++] = '\n';
    (void)!write(say_fd, line, used);
}

void wsh_say(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    line_write(fmt, args);
    va_end(args);
}

void wsh_say_more(const char *fmt, ...)
{
    va_list args;

    if (!say_is_verbose)
        return;
    va_start(args, fmt);
    line_write(fmt, args);
    va_end(args);
}

void wsh_say_verbose(void)
{
    say_is_verbose = true;
}

int wsh_say_fd(void)
{
    if (say_fd == STDERR_FILENO)
        say_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (say_fd < 0)
        say_fd = STDERR_FILENO;
    return say_fd;
}

void wsh_say_alone(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (null >= 0 && wsh_say_fd() != STDERR_FILENO)
        dup2(null, STDERR_FILENO);
    if (null >= 0)
        close(null);
}

void wsh_pollset_clear(struct wsh_pollset *set)
{
    set->n = 0;
}

void wsh_pollset_free(struct wsh_pollset *set)
{
    free(set->fds);
    *set = (struct wsh_pollset){0};
}

static int pollset_grow(struct wsh_pollset *set)
{
    size_t cap = set->cap ? 2 * set->cap : 64;
    struct pollfd *fds = realloc(set->fds, cap * sizeof *fds);

    if (!fds)
        return -1;
    set->fds = fds;
    set->cap = cap;
    return 0;
}

int wsh_pollset_add(struct wsh_pollset *set, int fd, short events)
{
    if (set->n == set->cap && pollset_grow(set))
        return -1;
    set->fds[set->n] = (struct pollfd){.fd = fd, .events = events};
    return (int)set->n++;
}

short wsh_pollset_ready(const struct wsh_pollset *set, int index)
{
    return index < 0 ? 0 : set->fds[index].revents;
}

void wsh_pollset_wait(struct wsh_pollset *set, double seconds)
{
    int ms = seconds < 0 ? -1 : (int)(1e3 * seconds) + 1;

    if (poll(set->fds, set->n, ms) < 0)
        for (size_t i = 0; i < set->n; i++)
            set->fds[i].revents = 0;
}

double wsh_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const int signals_taken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
static const int signals_ignored[] = {SIGPIPE, SIGTTIN, SIGTTOU, SIGXFSZ};

#define N_TAKEN (sizeof signals_taken / sizeof signals_taken[0])
#define N_IGNORED (sizeof signals_ignored / sizeof signals_ignored[0])

static struct sigaction ignored_before[N_IGNORED];

int wsh_signals_open(sigset_t *before)
{
    struct sigaction action;
    sigset_t set;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < N_TAKEN; i++)
        if (!sigaction(signals_taken[i], NULL, &action) && action.sa_handler != SIG_IGN)
            sigaddset(&set, signals_taken[i]);
    signal(SIGCHLD, SIG_DFL);
    action = (struct sigaction){.sa_handler = SIG_IGN};
    for (size_t i = 0; i < N_IGNORED; i++)
        sigaction(signals_ignored[i], &action, &ignored_before[i]);
    pthread_sigmask(SIG_BLOCK, &set, before);
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0) {
        wsh_say("signalfd: %s; raise `ulimit -n`", wsh_strerror(errno));
        return -errno;
    }
    return fd;
}

int wsh_signals_next(int fd)
{
    struct signalfd_siginfo info;

    return read(fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void wsh_signals_default(void)
{
    for (size_t i = 0; i < N_IGNORED; i++)
        sigaction(signals_ignored[i], &ignored_before[i], NULL);
}

void wsh_event_send(int fd, enum wsh_event_kind kind, int pe, int status)
{
    struct wsh_event event = {kind, pe, status};

    while (write(fd, &event, sizeof event) < 0 && errno == EINTR)
        continue;
}

#define SINK_FULL ((size_t)256 * 1024)

/* One line for the first file of --output-filename; with a full disk the others follow. */
static void sink_report(const struct wsh_sink *sink, int err)
{
    static bool said;

    if (!sink->path)
        wsh_say("cannot write output: %s; the PEs find their output closed", wsh_strerror(err));
    else if (!said)
        wsh_say("--output-filename: cannot write '%s': %s; what does not fit into the files comes here from "
                "now on, and oshrun ends with a status other than 0",
                sink->path, wsh_strerror(err));
    else
        wsh_say_more("--output-filename: cannot write '%s': %s", sink->path, wsh_strerror(err));
    said = said || sink->path;
}

/* A pipe that nobody reads any more is not an error: oshrun then closes the PEs' pipes. */
static void sink_break(struct wsh_sink *sink, int err)
{
    sink->broken = true;
    sink->failed = sink->failed || err != EPIPE;
    if (err != EPIPE)
        sink_report(sink, err);
    if (sink->instead)
        wsh_sink_put(sink->instead, sink->bytes, sink->used);
    sink->used = 0;
}

void wsh_sink_put(struct wsh_sink *sink, const char *bytes, size_t len)
{
    if (sink->broken && sink->instead)
        wsh_sink_put(sink->instead, bytes, len);
    if (sink->broken || !len)
        return;
    if (sink->used + len > sink->cap) {
        size_t cap = 2 * (sink->used + len);
        char *more = realloc(sink->bytes, cap);

        if (!more) {
            sink_break(sink, ENOMEM);
            wsh_sink_put(sink, bytes, len);
            return;
        }
        sink->bytes = more;
        sink->cap = cap;
    }
    memcpy(sink->bytes + sink->used, bytes, len);
    sink->used += len;
}

bool wsh_sink_full(const struct wsh_sink *sink)
{
    return sink->used > SINK_FULL;
}

void wsh_sink_poll(struct wsh_sink *sink, struct wsh_pollset *set)
{
    sink->index = sink->used ? wsh_pollset_add(set, sink->fd, POLLOUT) : -1;
}

/*
 * The descriptor is shared with others (a terminal, a shell's pipe), so O_NONBLOCK is not ours to set. What poll
 * calls writable takes PIPE_BUF bytes without blocking; a file takes anything.
 */
static size_t sink_safe_size(const struct wsh_sink *sink)
{
    struct stat st;

    return !fstat(sink->fd, &st) && S_ISREG(st.st_mode) ? SINK_FULL : PIPE_BUF;
}

static void sink_write(struct wsh_sink *sink)
{
    size_t most = sink_safe_size(sink);
    ssize_t done = write(sink->fd, sink->bytes, sink->used < most ? sink->used : most);
    if (done < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (done < 0) {
        sink_break(sink, errno);
        return;
    }
    sink->used -= (size_t)done;
    memmove(sink->bytes, sink->bytes + done, sink->used);
}

void wsh_sink_work(struct wsh_sink *sink, const struct wsh_pollset *set)
{
    if (wsh_pollset_ready(set, sink->index))
        sink_write(sink);
}

void wsh_sink_flush(struct wsh_sink *sink)
{
    struct pollfd ready = {sink->fd, POLLOUT, 0};

    for (size_t left = sink->used + 1; sink->used && sink->used < left && poll(&ready, 1, 0) > 0;) {
        left = sink->used;
        sink_write(sink);
    }
}

void wsh_sink_closed(struct wsh_sink *sink, int err)
{
    if (!err || sink->failed)
        return;
    wsh_say("--output-filename: '%s' is incomplete: %s", sink->path, wsh_strerror(err));
    sink->failed = true;
}

void wsh_sink_fini(struct wsh_sink *sink)
{
    free(sink->bytes);
    free(sink->path);
    sink->bytes = sink->path = NULL;
    sink->used = sink->cap = 0;
}

int wsh_input_open(struct wsh_input *input, int *pe_fd)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC)) {
        int err = errno;

        wsh_say("cannot make a pipe for PE 0: %s; raise `ulimit -n`", wsh_strerror(err));
        return -err;
    }
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    *pe_fd = ends[0];
    input->fd = ends[1];
    input->ended = input->paused = false;
    input->from = input->to = 0;
    input->in_index = input->out_index = -1;
    return 0;
}

void wsh_input_close(struct wsh_input *input)
{
    if (input->fd >= 0)
        close(input->fd);
    input->fd = -1;
}

/* A job in the background of its terminal must leave what is typed to the foreground. */
static bool terminal_is_elsewhere(void)
{
    pid_t foreground = tcgetpgrp(STDIN_FILENO);

    return foreground > 0 && foreground != getpgrp();
}

bool wsh_input_paused(const struct wsh_input *input)
{
    return input->paused;
}

void wsh_input_poll(struct wsh_input *input, struct wsh_pollset *set)
{
    bool hungry = input->fd >= 0 && !input->ended && input->from == input->to;

    input->paused = hungry && terminal_is_elsewhere();
    input->in_index = hungry && !input->paused ? wsh_pollset_add(set, STDIN_FILENO, POLLIN) : -1;
    /* No events are asked for: POLLERR alone shows that PE 0 closed its end. */
    input->out_index =
        input->fd >= 0 ? wsh_pollset_add(set, input->fd, input->from < input->to ? POLLOUT : 0) : -1;
}

static void input_read(struct wsh_input *input)
{
    ssize_t got = read(STDIN_FILENO, input->bytes, sizeof input->bytes);

    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EIO))
        return;
    input->ended = got <= 0;
    input->from = 0;
    input->to = got > 0 ? (size_t)got : 0;
}

static void input_write(struct wsh_input *input)
{
    ssize_t done = write(input->fd, input->bytes + input->from, input->to - input->from);

    if (done >= 0)
        input->from += (size_t)done;
    else if (errno != EINTR && errno != EAGAIN)
        wsh_input_close(input);
}

void wsh_input_work(struct wsh_input *input, const struct wsh_pollset *set)
{
    if (wsh_pollset_ready(set, input->out_index) & (POLLERR | POLLNVAL))
        wsh_input_close(input);
    if (input->fd >= 0 && wsh_pollset_ready(set, input->in_index))
        input_read(input);
    if (input->fd >= 0 && input->from < input->to)
        input_write(input);
    if (input->fd >= 0 && input->ended && input->from == input->to)
        wsh_input_close(input);
}
