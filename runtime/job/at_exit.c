/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes note of the process' exit status in an exit handler, and acts on it in a destructor of the library, which the
 * dynamic linker runs after all exit handlers and before the destructors of the libraries that this one uses.
 */
#define _GNU_SOURCE
#include "runtime/job/at_exit.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct {
    bool (*finish)(void);
    void (*leave)(void);
    pid_t pid;        /* that asked; a forked child has nothing to finish */
    bool asked;       /* the exit handler is registered */
    bool exits_clean; /* by exit(0) or a return of 0 from main */
} at_exit;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static bool ended, finished; /* the thread has, and with success; under `mutex` */

#ifdef __GLIBC__
static void note_status(int status, void *arg)
{
    (void)arg;
    at_exit.exits_clean = status == 0;
}

static bool status_register(void)
{
    return !on_exit(note_status, NULL);
}
#else /* other C libraries do not say how a process exits: nothing is finished there */
static bool status_register(void)
{
    return false;
}
#endif

void wsh_at_exit(bool (*finish)(void), void (*leave)(void))
{
    at_exit.finish = finish;
    at_exit.leave = leave;
    at_exit.pid = getpid();
    if (finish && !at_exit.asked)
        at_exit.asked = status_register();
}

static void *finisher_run(void *arg)
{
    bool done = at_exit.finish();

    (void)arg;
    pthread_mutex_lock(&mutex);
    ended = true;
    finished = done;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static bool finisher_wait(void)
{
    struct timespec until;
    bool done;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += WSH_AT_EXIT_SECONDS;
    pthread_mutex_lock(&mutex);
    while (!ended && !rc)
        rc = pthread_cond_timedwait(&changed, &mutex, &until);
    done = finished;
    pthread_mutex_unlock(&mutex);
    return done;
}

__attribute__((destructor)) static void finish_at_exit(void)
{
    pthread_condattr_t attr;
    pthread_t thread;

    if (!at_exit.finish || !at_exit.exits_clean || at_exit.pid != getpid())
        return;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&thread, NULL, finisher_run, NULL) || !finisher_wait())
        at_exit.leave();
}
