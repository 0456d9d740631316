/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dispatch and combine of random sizes, routings and options to call give what the reference gives: two instances at a
 * time whose calls alternate, and halves of one instance's calls that cross.
 * paths: local:1,3 tcp:3 mixed:6 mixedefa:4 rails:2 sets:2 mixedshm:4
 * timeout: 100
 */
#include "test/ep/calls.h"

enum { CALLS = 4 };

/* The receiving halves of a call come when the next one's rows are on the way. */
static void cross(struct calls *a, struct calls *b, int64_t call)
{
    calls_fill(a, call);
    calls_dispatch(a, SHMEMX_EP_SEND);
    calls_dispatch(a, SHMEMX_EP_RECEIVE);
    calls_received(a);
    calls_fill(b, call + 1);
    calls_combine(a, SHMEMX_EP_SEND);
    calls_dispatch(b, SHMEMX_EP_SEND);
    calls_combine(a, SHMEMX_EP_RECEIVE);
    calls_combined(a);
    calls_dispatch(b, SHMEMX_EP_RECEIVE);
    calls_received(b);
    calls_combine(b, SHMEMX_EP_BOTH);
    calls_combined(b);
}

static void crossed(const struct ref_job *job, enum ref_mode mode, enum ref_route route)
{
    struct calls_options options = {.handles = 2, .window = 7, .buffers = true, .wide = true};
    struct calls a, b;

    if (!calls_open(&a, SHMEM_TEAM_WORLD, job, mode, route, &options))
        return;
    calls_share(&b, &a);
    for (int64_t call = 0; call < CALLS; call += 2)
        cross(&a, &b, call);
    calls_close(&b);
    calls_close(&a);
}

static void side_by_side(uint64_t *state, const struct ref_job *job, enum ref_mode mode, enum ref_route route)
{
    struct calls_options options = calls_random_options(state), other_options = calls_random_options(state);
    struct ref_job other_job = calls_random_job(state, job->pes, job->hosts);
    struct calls calls, other;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, job, mode, route, &options) ||
        !calls_open(&other, SHMEM_TEAM_WORLD, &other_job,
                    mode == REF_LOW_LATENCY ? REF_HIGH_THROUGHPUT : REF_LOW_LATENCY, route, &other_options))
        return;
    for (int64_t call = 0; call < CALLS; call++) {
        calls_round(&calls, call);
        calls_round(&other, call);
    }
    calls_close(&other);
    calls_close(&calls);
}

int main(void)
{
    uint64_t state;

    mp_begin();
    state = mp_seed();
    for (long round = 0; round < mp_rounds(mp_path_is("rails") || mp_path_is("mixedefa") ? 2 : 4, 200);
         round++) {
        struct ref_job job = calls_random_job(&state, mp_npes, calls_hosts());
        enum ref_mode mode = (enum ref_mode)mp_random_below(&state, REF_MODES);
        enum ref_route route = (enum ref_route)mp_random_below(&state, REF_ROUTES);

        side_by_side(&state, &job, mode, route);
        crossed(&job, mode, route);
    }
    return mp_end();
}
