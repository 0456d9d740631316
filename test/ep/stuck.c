/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last PE is late inside the calls of an instance: its argument says before what (dispatch, combine), in which mode
 * (low, high). For test/ep/hang.sh.
 */
#include "test/ep/calls.h"

#include <string.h>

int main(int argc, char **argv)
{
    struct ref_job job = {.experts = 12, .topk = 2, .tokens = 64, .hidden = 128, .seed = 1};
    struct calls_options options = {.window = 4};
    struct calls calls;
    bool late;

    mp_begin();
    job.pes = mp_npes;
    job.hosts = mp_npes / shmem_team_n_pes(SHMEM_TEAM_SHARED);
    if (argc != 3)
        return MP_FAILED;
    late = mp_me == mp_npes - 1;
    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job,
                    strcmp(argv[2], "low") ? REF_HIGH_THROUGHPUT : REF_LOW_LATENCY, REF_DIRECT, &options))
        return MP_FAILED;
    calls_fill(&calls, 0);
    if (late && !strcmp(argv[1], "dispatch"))
        mp_sleep(2.0);
    calls_dispatch(&calls, SHMEMX_EP_BOTH);
    calls_received(&calls);
    shmem_barrier_all();
    if (late && !strcmp(argv[1], "combine"))
        mp_sleep(2.0);
    calls_combine(&calls, SHMEMX_EP_BOTH);
    calls_close(&calls);
    return mp_end();
}
