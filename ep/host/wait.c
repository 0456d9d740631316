/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for counters, words and flags, which leave for the report of a hang what is waited for; and the end where a
 * part is wrong.
 */
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

/* A counter, or a word or flag, of a PE that may be masked. */
struct looked {
    shmemx_counter_t counter;
    const uint64_t *word;
    uint64_t value;
};

static int look_at_counter(const void *arg, double seconds)
{
    const struct looked *looked = arg;

    return shmemx_counter_wait_until_timeout(looked->counter, looked->value, seconds);
}

static int look_at_word(const void *arg, double seconds)
{
    const struct looked *looked = arg;

    return shmemx_uint32_wait_until_timeout((uint32_t *)(uintptr_t)looked->word, SHMEM_CMP_EQ,
                                            (uint32_t)looked->value, seconds);
}

static int look_at_flag(const void *arg, double seconds)
{
    const struct looked *looked = arg;

    return shmemx_uint64_wait_until_timeout((uint64_t *)(uintptr_t)looked->word, SHMEM_CMP_NE, looked->value,
                                            seconds);
}

/* Counters of low latency are `slots` in a row for each far peer, or one. */
static void await_counter(const struct ep_run *run, int phase, int first, int i, uint64_t value)
{
    const struct looked looked = {run->counters[first + i], NULL, value};
    int far = phase == EP_PHASE_WEIGHTS ? i : i / run->shape.slots;

    if (run->masks)
        ep_absent_wait(run, phase, ep_far_pe(&run->shape, far), look_at_counter, &looked);
    else
        shmemx_counter_wait_until(looked.counter, value);
}

static int number_of(const struct ep_run *run, int near)
{
    return run->shape.host * run->shape.near + near;
}

static bool word_comes(const struct ep_run *run, int phase, int near, const uint64_t *word, uint32_t call)
{
    const struct looked looked = {SHMEMX_COUNTER_INVALID, word, call};

    if (run->masks)
        return ep_absent_wait(run, phase, number_of(run, near), look_at_word, &looked);
    shmem_uint32_wait_until((uint32_t *)(uintptr_t)word, SHMEM_CMP_EQ, call);
    return true;
}

/* For the report: of which near PE a word or flag is awaited. */
static void note(const struct ep_run *run, int phase, int near)
{
    struct ep_phase *at = run->phase;

    for (int i = 0; i < run->shape.near; i++)
        __atomic_store_n(&at->needs[i], i == near, __ATOMIC_RELAXED);
    __atomic_store_n(&at->kind, 1 + phase, __ATOMIC_RELEASE);
}

/* False: its PE is masked. Flags change once a call. */
static bool flag_changes(const struct ep_run *run, int phase, int near, const uint64_t *flag, uint64_t from)
{
    const struct looked looked = {SHMEMX_COUNTER_INVALID, flag, from};

    if (run->masks)
        return ep_absent_wait(run, phase, number_of(run, near), look_at_flag, &looked);
    shmem_uint64_wait_until((uint64_t *)(uintptr_t)flag, SHMEM_CMP_NE, from);
    return true;
}

/* Until the flag is the number, with or without `mark`; returns what it is. */
static uint64_t await_flag(const struct ep_run *run, int phase, int near, const uint64_t *flag,
                           uint64_t number, uint64_t mark)
{
    uint64_t value = __atomic_load_n(flag, __ATOMIC_ACQUIRE);

    if ((value & ~mark) == number)
        return value;
    note(run, phase, near);
    while ((value & ~mark) != number && flag_changes(run, phase, near, flag, value))
        value = __atomic_load_n(flag, __ATOMIC_ACQUIRE);
    __atomic_store_n(&run->phase->kind, 0, __ATOMIC_RELAXED);
    return value;
}

void ep_await_one(const struct ep_run *run, int phase, int first, int i, uint64_t value)
{
    struct ep_phase *at = run->phase;

    if (run->masks)
        value -= run->masks->missed[first + i];
    if (shmemx_counter_fetch(run->counters[first + i]) >= value)
        return;
    for (int j = 0; j < run->shape.counters; j++)
        __atomic_store_n(&at->needs[j], j == i ? value : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&at->kind, 1 + phase, __ATOMIC_RELEASE);
    await_counter(run, phase, first, i, value);
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

/* The word holds its number and the call's in one. */
uint32_t ep_word_await(const struct ep_run *run, int phase, int near, const uint64_t *word, uint32_t call)
{
    uint64_t value = __atomic_load_n(word, __ATOMIC_RELAXED);

    if ((uint32_t)value != call) {
        note(run, phase, near);
        value = word_comes(run, phase, near, word, call) ? __atomic_load_n(word, __ATOMIC_RELAXED) : 0;
        __atomic_store_n(&run->phase->kind, 0, __ATOMIC_RELAXED);
    }
    return (uint32_t)(value >> 32);
}

/* Acquires: pairs with ep_raise. */
void ep_flags_await(const struct ep_run *run, int phase, int n, ep_flag_fn *flag, const void *arg,
                    uint64_t number)
{
    ep_flags_await_marked(run, phase, n, flag, arg, number, 0);
}

uint32_t ep_flags_await_marked(const struct ep_run *run, int phase, int n, ep_flag_fn *flag, const void *arg,
                               uint64_t number, uint64_t mark)
{
    uint32_t marked = 0;

    for (int k = 0; k < n; k++) {
        int near;
        const uint64_t *at = flag(run, arg, k, &near);

        if (at && await_flag(run, phase, near, at, number, mark) & mark)
            marked |= 1u << k;
    }
    return marked;
}
