/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop around another launcher: lines of its standard error, signals, its end. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/launchers/other_launcher.h"

#include "bootstrap/oshrun/launchers/explain.h"
#include "bootstrap/oshrun/io.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOLD_SECONDS 1.0 /* for what explains an error, once one has begun */
#define ROOM 32768

/* With a terminal, these come to the launcher from there too. */
static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD};

struct below {
    const char *launcher;
    pid_t pid;
    int err_fd, signal_fd;
    char held[ROOM + 1]; /* read and not yet written */
    size_t n_held;
    double since; /* when an error began that is held for its cause; 0 = nothing is */
    bool explained, gone;
    struct wsh_explained cause;
    int status, asked_by; /* the last signal that asks for the end; 0 = none */
};

static void held_write(struct below *below)
{
    for (size_t at = 0; at < below->n_held;) {
        ssize_t n = write(STDERR_FILENO, below->held + at, below->n_held - at);

        if (n < 0 && errno != EINTR && errno != EAGAIN)
            break;
        at += n > 0 ? (size_t)n : 0;
    }
    below->n_held = 0;
    below->since = 0;
}

/* An error that has begun in the held lines. */
static bool error_begins(const struct below *below)
{
    char line[256];

    for (const char *at = below->held; at && *at; at = strchr(at, '\n'), at += at != NULL) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (wsh_explain_begins(line))
            return true;
    }
    return false;
}

/* Writes what is held, unless it is an error whose cause may still come. */
static void held_judge(struct below *below)
{
    bool over;

    below->held[below->n_held] = '\0';
    if (below->explained || !error_begins(below)) {
        held_write(below);
        return;
    }
    if (!below->since)
        below->since = wsh_now();
    over = below->gone || below->n_held == ROOM || wsh_now() - below->since >= HOLD_SECONDS;
    if (wsh_explain(below->launcher, below->held, &below->cause) && (below->cause.sure || over)) {
        below->explained = true;
        wsh_say("%s", below->cause.line);
    }
    if (below->explained || over)
        held_write(below);
}

/* False at the end. */
static bool err_read(struct below *below)
{
    ssize_t n = read(below->err_fd, below->held + below->n_held, ROOM - below->n_held);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    below->n_held += (size_t)n;
    if (n)
        held_judge(below);
    return n > 0;
}

/* What a terminal sends comes to the whole process group: the launcher has it. */
static void signal_pass(struct below *below)
{
    struct signalfd_siginfo info;

    while (read(below->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            continue;
        if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP ||
            info.ssi_signo == SIGQUIT)
            below->asked_by = (int)info.ssi_signo;
        if (info.ssi_code <= 0 && !below->gone)
            kill(below->pid, (int)info.ssi_signo);
        if (info.ssi_signo == SIGTSTP)
            raise(SIGSTOP);
    }
}

static void end_check(struct below *below)
{
    if (!below->gone && waitpid(below->pid, &below->status, WNOHANG) == below->pid)
        below->gone = true;
}

/* A process of the launcher's may outlive it with the pipe open: nothing that is not there yet is waited for then. */
static void below_loop(struct below *below)
{
    struct wsh_pollset set = {0};

    for (bool open = true; open || !below->gone;) {
        int err = -1;

        wsh_pollset_clear(&set);
        wsh_pollset_add(&set, below->signal_fd, POLLIN);
        if (open)
            err = wsh_pollset_add(&set, below->err_fd, POLLIN);
        wsh_pollset_wait(&set, below->gone ? 0 : below->since ? 0.1 : -1);
        signal_pass(below);
        end_check(below);
        if (open && wsh_pollset_ready(&set, err))
            open = err_read(below);
        else if (below->gone)
            open = false;
        if (below->n_held)
            held_judge(below);
    }
    held_write(below);
    wsh_pollset_free(&set);
}

static void launcher_become(const char *path, char **argv, int err_fd, const sigset_t *before, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(OSHRUN_FAILED);
    dup2(err_fd, STDERR_FILENO);
    sigprocmask(SIG_SETMASK, before, NULL);
    execv(path, argv);
    wsh_say("cannot run '%s': %s; set OSHRUN_LAUNCHER to another launcher", path, wsh_strerror(errno));
    _exit(OSHRUN_CANNOT_RUN);
}

/* 0, or -errno. */
static int below_open(struct below *below, const char *path, char **argv)
{
    pid_t parent = getpid();
    sigset_t mask, before;
    int pipe_fds[2];

    sigemptyset(&mask);
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        sigaddset(&mask, passed[i]);
    pthread_sigmask(SIG_BLOCK, &mask, &before);
    below->signal_fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
    if (below->signal_fd < 0 || pipe2(pipe_fds, O_CLOEXEC))
        return -errno;
    below->err_fd = pipe_fds[0];
    below->pid = fork();
    if (!below->pid)
        launcher_become(path, argv, pipe_fds[1], &before, parent);
    signal(SIGPIPE, SIG_IGN);
    close(pipe_fds[1]);
    return below->pid < 0 ? -errno : 0;
}

int wsh_below_run(const char *launcher, const char *path, char **argv)
{
    static struct below below;
    int rc;

    below.launcher = launcher;
    rc = below_open(&below, path, argv);
    if (rc) {
        wsh_say("cannot start %s: %s; raise `ulimit -u` and `ulimit -n`", path, wsh_strerror(-rc));
        return OSHRUN_FAILED;
    }
    below_loop(&below);
    rc = WIFSIGNALED(below.status) ? 128 + WTERMSIG(below.status) : WEXITSTATUS(below.status);
    if (rc && below.asked_by)
        return 128 + below.asked_by;
    return rc && below.explained && below.cause.status ? below.cause.status : rc;
}
