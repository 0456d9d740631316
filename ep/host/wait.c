/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for counters, which leave for the report of a hang what is waited for; and the end where a part is wrong. */
#include "ep/host/run.h"

/* Another thread may report: each member is a value of its own. */
static void phase_set(struct ep_phase *phase, int kind, int counter, uint64_t need)
{
    __atomic_store_n(&phase->counter, counter, __ATOMIC_RELAXED);
    __atomic_store_n(&phase->need, need, __ATOMIC_RELAXED);
    __atomic_store_n(&phase->kind, kind, __ATOMIC_RELAXED);
}

void ep_await(const struct ep_run *run, int phase, int first, int count, ep_value_fn *value, const void *arg)
{
    for (int i = 0; i < count; i++) {
        uint64_t need = value(run, arg, i);

        phase_set(run->phase, 1 + phase, i, need);
        shmemx_counter_wait_until(run->counters[first + i], need);
    }
    phase_set(run->phase, 0, 0, 0);
}

void ep_fault(const struct ep_run *run, int pe, int64_t call, int part, int64_t found, int found_part)
{
    ep_refuse("dispatch",
              "PE %d has sent part %d of call %lld where part %d of call %lld was announced; a program "
              "that puts to memory of others by mistake can cause this, else report it",
              run->pes[pe], found_part, (long long)found, part, (long long)call);
    shmem_global_exit(1);
}
