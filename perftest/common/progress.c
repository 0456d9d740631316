/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that sleeps, and writes a line for a row that is still the same one a second later. An alarm for the end. */
#define _GNU_SOURCE
#include "perftest/common/progress.h"

#include "perftest/common/base.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_SECONDS 1.0
#define NEXT_SECONDS 5.0

static struct {
    pthread_mutex_t mutex;
    bool asked, terminal, always;
    int row, rows;
    char what[128];
    double began, next; /* in seconds: of the row, and when its next line is due */
} now = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* A launcher's child writes into a pipe: what counts is where the launcher's own lines go. */
static bool stderr_is_terminal(void)
{
    char path[64];
    int fd;
    bool terminal;

    if (isatty(STDERR_FILENO))
        return true;
    snprintf(path, sizeof(path), "/proc/%ld/fd/2", (long)getppid());
    fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    terminal = fd >= 0 && isatty(fd);
    if (fd >= 0)
        close(fd);
    return terminal;
}

/* Returns the seconds to sleep: a line is due then, or a row that began meanwhile has waited long enough. */
static double line_write(double seconds)
{
    if (now.rows && seconds >= now.next) {
        fprintf(stderr, "# row %d of %d, %s: %.0f s\n", now.row, now.rows, now.what, seconds - now.began);
        now.next = seconds + NEXT_SECONDS;
    }
    return now.rows && now.next - seconds < FIRST_SECONDS ? now.next - seconds : FIRST_SECONDS;
}

static void *rows_watch(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&now.mutex);
        double pause = line_write(perf_now() / 1e9);
        pthread_mutex_unlock(&now.mutex);
        nanosleep(&(struct timespec){(time_t)pause, (long)((pause - (double)(time_t)pause) * 1e9)}, NULL);
    }
    return arg;
}

/* No signal of the program may be taken by the thread. */
static void watch_start(void)
{
    pthread_t thread;
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!pthread_create(&thread, NULL, rows_watch, NULL))
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void perf_progress(int row, int rows, const char *format, ...)
{
    bool first = !now.asked;
    va_list args;

    if (first)
        now.terminal = now.always || stderr_is_terminal();
    now.asked = true;
    if (!now.terminal)
        return;
    pthread_mutex_lock(&now.mutex);
    now.row = row;
    now.rows = rows;
    now.began = perf_now() / 1e9;
    now.next = now.began + FIRST_SECONDS;
    va_start(args, format);
    vsnprintf(now.what, sizeof(now.what), format, args);
    va_end(args);
    pthread_mutex_unlock(&now.mutex);
    if (first)
        watch_start();
}

void perf_progress_always(void)
{
    now.always = true;
}

static char watched[128];

static void too_long(int signal)
{
    static const char text[] = ": no end within its time\n";

    (void)signal;
    (void)!write(STDERR_FILENO, watched, strlen(watched));
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(1);
}

void perf_watch(unsigned seconds, const char *what)
{
    alarm(0);
    snprintf(watched, sizeof(watched), "%s", what);
    signal(SIGALRM, too_long);
    alarm(seconds);
}
