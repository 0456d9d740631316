/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for calls of libpmix, with a report where one takes long. */
#ifndef WSH_BOOTSTRAP_CALL_PMIX_H
#define WSH_BOOTSTRAP_CALL_PMIX_H

#include <pmix.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* One call; the mutex orders what libpmix's thread did before what we do after. */
struct wsh_pmix_call {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool done;
    pmix_status_t status;
    void (*late)(void); /* called after each report of wsh_pmix_call_wait, if not NULL */
};

void wsh_pmix_call_init(struct wsh_pmix_call *call);

/* For libpmix to call at the end, with the struct as `data`. */
void wsh_pmix_call_done(pmix_status_t status, void *data);
void wsh_pmix_call_registered(pmix_status_t status, size_t id, void *data);

/*
 * Waits for the end of a call, and reports every `hang` seconds (0 = never) that it still waits in `what`; `who` says
 * how the missing PEs are found.
 */
pmix_status_t wsh_pmix_call_wait(struct wsh_pmix_call *call, double hang, const char *what, const char *who);

/* Calls that libpmix itself waits in: a thread reports meanwhile. */
struct wsh_pmix_watch {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    bool runs, over;
    double hang;
};

/* Between these every `hang` seconds (0 = never) a line says that the launcher does not answer. */
void wsh_pmix_watch_begin(struct wsh_pmix_watch *watch, double hang);
void wsh_pmix_watch_end(struct wsh_pmix_watch *watch);

double wsh_pmix_now(void); /* seconds of CLOCK_MONOTONIC */

/* The time of CLOCK_MONOTONIC so many seconds from now. */
struct timespec wsh_pmix_after(double seconds);

#endif
