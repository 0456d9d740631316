/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes news of PEs that have failed from the launcher. */
#include "runtime/wait/failures.h"

#include "base/log.h"
#include "runtime/job/job.h"

#include <errno.h>
#include <stdlib.h>

int wsh_failures_open(struct wsh_job *job)
{
    if (job->env.on_pe_failure == WSH_ON_PE_FAILURE_ABORT || job->n_pes == 1)
        return 0;
    if (!job->boot.failures) {
        wsh_error("SHMEM_ON_PE_FAILURE=continue is not possible at PE %d: nothing would tell it of failures; "
                  "set it in "
                  "the process that makes the unique id too, and start from no MPI communicator",
                  job->my_pe);
        return -ENOTSUP;
    }
    job->failures.failed = calloc((size_t)job->n_pes, sizeof *job->failures.failed);
    if (!job->failures.failed) {
        wsh_error("out of memory for the list of PEs that have failed");
        return -ENOMEM;
    }
    pthread_mutex_init(&job->failures.lock, NULL);
    pthread_mutex_init(&job->failures.watch_lock, NULL);
    return 0;
}

void wsh_failures_close(struct wsh_job *job)
{
    if (job->failures.failed) {
        pthread_mutex_destroy(&job->failures.lock);
        pthread_mutex_destroy(&job->failures.watch_lock);
    }
    free(job->failures.failed);
    job->failures = (struct wsh_failures){0};
}

uint32_t wsh_failures_generation(const struct wsh_job *job)
{
    /* Acquire: the state of those that it counts is read after it. Partner: the launcher writes that first. */
    return job->failures.failed ? __atomic_load_n(job->boot.failures, __ATOMIC_ACQUIRE) : 0;
}

static void take(struct wsh_job *job)
{
    struct wsh_failures *failures = &job->failures;
    uint32_t generation = wsh_failures_generation(job);

    for (int pe = 0; pe < job->n_pes; pe++) {
        uint32_t at = failures->failed[pe] ? 0 : job->boot.ops->failed_at(&job->boot, pe);

        if (!at)
            continue;
        wsh_info(WSH_SUB_BOOTSTRAP, "PE %d has failed", pe);
        for (unsigned tp = 0; tp < job->n_tps; tp++)
            job->tp[tp]->ops->forget(job->tp[tp], pe);
        __atomic_store_n(&failures->failed[pe], at, __ATOMIC_RELAXED);
        __atomic_store_n(&failures->n, failures->n + 1, __ATOMIC_RELAXED);
    }
    /* Release: who finds it reads the list of that time, or a later one. */
    __atomic_store_n(&failures->seen, generation, __ATOMIC_RELEASE);
}

int wsh_failures_take(struct wsh_job *job)
{
    struct wsh_failures *failures = &job->failures;

    if (!failures->failed)
        return 0;
    if (wsh_unlikely(__atomic_load_n(&failures->seen, __ATOMIC_ACQUIRE) != wsh_failures_generation(job))) {
        pthread_mutex_lock(&failures->lock);
        if (failures->seen != wsh_failures_generation(job))
            take(job);
        pthread_mutex_unlock(&failures->lock);
    }
    return __atomic_load_n(&failures->n, __ATOMIC_RELAXED);
}
