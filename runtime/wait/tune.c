/* SPDX-License-Identifier: BSD-3-Clause */
/* How long waits look, spin and yield on this machine. */
#include "runtime/wait/wait.h"

#include "runtime/job/job.h"
#include "runtime/wait/sleep.h"

#include <limits.h>

#define POLLS 20    /* about a microsecond, most of it the pauses between them */
#define SPINS 2000  /* about 90 us */
#define STAYS 50000 /* some milliseconds: longer than other work's turn on a core */

/*
 * With a core for every PE, spin long enough to see any answer without a system call. With fewer cores, the PE that we
 * wait for may need ours: yield almost at once, unless answers come sooner (`adapts`, wait.c); immediately if each test
 * polls a network, which takes its time, or if so many PEs are waited for that some surely need our core. Chosen with
 * perftest/barrier, perftest/pingpong, perftest/alltoall_latency and perftest/wait.
 */
void wsh_wait_tune(struct wsh_job *job, int local_pes, int n_cores)
{
    bool oversubscribed = local_pes > n_cores;

    job->tuning.spins = !oversubscribed ? SPINS : job->network ? 0 : 4;
    job->tuning.adapts = oversubscribed && !job->network;
    job->tuning.polls = oversubscribed || job->network ? 0 : POLLS;
    job->tuning.stays = oversubscribed || job->network ? 0 : STAYS;
    job->tuning.cores = n_cores;
    job->tuning.pes_a_core = n_cores > 0 && local_pes / n_cores < PES_A_CORE_MAX
                                 ? (unsigned)(local_pes / n_cores)
                                 : PES_A_CORE_MAX;
    if (job->env.spin_us >= 0) {
        job->tuning.spins = (unsigned)job->env.spin_us * 25;
        job->tuning.stays = 0;
        job->tuning.adapts = false;
        job->tuning.cores = INT_MAX;
    }
    job->tuning.oversubscribed = oversubscribed;
    wsh_job_mark(job, WSH_SPECIAL_POLLS,
                 oversubscribed || (job->network && job->env.progress == WSH_PROGRESS_CALL));
    job->tuning.yield_seconds = many_a_core(job) ? 0 : oversubscribed ? 0.003 : 0.02;
}
