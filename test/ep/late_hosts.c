/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Low latency: rows of this host's PEs are at their places while those of another host are awaited, which begins when
 * it has been seen. This program sees the library's waits for other hosts. Where lanes run what kernels do
 * (WSH_TEST_LANES=1, test/ep/lanes.sh) other lanes may still place rows then: they go on, and it looks again.
 * paths: mixed:4
 */
#define _GNU_SOURCE
#include "test/ep/calls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 6, TOKENS = 40, HIDDEN = 256 };

static struct calls *in_dispatch;
static uint64_t *begin; /* the call that this PE, late, may begin */
static double
    look_again; /* of lanes: when, since the wait for a late host has begun without all rows of this one */
static int looks, waits, rows_seen;

/* Whether rows of PEs of this host, which come first, are as they are to be; `says`: it is an error if not. */
static bool look(struct calls *calls, bool says)
{
    struct ref_received received;
    uint16_t row[HIDDEN];
    bool all = true;

    if (ref_received_make(&received, &calls->job, REF_LOW_LATENCY, calls->me))
        abort();
    for (int part = 0; part < received.parts && (all || says); part++)
        for (int slot = 0; slot < ref_received_rows(&received, part); slot++) {
            struct ref_origin from = ref_received_origin(&received, part, slot);
            const char *at =
                calls->got + ((size_t)part * (size_t)calls->capacity + (size_t)slot) * sizeof row;
            bool there;

            if (ref_host_of(&calls->job, from.pe) != ref_host_of(&calls->job, calls->me))
                continue;
            ref_received_row(&received, part, slot, row);
            there = !memcmp(at, row, sizeof row);
            mp_check(there || !says, "call %lld: row %d of part %d, of PE %d, is not there yet",
                     (long long)calls->job.call, slot, part, from.pe);
            all = all && there;
            rows_seen++;
        }
    ref_received_free(&received);
    return all;
}

/* Now it has been seen. */
static void let_begin(void)
{
    shmem_uint64_p(begin, (uint64_t)in_dispatch->job.call + 1, (mp_me + mp_npes / 2) % mp_npes);
    shmem_quiet();
    in_dispatch = NULL;
    look_again = 0;
    looks = 0;
    waits++;
}

/* Lanes that wait ask for it again and again; after 10 s it is an error. */
uint64_t shmemx_counter_fetch(shmemx_counter_t counter)
{
    uint64_t (*fetch)(shmemx_counter_t);

    *(void **)&fetch = dlsym(RTLD_NEXT, "shmemx_counter_fetch");
    if (!fetch)
        abort();
    if (look_again > 0 && mp_now() > look_again) {
        bool last = ++looks == 200;

        if (look(in_dispatch, last) || last)
            let_begin();
        else
            look_again = mp_now() + 0.05;
    }
    return fetch(counter);
}

/* The library's waits come here. Lanes wait on where this returns too early. */
void shmemx_counter_wait_until(shmemx_counter_t counter, uint64_t value)
{
    void (*wait)(shmemx_counter_t, uint64_t);

    *(void **)&wait = dlsym(RTLD_NEXT, "shmemx_counter_wait_until");
    if (!wait)
        abort();
    if (in_dispatch) {
        mp_check(shmemx_counter_fetch(counter) < value, "a late host's rows have come");
        if (getenv("WSH_TEST_LANES") && !look(in_dispatch, false)) {
            look_again = mp_now() + 0.05;
            return;
        }
        look(in_dispatch, true);
        let_begin();
    }
    wait(counter, value);
}

int main(void)
{
    struct ref_job job;
    struct calls_options options = {0};
    struct calls calls;

    mp_begin();
    begin = mp_alloc(sizeof *begin);
    *begin = 0;
    shmem_barrier_all();
    job = (struct ref_job){.pes = mp_npes,
                           .hosts = calls_hosts(),
                           .experts = 2 * mp_npes,
                           .topk = 4,
                           .tokens = TOKENS,
                           .hidden = HIDDEN,
                           .seed = 23};
    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, REF_LOW_LATENCY, REF_ONE_COPY, &options))
        return MP_FAILED;
    for (int64_t call = 0; call < CALLS; call++) {
        bool late = ref_host_of(&job, mp_me) == call % 2;

        calls_fill(&calls, call);
        if (late)
            shmem_uint64_wait_until(begin, SHMEM_CMP_EQ, (uint64_t)call + 1);
        in_dispatch = late ? NULL : &calls;
        calls_dispatch(&calls, SHMEMX_EP_BOTH);
        mp_check(!in_dispatch, "call %lld: no other host was waited for", (long long)call);
        calls_received(&calls);
        calls_combine(&calls, SHMEMX_EP_BOTH);
        calls_combined(&calls);
    }
    mp_check(waits == CALLS / 2 && rows_seen > 0, "%d waits, %d rows", waits, rows_seen);
    calls_close(&calls);
    shmem_barrier_all();
    shmem_free(begin);
    return mp_end();
}
