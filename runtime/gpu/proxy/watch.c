/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that the proxy threads are alive: kernels that wait for a dead one would wait for ever. Every thread that
 * waits in the library checks, and so does the progress thread.
 */
#define _GNU_SOURCE
#include "runtime/gpu/proxy/watch.h"

#include "base/cuda/call.h"
#include "base/log.h"
#include "runtime/gpu/proxy/proxy.h"
#include "runtime/gpu/proxy/state.h"
#include "runtime/gpu/cuda_watch.h"
#include "runtime/job/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Seconds between looks; a longer pause counts as so much: the process may have been stopped. */
#define WATCH_EVERY 0.1
#define PAUSE_MAX 1.0

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct wsh_proxy *watched;       /* under lock; looked at without it as a hint */
static struct wsh_proxy_life *gda_life; /* under lock */
static double last_check;

void wsh_proxy_watch_set(struct wsh_proxy *proxy)
{
    pthread_mutex_lock(&lock);
    __atomic_store_n(&watched, proxy, __ATOMIC_RELAXED);
    last_check = wsh_wait_now();
    pthread_mutex_unlock(&lock);
}

void wsh_proxy_watch_gda(struct wsh_proxy_life *life)
{
    pthread_mutex_lock(&lock);
    gda_life = life;
    pthread_mutex_unlock(&lock);
}

static bool has_ended(const struct wsh_proxy_life *life)
{
    pid_t tid = __atomic_load_n(&life->heartbeat.tid, __ATOMIC_RELAXED);

    return tid && syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}

/* Why a thread does not run: it is in a call of the CUDA driver, or waits for a thread that has been in one as long. */
static void life_describe(const struct wsh_proxy_life *life, char *text, size_t size)
{
    struct wsh_cuda_stay stay;

    if (wsh_cuda_call_find(life->heartbeat.tid, &stay) ||
        (wsh_cuda_call_find(0, &stay) && stay.seconds > life->silent / 2))
        wsh_cuda_watch_text(&stay, life->heartbeat.tid, text, size);
    else
        snprintf(text, size, "it is stopped, or a call of its transport does not return");
}

static void end_for_silence(const struct wsh_proxy_life *life, const char *name, const char *duty)
{
    char text[512];

    if (!wsh_cuda_watch_may_end())
        return;
    life_describe(life, text, sizeof text);
    wsh_error("%s (thread id %d), which %s, has not run for %.1f s: %s; the job ends; SHMEM_HANG_SECONDS is "
              "the limit",
              name, (int)life->heartbeat.tid, duty, life->silent, text);
    wsh_abort(1);
}

/* Does not return if the thread will never do anything again. */
static void life_check(struct wsh_proxy_life *life, const char *name, const char *duty, double passed)
{
    uint64_t beats = __atomic_load_n(&life->heartbeat.beats, __ATOMIC_RELAXED);
    double limit = watched->job->env.hang_seconds;

    if (has_ended(life)) {
        wsh_error("%s, which %s, has ended before shmem_finalize: the program or a library of it has ended "
                  "it; the job ends",
                  name, duty);
        wsh_abort(1);
    }
    if (beats != life->seen_beats) {
        life->seen_beats = beats;
        life->silent = 0;
    } else if (life->silent += passed, limit > 0 && life->silent > limit) {
        end_for_silence(life, name, duty);
    }
}

static void all_check(double passed)
{
    char name[32];

    for (unsigned i = 0; i < watched->n_threads; i++) {
        snprintf(name, sizeof name, "proxy thread %u", i);
        life_check(&watched->thread[i].life, name, "executes what kernels ask for", passed);
    }
    if (gda_life)
        life_check(gda_life, "the watcher of queues", "takes completions of what kernels post to NICs",
                   passed);
}

void wsh_proxy_watch(void)
{
    double passed;

    if (!__atomic_load_n(&watched, __ATOMIC_RELAXED) || pthread_mutex_trylock(&lock))
        return;
    passed = wsh_wait_now() - last_check;
    if (watched && passed >= WATCH_EVERY) {
        all_check(passed < PAUSE_MAX ? passed : PAUSE_MAX);
        last_check += passed;
    }
    pthread_mutex_unlock(&lock);
}
