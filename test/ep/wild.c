/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last PE writes wild bytes into the memory by which the others make their calls, in the mode of its first argument
 * (low, high). No PE ends by a signal: what a call reads of peers, it checks. For test/ep/wild.sh.
 */
#include "test/ep/calls.h"

#include "ep/ep.h"

#include <string.h>

#define WRITES 60

static void write_wild(const struct calls *calls, uint64_t *state)
{
    const struct shmemx_ep *ep = (const struct shmemx_ep *)(uintptr_t)calls->ep;
    const struct ep_shape *shape = &ep->shape;
    const size_t begin = shape->pushes ? 0 : shape->header[0];
    const size_t metas = shape->pushes ? shape->low_slots[0] : shape->metas[0];
    const size_t meta = shape->pushes ? shape->low_slot : shape->meta;

    for (int i = 0; i < WRITES; i++) {
        size_t from = mp_random_below(state, 2) ? begin : metas;
        size_t span = from == metas ? meta * (size_t)shape->tokens : shape->bytes - from;
        size_t at = from + mp_random_below(state, span / 4) * 4;
        uint32_t word = (uint32_t)mp_random(state) >> mp_random_below(state, 28);

        shmem_putmem(ep->arena + at, &word, sizeof word, (int)mp_random_below(state, (size_t)mp_npes));
    }
    shmem_quiet();
}

int main(int argc, char **argv)
{
    struct ref_job job = {.experts = 12, .topk = 3, .tokens = 40, .hidden = 128, .seed = 1};
    struct calls_options options = {.window = 8};
    struct calls calls;
    uint64_t state = mp_seed();
    bool high = argc == 2 && !strcmp(argv[1], "high");

    if (argc != 2)
        return MP_FAILED;
    mp_begin();
    job.pes = mp_npes;
    job.hosts = calls_hosts();
    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, high ? REF_HIGH_THROUGHPUT : REF_LOW_LATENCY, REF_DIRECT,
                    &options))
        return MP_FAILED;
    for (int64_t call = 0; call < 20; call++) {
        calls_fill(&calls, call);
        calls_dispatch(&calls, SHMEMX_EP_SEND);
        if (mp_me == mp_npes - 1)
            write_wild(&calls, &state);
        shmem_barrier_all();
        calls_dispatch(&calls, SHMEMX_EP_RECEIVE);
        calls.combine = (shmemx_ep_combine_t){.handle = calls.dispatch.handle,
                                              .y = calls.y,
                                              .y_weights = high ? calls.y_weights : NULL,
                                              .out = calls.out,
                                              .out_weights = high ? calls.out_weights : NULL};
        calls_combine(&calls, SHMEMX_EP_SEND);
        if (mp_me == mp_npes - 1)
            write_wild(&calls, &state);
        shmem_barrier_all();
        calls_combine(&calls, SHMEMX_EP_RECEIVE);
    }
    shmem_global_exit(0);
}
