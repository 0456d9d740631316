/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: the only loops on progress. A wait spins briefly, then yields, then sleeps (at most 1 ms at a time), always
 * serves peers, and reports a hang.
 */
#ifndef WSH_WAIT_H
#define WSH_WAIT_H

#include "base/env/env.h"
#include "runtime/wait/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct wsh_job;

#define WSH_WAIT_ASK (-2)

/* What a wait is for, in the words of the hang reporter. */
struct wsh_wait_why {
    const char *routine;                                  /* "shmem_quiet" */
    void (*describe)(void *arg, char *text, size_t size); /* "PE 3: 2 puts …"; may be NULL */
    /*
     * Nonzero: it cannot end without that PE, or must not if that has failed. With pe < 0, which is cheap: a PE that it
     * waits for now, -1 where that is not known, or WSH_WAIT_ASK: ask about one PE after the other. Only while it has
     * not ended. NULL: nothing is known.
     */
    int (*needs)(void *arg, int pe);
    int n_pes; /* of this host, me among them, must run before it ends; 0 where that is not known */
};

/* Tries once: -EAGAIN = wait on; anything else ends the wait. Must not wait itself. */
typedef int (*wsh_wait_try)(void *arg);

/* Calls `try` and progress until `try` ends the wait; returns its result, or a final error of a transport. */
int wsh_wait(struct wsh_job *job, const struct wsh_wait_why *why, wsh_wait_try try, void *arg);

/* One round of progress of all transports, without waiting. < 0: final error of a transport. */
int wsh_wait_progress(struct wsh_job *job);

/* How a program that is about to compute wakes a progress thread, which sleeps because the program waited by itself. */
struct wsh_wait_help {
    int open;       /* what is under way and takes long: the thread goes on while nobody waits. Relaxed */
    uint32_t asked; /* how often */
    int sleeps;     /* it sleeps until then, or for a time */
    int fd;         /* readable once it has been asked: an eventfd */
};

/* 0 or -errno. */
int wsh_wait_help_open(struct wsh_wait_help *help);
void wsh_wait_help_close(struct wsh_wait_help *help);

/* `more` is under way (+1, which wakes the thread) or complete (< 0). By one thread at a time. */
void wsh_wait_help(struct wsh_wait_help *help, int more);

/*
 * Body of a progress thread: serves peers until *stop; sleeps while application threads wait themselves. Where
 * transports have parts (wsh_tp_ops.part) it serves one of them, and part 0 also all that has none; with WSH_ALL_PARTS
 * it serves everything. < 0: a final error, which a PE that computes learns of by no other call.
 */
#define WSH_ALL_PARTS (-1)
int wsh_wait_serve(struct wsh_job *job, int part, struct wsh_wait_help *help, const bool *stop);

/* Shows other threads that a thread of the library is alive. Relaxed: they look again. */
struct wsh_wait_heartbeat {
    pid_t tid;      /* 0 before it runs */
    uint64_t beats; /* rounds of its loop, and of waits inside */
};

/*
 * Body of a thread that polls, because nothing wakes it: calls step(arg) (> 0: did something, < 0: final) and, where it
 * `serves` peers, progress until *stop; stays awake for a while after something moved. 0, or the final error.
 */
int wsh_wait_run(struct wsh_job *job, const bool *stop, int (*step)(void *arg), void *arg,
                 struct wsh_wait_heartbeat *heartbeat, bool serves);

/* Sleeps for `ms`, or until `fd` is readable: then true. For a thread that serves no peers. */
bool wsh_wait_pause(int fd, int ms);

/*
 * A call by which the program polls has found the same value for the n-th time. `since`: the time that the last call
 * returned, or 0. Yields if the program does little else. Returns the present time.
 */
double wsh_wait_polled(const struct wsh_job *job, unsigned n, double since);

/* Chooses spin lengths by the settings, the PEs on this host and the cores that they may use together. */
void wsh_wait_tune(struct wsh_job *job, int local_pes, int n_cores);

/* A line that says what is waited for, and since when. */
void wsh_wait_report(const struct wsh_job *job, const struct wsh_wait_why *why, void *arg, double waited);

/* How often SIGUSR1 has asked for a report. */
unsigned wsh_wait_asked(void);

/* SIGUSR1 then makes each PE say what it waits for (or that it is outside the library). */
void wsh_wait_report_open(struct wsh_job *job);
void wsh_wait_report_close(void);

#endif
