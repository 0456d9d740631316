/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes what device code reports to the user: in waits of the host, and by the watch thread. */
#include "runtime/gpu/host.h"
#include "runtime/gpu/view/error_texts.h"
#include "runtime/gpu/view/state.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/job/job.h"
#include "runtime/wait/failures.h"
#include "runtime/wait/notes.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Held by the watch thread while it looks: other threads look only while the device state cannot go. */
static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;

/* Kernels of another job may hold the room that one of this job needs before those that wait go on. */
static void name_other_jobs(const struct wsh_job *job, char *text, size_t size)
{
    if (job->device.gpu.mps && !job->env.gpu_pes)
        snprintf(
            text, size,
            "; if other jobs use this GPU too, start each with SHMEM_GPU_PES=<PEs of all of them on it>");
}

static __attribute__((noinline)) void log_hung(struct wsh_device_state *state)
{
    char text[512];

    if (!__atomic_load_n(&state->pinned->report.hang.state, __ATOMIC_ACQUIRE) ||
        __atomic_exchange_n(&state->hang_logged, true, __ATOMIC_RELAXED))
        return;
    wsh_report_text(&state->pinned->report.hang, state->job->n_pes, text, sizeof text);
    name_other_jobs(state->job, text + strlen(text), sizeof text - strlen(text));
    wsh_warn("%s", text);
    wsh_notes_log();
}

static __attribute__((cold, noinline)) int log_refused(struct wsh_device_state *state)
{
    const struct wsh_device_record *record = &state->pinned->report.error;
    char text[512];

    if (!__atomic_exchange_n(&state->error_logged, true, __ATOMIC_RELAXED)) {
        wsh_report_text(record, state->job->n_pes, text, sizeof text);
        wsh_error("%s", text);
        wsh_notes_log();
    }
    if (record->reason == WSH_DEVICE_EXIT)
        wsh_abort((int)record->len);
    return -EIO;
}

/*
 * Acquire: partners are the release by which device code ends a record, and wsh_device_state_set's of the device state.
 */
int wsh_device_errors_poll(const struct wsh_job *job)
{
    struct wsh_device_state *state = __atomic_load_n(&job->device.state, __ATOMIC_ACQUIRE);

    if (!state)
        return 0;
    log_hung(state);
    if (wsh_likely(!__atomic_load_n(&state->pinned->report.error.state, __ATOMIC_ACQUIRE)))
        return 0;
    return log_refused(state);
}

/* Tells kernels who has failed; release: partner is wsh_dev_generation. */
static void tell_failures(struct wsh_job *job)
{
    struct wsh_device_state *state = job->device.state;
    struct wsh_device_failures *told = state ? &state->pinned->report.failures : NULL;
    uint64_t generation;

    if (!told || !wsh_failures_take(job))
        return;
    generation = __atomic_load_n(&job->failures.seen, __ATOMIC_ACQUIRE); /* partner: wsh_failures_take's */
    if (told->generation == generation)
        return;
    for (int pe = 0; pe < job->n_pes; pe++)
        __atomic_store_n((uint8_t *)(uintptr_t)told->at + pe, wsh_failures_has(&job->failures, pe),
                         __ATOMIC_RELAXED);
    __atomic_store_n(&told->generation, generation, __ATOMIC_RELEASE);
}

int wsh_device_errors_watch(struct wsh_job *job)
{
    int rc;

    pthread_mutex_lock(&watch_lock);
    tell_failures(job);
    rc = wsh_device_errors_poll(job);
    pthread_mutex_unlock(&watch_lock);
    return rc;
}

void wsh_device_state_set(struct wsh_job *job, struct wsh_device_state *state)
{
    pthread_mutex_lock(&watch_lock);
    __atomic_store_n(&job->device.state, state, __ATOMIC_RELEASE); /* partner: wsh_device_errors_poll */
    pthread_mutex_unlock(&watch_lock);
}
