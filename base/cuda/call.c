/* SPDX-License-Identifier: BSD-3-Clause */
/* Records which threads are in a call of the CUDA driver, and for how long. */
#define _GNU_SOURCE
#include "base/cuda/call.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 256 };

_Static_assert(WSH_CUDA_IDS <= 256, "a routine's number is the last byte of a thread's word");

static struct wsh_cuda_thread threads[THREADS], nobody;
__thread struct wsh_cuda_thread *wsh_cuda_thread;

static const char *const names[WSH_CUDA_IDS] = {
#define WSH_CUDA(field, name, args) [WSH_CUDA_ID_##field] = name,
#include "base/cuda/cuda_defs.h"
#undef WSH_CUDA
};

static bool has_ended(pid_t tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}

static bool thread_take(struct wsh_cuda_thread *thread, pid_t was)
{
    if (!__atomic_compare_exchange_n(&thread->tid, &was, gettid(), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return false;
    __atomic_store_n(&thread->role, WSH_CUDA_PROGRAM, __ATOMIC_RELAXED);
    __atomic_and_fetch(&thread->word, ~(uint64_t)255, __ATOMIC_RELAXED);
    wsh_cuda_thread = thread;
    return true;
}

/* Entries of threads that have ended are reused when no others are left. */
struct wsh_cuda_thread *wsh_cuda_thread_take(void)
{
    for (int i = 0; i < THREADS; i++)
        if (!__atomic_load_n(&threads[i].tid, __ATOMIC_RELAXED) && thread_take(&threads[i], 0))
            return wsh_cuda_thread;
    for (int i = 0; i < THREADS; i++) {
        pid_t tid = __atomic_load_n(&threads[i].tid, __ATOMIC_RELAXED);

        if (has_ended(tid) && thread_take(&threads[i], tid))
            return wsh_cuda_thread;
    }
    wsh_cuda_thread = &nobody;
    return wsh_cuda_thread;
}

void wsh_cuda_call_role(enum wsh_cuda_role role)
{
    struct wsh_cuda_thread *my = wsh_cuda_thread ? wsh_cuda_thread : wsh_cuda_thread_take();

    __atomic_store_n(&my->role, role, __ATOMIC_RELAXED);
}

static bool is_in_call(uint64_t word)
{
    return word & 255;
}

/* False: in no call any more, or ended in one. */
static bool thread_check(const struct wsh_cuda_thread *thread, struct wsh_cuda_stay *stay)
{
    uint64_t word = __atomic_load_n(&thread->word, __ATOMIC_RELAXED);
    const char *name = names[word & 255];

    stay->tid = __atomic_load_n(&thread->tid, __ATOMIC_RELAXED);
    if (!is_in_call(word) || !stay->tid || has_ended(stay->tid))
        return false;
    stay->role = __atomic_load_n(&thread->role, __ATOMIC_RELAXED);
    stay->seconds = __atomic_load_n(&thread->ms, __ATOMIC_RELAXED) / 1000.0;
    snprintf(stay->name, sizeof stay->name, "%.*s", (int)strcspn(name, "_"), name); /* without _v2 */
    return true;
}

void wsh_cuda_calls_check(double passed)
{
    for (int i = 0; i < THREADS && __atomic_load_n(&threads[i].tid, __ATOMIC_RELAXED); i++) {
        struct wsh_cuda_thread *thread = &threads[i];
        uint64_t word = __atomic_load_n(&thread->word, __ATOMIC_RELAXED);
        unsigned ms = 0;

        if (is_in_call(word) && word == thread->seen)
            ms = thread->ms + (unsigned)(passed * 1000);
        else
            thread->due_ms = 0;
        thread->seen = word;
        __atomic_store_n(&thread->ms, ms, __ATOMIC_RELAXED);
    }
}

bool wsh_cuda_calls_due(double limit, struct wsh_cuda_stay *stay)
{
    for (int i = 0; i < THREADS && __atomic_load_n(&threads[i].tid, __ATOMIC_RELAXED); i++) {
        struct wsh_cuda_thread *thread = &threads[i];

        if (!thread->due_ms)
            thread->due_ms = (unsigned)(limit * 1000);
        if (thread->ms < thread->due_ms || !thread_check(thread, stay))
            continue;
        thread->due_ms = 3 * thread->ms;
        return true;
    }
    return false;
}

bool wsh_cuda_call_find(pid_t tid, struct wsh_cuda_stay *stay)
{
    bool found = false;

    for (int i = 0; i < THREADS && __atomic_load_n(&threads[i].tid, __ATOMIC_RELAXED); i++) {
        struct wsh_cuda_stay one;

        if (!thread_check(&threads[i], &one) || (tid && one.tid != tid) ||
            (found && one.seconds <= stay->seconds))
            continue;
        *stay = one;
        found = true;
    }
    return found;
}
