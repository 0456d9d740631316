/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for counters, which leave for the report of a hang what is waited for; and the end where a part is wrong. */
#include "ep/host/run.h"

/* Another thread may report: each member is a value of its own. */
void ep_await(const struct ep_run *run, int phase, int first, int count, ep_value_fn *value, const void *arg)
{
    struct ep_phase *at = run->phase;

    for (int i = 0; i < count; i++)
        __atomic_store_n(&at->needs[i], value(run, arg, i), __ATOMIC_RELAXED);
    __atomic_store_n(&at->kind, 1 + phase, __ATOMIC_RELEASE);
    for (int i = 0; i < count; i++)
        shmemx_counter_wait_until(run->counters[first + i], at->needs[i]);
    __atomic_store_n(&at->kind, 0, __ATOMIC_RELAXED);
}

void ep_fault(const struct ep_run *run, int pe, int64_t call, int part, int64_t found, int found_part)
{
    const struct ep_wrong_part wrong = {run->pes[pe], part, found_part, 1, call, found};
    char text[512];

    ep_wrong_part_text(&wrong, text, sizeof text);
    ep_refuse("shmemx_ep_dispatch", "%s", text);
    shmem_global_exit(1);
}
