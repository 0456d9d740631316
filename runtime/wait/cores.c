/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs write their cores beside the flags of the world team, where the others of the host read them. */
#define _GNU_SOURCE
#include "runtime/wait/cores.h"

#include "runtime/coll/choose/state.h"
#include "runtime/job/job.h"
#include "runtime/wait/clock.h"

#include <sched.h>

#define LEAVE_SECONDS 0.01 /* between moves: the scheduler may have moved a PE back, for reasons of its own */

/* Relaxed, here and below: a hint that may be old. */
static uint64_t core_of(const struct wsh_coll *coll, int pe)
{
    const char *area = coll->peer[pe];

    return area ? __atomic_load_n((const uint64_t *)(area + coll->area.core), __ATOMIC_RELAXED) : 0;
}

/* The first PE of this host that was seen on `core`; -1: none but perhaps this one. */
static int first_on(const struct wsh_job *job, uint64_t core)
{
    const struct wsh_coll *coll = job->world.coll;

    for (int i = 0; i < coll->n_local; i++)
        if (coll->local[i] != job->my_pe && core_of(coll, coll->local[i]) == core)
            return coll->local[i];
    return -1;
}

/* Publishes the core that this PE runs on, and returns it. 0: not known, or the world team does not exist yet. */
static uint64_t show_core(const struct wsh_job *job)
{
    const struct wsh_coll *coll = job->world.coll;
    int cpu = sched_getcpu();

    if (!coll || !coll->base || cpu < 0)
        return 0;
    __atomic_store_n((uint64_t *)(coll->base + coll->area.core), (uint64_t)cpu + 1, __ATOMIC_RELAXED);
    return (uint64_t)cpu + 1;
}

bool wsh_cores_shared(const struct wsh_job *job)
{
    uint64_t core = show_core(job);

    return core && first_on(job, core) >= 0;
}

/* A core of `allowed` without another PE; if there are several, each PE gets a different one. -1: none. */
static int free_core(const struct wsh_job *job, cpu_set_t *allowed)
{
    int n, skip;

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed) && first_on(job, (uint64_t)cpu + 1) >= 0)
            CPU_CLR(cpu, allowed);
    n = CPU_COUNT(allowed);
    skip = n ? job->local_rank % n : 0;
    for (int cpu = 0; n && cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed) && skip-- == 0)
            return cpu;
    return -1;
}

bool wsh_cores_leave(struct wsh_job *job)
{
    cpu_set_t allowed, others, one;
    uint64_t core = show_core(job);
    double time = wsh_wait_now(), before;
    int first = core ? first_on(job, core) : -1, cpu;

    __atomic_load(&job->left_core, &before, __ATOMIC_RELAXED); /* of other threads too */
    if (first < 0 || first > job->my_pe || time - before < LEAVE_SECONDS ||
        sched_getaffinity(0, sizeof allowed, &allowed))
        return false;
    __atomic_store(&job->left_core, &time, __ATOMIC_RELAXED);
    others = allowed;
    cpu = free_core(job, &others);
    if (cpu < 0)
        return false;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one))
        return false;
    sched_setaffinity(0, sizeof allowed, &allowed);
    show_core(job);
    return true;
}
