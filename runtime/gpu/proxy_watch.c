/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that the proxy threads are alive: kernels that wait for a dead one would wait for ever. Every thread that
 * waits in the library checks, and so does the progress thread.
 */
#define _GNU_SOURCE
#include "base/cuda_call.h"
#include "base/log.h"
#include "runtime/gpu/watch.h"
#include "runtime/job.h"
#include "runtime/gpu/proxy.h"
#include "runtime/gpu/proxy_state.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Seconds between looks; a longer pause counts as so much: the process may have been stopped. */
#define WATCH_EVERY 0.1
#define PAUSE_MAX 1.0

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct wsh_proxy *watched; /* under lock; looked at without it as a hint */
static double last_look;

void wsh_proxy_watch_set(struct wsh_proxy *proxy)
{
    pthread_mutex_lock(&lock);
    __atomic_store_n(&watched, proxy, __ATOMIC_RELAXED);
    last_look = wsh_wait_now();
    pthread_mutex_unlock(&lock);
}

static bool has_ended(const struct wsh_proxy_thread *thread)
{
    pid_t tid = __atomic_load_n(&thread->pulse.tid, __ATOMIC_RELAXED);

    return tid && syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}

/* Why it does not run: it is in a call of the CUDA driver, or waits for a thread that has been in one as long. */
static void thread_describe(const struct wsh_proxy_thread *thread, char *text, size_t size)
{
    struct wsh_cuda_stay stay;

    if (wsh_cuda_call_find(thread->pulse.tid, &stay) ||
        (wsh_cuda_call_find(0, &stay) && stay.seconds > thread->silent / 2))
        wsh_cuda_watch_text(&stay, thread->pulse.tid, text, size);
    else
        snprintf(text, size, "it is stopped, or a call of its transport does not return");
}

static void end_for_silence(const struct wsh_proxy_thread *thread)
{
    char text[512];

    if (!wsh_cuda_watch_may_end())
        return;
    thread_describe(thread, text, sizeof text);
    wsh_error(
        "proxy thread %u (thread id %d), which executes what kernels ask for, has not run for %.1f s: %s; "
        "the job ends; SHMEM_HANG_SECONDS is the limit",
        thread->number, (int)thread->pulse.tid, thread->silent, text);
    wsh_job_abort(1);
}

/* Does not return if the thread will never take a record again. */
static void thread_check(struct wsh_proxy_thread *thread, double passed)
{
    uint64_t beats = __atomic_load_n(&thread->pulse.beats, __ATOMIC_RELAXED);
    double limit = thread->proxy->job->env.hang_seconds;

    if (has_ended(thread)) {
        wsh_error("proxy thread %u, which executes what kernels ask for, has ended before shmem_finalize: "
                  "the program or a library of it has ended it; the job ends",
                  thread->number);
        wsh_job_abort(1);
    }
    if (beats != thread->seen_beats) {
        thread->seen_beats = beats;
        thread->silent = 0;
    } else if (thread->silent += passed, limit > 0 && thread->silent > limit) {
        end_for_silence(thread);
    }
}

void wsh_proxy_watch(void)
{
    double passed;

    if (!__atomic_load_n(&watched, __ATOMIC_RELAXED) || pthread_mutex_trylock(&lock))
        return;
    passed = wsh_wait_now() - last_look;
    if (watched && passed >= WATCH_EVERY) {
        for (unsigned i = 0; i < watched->n_threads; i++)
            thread_check(&watched->thread[i], passed < PAUSE_MAX ? passed : PAUSE_MAX);
        last_look += passed;
    }
    pthread_mutex_unlock(&lock);
}
