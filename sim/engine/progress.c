/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands in the place of runtime/wait/progress.c in the simulator: with --threads each PE has a progress thread,
 * which runs while the PE computes. While the PE waits it makes progress itself, as where SHMEM_PROGRESS is auto.
 */
#include "sim/sim.h"

#include "runtime/wait/progress.h"

#define TURN_PS 2000000 /* the longest time between two looks of the thread */

void sim_compute(sim_time time)
{
    struct sim_pe *pe = sim.running;

    while (time && sim.set.threads && sim.job.in_flight) {
        sim_time turn = 1 + sim_below(&pe->random, TURN_PS);

        turn = turn < time ? turn : time;
        sim_sleep(turn);
        if (wsh_wait_progress(&sim.job) < 0)
            sim_violation("PE %d: its progress thread has failed", pe->number);
        sim_settle();
        time -= turn;
    }
    if (time)
        sim_sleep(time);
}

bool wsh_progress_helps(const struct wsh_job *job)
{
    (void)job;
    return sim.set.threads;
}

void wsh_progress_help(struct wsh_job *job, int more)
{
    struct sim_pe *pe = &sim.pe[job->my_pe];

    pe->helped += more;
    sim.counts.helped += more > 0;
    if (pe->helped < 0)
        sim_violation("PE %d: fewer requests than none have a thread's help", pe->number);
}

/* The rest of progress.h, which nothing here reaches. */
int wsh_progress_open(struct wsh_job *job)
{
    (void)job;
    return 0;
}

int wsh_progress_start(struct wsh_job *job)
{
    (void)job;
    return 0;
}

void wsh_progress_close(struct wsh_job *job)
{
    (void)job;
}
