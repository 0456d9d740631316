/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What oshrun reads, writes and waits for: its lines to the user, the descriptors of its loop, signals, events, the
 * PEs' standard input, slow outputs.
 */
#ifndef WSH_OSHRUN_IO_H
#define WSH_OSHRUN_IO_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Lines to the user, on standard error, and the exit statuses that go with them. */

enum {
    OSHRUN_FAILED = 1,       /* the job, or something oshrun needs, failed */
    OSHRUN_USAGE = 2,        /* the command line is wrong */
    OSHRUN_CANNOT_RUN = 126, /* the program is there and cannot be executed */
    OSHRUN_NOT_FOUND = 127   /* the program is not there */
};

/* Writes one whole line in one write. */
void wsh_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same only after wsh_say_verbose() (-v). */
void wsh_say_more(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void wsh_say_verbose(void);

/*
 * From now on only wsh_say and writers to wsh_say_fd() reach standard error; descriptor 2 does not, because libpmix
 * prints a line for each connection that breaks when the job is ended.
 */
void wsh_say_alone(void);
int wsh_say_fd(void);

/* The descriptors that one turn of the loop waits for. */
struct wsh_pollset {
    struct pollfd *fds;
    size_t n, cap;
};

/* Forgets all descriptors; those of the next turn are added again. */
void wsh_pollset_clear(struct wsh_pollset *set);
void wsh_pollset_free(struct wsh_pollset *set);

/* Adds fd; returns its index for wsh_pollset_ready, or -1 (never ready) when memory is short. */
int wsh_pollset_add(struct wsh_pollset *set, int fd, short events);

/* What poll found for an index; 0 for -1. */
short wsh_pollset_ready(const struct wsh_pollset *set, int index);

/* Waits until something is ready or `seconds` are over; negative = without end. */
void wsh_pollset_wait(struct wsh_pollset *set, double seconds);

/* Seconds of the monotonic clock. */
double wsh_now(void);

/* The signals that oshrun takes. */

/*
 * Blocks SIGCHLD and the signals that are passed on to the PEs (but none that oshrun was started with ignored, as
 * by nohup), and ignores SIGPIPE, SIGTTIN, SIGTTOU and SIGXFSZ. Threads that run
 * already block all signals. Returns a descriptor for wsh_signals_next, or -errno after one line; *before is the signal
 * mask oshrun was started with.
 */
int wsh_signals_open(sigset_t *before);

/* The next signal that came, or 0. */
int wsh_signals_next(int fd);

/* In a new PE: undoes what wsh_signals_open ignores. Async-signal-safe. */
void wsh_signals_default(void);

/* An event that the server's thread, or a PE that could not be started, sends to the main loop through a pipe. */
enum wsh_event_kind {
    WSH_EVENT_JOINED,
    WSH_EVENT_INITIALIZED, /* all PEs have come to the last step of shmem_init */
    WSH_EVENT_WAITS, /* has waited too long in a fence, or answers the question (server/missing_pes.c) */
    WSH_EVENT_LEFT,
    WSH_EVENT_ABORTED,
    WSH_EVENT_LOST,
    WSH_EVENT_EXEC_FAILED
};

struct wsh_event {
    enum wsh_event_kind kind;
    int pe;
    int status; /* ABORTED: the status asked for; EXEC_FAILED: errno; WAITS: 1 = in shmem_finalize, 0 = shmem_init */
};

/* Writes one event whole. Async-signal-safe. */
void wsh_event_send(int fd, enum wsh_event_kind kind, int pe, int status);

/* A file, pipe or terminal that may be slow: oshrun never blocks on it. */
struct wsh_sink {
    int fd;
    char *bytes;
    size_t used, cap;
    int index;                /* in the pollset */
    bool broken;              /* takes nothing more; what comes is dropped */
    bool failed;              /* and that is an error: not that the reader has gone away */
    char *path;               /* malloc'd; NULL: our own output */
    struct wsh_sink *instead; /* gets what this one can no longer take, if not NULL */
};

/* Queues bytes. */
void wsh_sink_put(struct wsh_sink *sink, const char *bytes, size_t len);

/* So much is queued that its sources should wait. */
bool wsh_sink_full(const struct wsh_sink *sink);

/* Each turn of the loop: _poll before waiting, _work after. */
void wsh_sink_poll(struct wsh_sink *sink, struct wsh_pollset *set);
void wsh_sink_work(struct wsh_sink *sink, const struct wsh_pollset *set);

/* Writes what can be written now. */
void wsh_sink_flush(struct wsh_sink *sink);

/* The descriptor was closed with the result `err`; if that is not 0, what was written is incomplete. */
void wsh_sink_closed(struct wsh_sink *sink, int err);

/* Forgets what is queued and frees it; the descriptor stays open. */
void wsh_sink_fini(struct wsh_sink *sink);

/* oshrun's standard input on its way to PE 0. */
struct wsh_input {
    int fd; /* writing end of PE 0's pipe; -1: closed */
    bool ended, paused;
    char bytes[65536];
    size_t from, to;
    int in_index, out_index;
};

/* A pipe; *pe_fd is what PE 0 gets as standard input. 0 or -errno after one line. */
int wsh_input_open(struct wsh_input *input, int *pe_fd);

/* Each turn of the loop: _poll before waiting, _work after. */
void wsh_input_poll(struct wsh_input *input, struct wsh_pollset *set);
void wsh_input_work(struct wsh_input *input, const struct wsh_pollset *set);

/* In the background of a terminal: has to look again later whether it may read. */
bool wsh_input_paused(const struct wsh_input *input);
void wsh_input_close(struct wsh_input *input);

#endif
