/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What calls give to the network: one put a part to each far peer and, in high throughput, one that returns its window;
 * bytes of the rows that the reference counts, beside heads; and no operation for order or completion. On EFA a put is
 * one write, and what comes is acknowledged by half windows; over sockets a put is a few messages. A PE that finds
 * nothing to do acknowledges earlier, so the least of some tries counts.
 * paths: tcp:3 mixed:4 mixedefa:4
 */
#include "test/ep/calls.h"

enum { CALLS = 8, TRIES = 5, TOKENS = 40, HIDDEN = 1024, TOPK = 4, WINDOW = 10 };

struct network {
    uint64_t operations, bytes;
    shmemx_ep_statistics_t calls;
};

static struct network counts_now(const struct calls *calls)
{
    struct network now;

    mp_network_counts(&now.operations, &now.bytes);
    mp_check(!shmemx_ep_statistics(calls->ep, &now.calls), "no statistics");
    return now;
}

/*
 * Of this PE's calls: nothing but their puts, and no more bytes than rows, heads and metas of them have. By how many
 * its operations are more than they may be, or <= 0.
 */
static int64_t compare(const struct calls *calls, const struct network *before, const struct network *after)
{
    uint64_t operations = after->operations - before->operations;
    uint64_t puts = after->calls.network_puts - before->calls.network_puts, far, parts, most;
    uint64_t late = calls->mode == REF_LOW_LATENCY ? CALLS / 2 : 0; /* combines with weights: a put more */
    uint64_t rows = after->calls.network_rows - before->calls.network_rows,
             bytes = after->bytes - before->bytes;
    bool one_copy = calls->route == REF_ONE_COPY;

    far = (uint64_t)(one_copy ? calls->job.hosts - 1 : calls->job.pes - calls->job.pes / calls->job.hosts);
    parts = calls->mode == REF_LOW_LATENCY ? 1 : TOKENS / WINDOW;
    most = CALLS * far * parts * (calls->mode == REF_LOW_LATENCY ? 2 : 4);
    most += late * far;
    mp_check(puts == most, "%llu puts, not %llu", (unsigned long long)puts, (unsigned long long)most);
    most = mp_path_is("mixedefa") ? puts + puts / 4 + late * far / 2 + 8 : 6 * puts;
    mp_check(bytes >= rows * HIDDEN * 2 && bytes <= rows * (HIDDEN * 2 + 128) + puts * 512,
             "%llu bytes for %llu rows and %llu puts", (unsigned long long)bytes, (unsigned long long)rows,
             (unsigned long long)puts);
    mp_note("%s, %s: %llu operations, %llu puts, %llu rows, %llu bytes", one_copy ? "one copy" : "direct",
            calls->mode == REF_LOW_LATENCY ? "low latency" : "high throughput",
            (unsigned long long)operations, (unsigned long long)puts, (unsigned long long)rows,
            (unsigned long long)bytes);
    return (int64_t)(operations - most);
}

static void count(enum ref_mode mode, enum ref_route route)
{
    struct ref_job job = {.pes = mp_npes,
                          .hosts = calls_hosts(),
                          .experts = 4 * mp_npes,
                          .topk = TOPK,
                          .tokens = TOKENS,
                          .hidden = HIDDEN,
                          .seed = 11};
    struct calls_options options = {.window = WINDOW, .plain = true};
    struct network before, after;
    int64_t least = INT64_MAX;
    struct calls calls;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, mode, route, &options))
        return;
    for (int try = 0; try < TRIES; try++) {
        int64_t beyond;

        shmem_barrier_all();
        before = counts_now(&calls);
        for (int64_t call = 0; call < CALLS; call++)
            calls_round(&calls, try * CALLS + call);
        after = counts_now(&calls);
        beyond = compare(&calls, &before, &after);
        least = beyond < least ? beyond : least;
        mp_sleep(0.05); /* others may be in a call: what the barrier sends must not be counted by mistake */
    }
    mp_check(least <= 0, "at least %lld operations too many", (long long)least);
    shmem_barrier_all();
    calls_close(&calls);
}

int main(void)
{
    mp_begin();
    for (int mode = 0; mode < REF_MODES; mode++)
        for (int route = 0; route < REF_ROUTES; route++)
            count((enum ref_mode)mode, (enum ref_route)route);
    return mp_end();
}
