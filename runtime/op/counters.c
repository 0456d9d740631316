/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes counters together with the other members of a team, puts with them, and waits for them. */
#include "runtime/op/counters.h"

#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/device_ops.h"
#include "runtime/job/job.h"
#include "runtime/op/op.h"
#include "runtime/wait/failures.h"
#include "runtime/wait/poll.h"
#include "runtime/op/rma.h"
#include "runtime/op/signal.h"
#include "runtime/wait/wait.h"

#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS_MAX 65536 /* that immediate data can name */
#define LINE_WORDS 8u      /* a unit's words are whole lines */
#define ROUTINE "shmemx_counter_create"

int wsh_counters_open(struct wsh_job *job)
{
    struct wsh_counters *counters = &job->counters;
    long n = job->env.counters;
    int rc;

    rc = wsh_pool_open(&counters->pool, &job->heap, (size_t)n * sizeof(uint64_t),
                       LINE_WORDS * sizeof(uint64_t));
    if (rc)
        return rc;
    counters->per_unit = (uint32_t)(counters->pool.unit / sizeof(uint64_t));
    counters->unit = calloc((size_t)counters->pool.n_units, sizeof *counters->unit);
    return counters->unit ? wsh_nic_counters_open(job) : -ENOMEM;
}

void wsh_counters_close(struct wsh_job *job)
{
    wsh_nic_counters_close(job);
    free(job->counters.unit);
    job->counters = (struct wsh_counters){0};
}

size_t wsh_counters_len(const struct wsh_job *job)
{
    return (size_t)job->counters.pool.n_units * job->counters.pool.unit;
}

static uint64_t *host_word(const struct wsh_job *job, uint32_t number)
{
    return (uint64_t *)(void *)job->counters.pool.base + number;
}

static uint64_t *device_word(const struct wsh_job *job, uint32_t number)
{
    return (uint64_t *)(void *)job->device.counters + number;
}

static struct wsh_counter_unit *unit_of(const struct wsh_job *job, uint32_t number)
{
    return &job->counters.unit[number / job->counters.per_unit];
}

static bool is_live(const struct wsh_job *job, uint32_t number, uint32_t generation, uint32_t mask)
{
    const struct wsh_counter_unit *unit;

    if (number >= wsh_counters_len(job) / sizeof(uint64_t))
        return false;
    unit = unit_of(job, number);
    return __atomic_load_n(&unit->live, __ATOMIC_RELAXED) &&
           !((__atomic_load_n(&unit->generation, __ATOMIC_RELAXED) ^ generation) & mask);
}

/* A row of units free at all members, from unit `from` on; -ENOMEM (logged). */
static int row_find(struct wsh_team *team, size_t n, int from)
{
    struct wsh_counters *counters = &team->job->counters;
    uint64_t map[WSH_POOL_WORDS];
    int rc, unit;

    wsh_pool_read(&counters->pool, map);
    rc = wsh_reduce_small(team, map, map, WSH_POOL_WORDS, wsh_arith_find(WSH_REDUCE_AND, WSH_NUM_U64),
                          ROUTINE);
    if (rc)
        return rc;
    unit = n > COUNTERS_MAX ? -1 : wsh_pool_find(&counters->pool, map, n * sizeof(uint64_t), from);
    if (unit < 0 && team->my_pe == 0)
        wsh_warn(
            "no room for %zu counters: destroy those that are not needed, or set SHMEM_COUNTERS to more than "
            "%ld on all PEs",
            n, team->job->env.counters);
    return unit < 0 ? -ENOMEM : unit;
}

/*
 * Another thread may take the row for another team in the meantime: then all members search again, from another place.
 */
static int row_take(struct wsh_team *team, size_t n)
{
    struct wsh_job *job = team->job;
    struct wsh_pool *pool = &job->counters.pool;
    int unit = row_find(team, n, 0), rc, from = 0;

    while (unit >= 0) {
        bool mine = wsh_pool_take(pool, unit, n * sizeof(uint64_t));
        uint64_t all = mine;

        rc = job->thread_level == SHMEM_THREAD_MULTIPLE
                 ? wsh_reduce_small(team, &all, &all, 1, wsh_arith_find(WSH_REDUCE_MIN, WSH_NUM_U64), ROUTINE)
                 : 0;
        if (!rc && all)
            break;
        if (mine)
            wsh_pool_give(pool, unit, n * sizeof(uint64_t));
        from = (from + 37 * (team->my_pe + 1)) % pool->n_units;
        unit = rc ? rc : row_find(team, n, from);
    }
    return unit;
}

/* Units of the row of n counters. */
static int units_in(const struct wsh_job *job, size_t n)
{
    return (int)((n + job->counters.per_unit - 1) / job->counters.per_unit);
}

/* A generation above that of every member in these units; and whether NICs of any member count. */
static int generation_agree(struct wsh_team *team, const struct wsh_counter_unit *unit, int n,
                            uint32_t *generation, bool *nics)
{
    uint64_t most[2] = {0, wsh_nic_counters_are_there(&team->job->counters.nic)};
    int rc;

    for (int i = 0; i < n; i++)
        most[0] = unit[i].generation > most[0] ? unit[i].generation : most[0];
    rc = wsh_reduce_small(team, most, most, 2, wsh_arith_find(WSH_REDUCE_MAX, WSH_NUM_U64), ROUTINE);
    *generation = (uint32_t)most[0] + 1;
    *nics = most[1];
    return rc;
}

static void row_mark(struct wsh_counter_unit *unit, int n, uint32_t generation, bool live)
{
    for (int i = 0; i < n; i++) {
        __atomic_store_n(&unit[i].generation, generation, __ATOMIC_RELAXED);
        __atomic_store_n(&unit[i].live, live, __ATOMIC_RELAXED);
    }
}

static int device_clear(struct wsh_job *job, uint32_t first, size_t n)
{
    return job->device.attached ? wsh_device_ops()->sync_areas_clear(job, (char *)device_word(job, first),
                                                                     n * sizeof(uint64_t))
                                : 0;
}

/*
 * Words that were given back without all members: one that had not yet done so may have added to them since. It has
 * now, since the row is free at all.
 */
static int row_clear(struct wsh_job *job, int row, size_t n)
{
    struct wsh_counter_unit *unit = &job->counters.unit[row];
    uint32_t first = (uint32_t)row * job->counters.per_unit, late = 0;

    for (int i = 0; i < units_in(job, n); i++) {
        late |= unit[i].late;
        unit[i].late = 0;
    }
    if (!late)
        return 0;
    memset(host_word(job, first), 0, n * sizeof(uint64_t));
    return device_clear(job, first, n);
}

/* late: other members may still add. */
static void row_give(struct wsh_job *job, int row, size_t n, bool late)
{
    struct wsh_counter_unit *unit = &job->counters.unit[row];

    row_mark(unit, units_in(job, n), unit->generation, false);
    unit->n = 0;
    for (int i = 0; i < units_in(job, n); i++)
        unit[i].late |= late;
    wsh_pool_give(&job->counters.pool, row, n * sizeof(uint64_t));
}

/* The sync at the end: nobody puts before all count. */
static int row_begin(struct wsh_team *team, int row, size_t n, wsh_counter *counters)
{
    struct wsh_job *job = team->job;
    struct wsh_counter_unit *unit = &job->counters.unit[row];
    uint32_t generation, first = (uint32_t)row * job->counters.per_unit;
    bool nics;
    int rc = generation_agree(team, unit, units_in(job, n), &generation, &nics);

    if (!rc)
        rc = row_clear(job, row, n);
    if (rc)
        return rc;
    row_mark(unit, units_in(job, n), generation, true);
    unit->n = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        counters[i] = (uint64_t)generation << 32 | (first + i + 1);
    rc = wsh_nic_counters_begin(team, first, (uint32_t)n, nics, ROUTINE);
    if (!rc)
        rc = wsh_sync(team, ROUTINE);
    if (rc)
        wsh_nic_counters_end(job, first, (uint32_t)n);
    return rc;
}

int wsh_counters_create(struct wsh_team *team, size_t n, wsh_counter *counters)
{
    int row = row_take(team, n), rc = row < 0 ? row : row_begin(team, row, n, counters);

    if (rc && row >= 0)
        row_give(team->job, row, n, true);
    return rc;
}

static bool is_whole_row(const struct wsh_job *job, size_t n, const wsh_counter *counters)
{
    long first = wsh_counter_number(job, counters[0]);

    if (first < 0 || (uint32_t)first % job->counters.per_unit || unit_of(job, (uint32_t)first)->n != n)
        return false;
    for (size_t i = 1; i < n; i++)
        if (counters[i] != counters[0] + i)
            return false;
    return true;
}

/* What comes before the barrier is counted; nothing may come after it. */
int wsh_counters_destroy(struct wsh_team *team, size_t n, const wsh_counter *counters)
{
    struct wsh_job *job = team->job;
    uint32_t first;
    int rc;

    if (!is_whole_row(job, n, counters))
        return -EINVAL;
    rc = wsh_barrier(team, "shmemx_counter_destroy");
    first = (uint32_t)wsh_counter_number(job, counters[0]);
    if (!rc)
        rc = wsh_nic_counters_end(job, first, (uint32_t)n);
    if (!rc)
        rc = device_clear(job, first, n);
    row_give(job, (int)(first / job->counters.per_unit), n, rc != 0);
    return rc;
}

long wsh_counter_number(const struct wsh_job *job, wsh_counter counter)
{
    uint32_t number = (uint32_t)counter - 1;

    return is_live(job, number, (uint32_t)(counter >> 32), UINT32_MAX) ? (long)number : -1;
}

/*
 * The word that the data's own transport reaches, so that this transport orders the two: the word in the host heap or,
 * where the CPU of no PE handles the data, the one in the device heap.
 */
static struct wsh_signal signal_for(const struct wsh_job *job, uint32_t number, const struct wsh_target *to)
{
    const struct wsh_rmem *data = to->rmem, *host, *device = NULL;
    struct wsh_signal signal = {host_word(job, number), 1, WSH_AMO_ADD,
                                WSH_SIG_COUNTER(number, unit_of(job, number)->generation)};

    if (!data)
        return signal;
    host = wsh_route_main(&job->routes, data->pe, WSH_SEG_HEAP);
    if (job->heap.device)
        device = wsh_route_main(&job->routes, data->pe, WSH_SEG_DEVICE);
    if (device && device->tp == data->tp && (!host || host->tp != data->tp)) {
        signal.sym = device_word(job, number);
        signal.counter = 0;
    }
    return signal;
}

int wsh_put_counted_nbi(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, uint32_t number, int pe)
{
    struct wsh_target to = {0};
    struct wsh_signal signal;
    int rc = len ? wsh_op_target_with(ctx, sym, len, pe, src, &to) : 0;

    if (rc)
        return rc;
    signal = signal_for(ctx->job, number, &to);
    return wsh_put_signal_nbi(ctx, sym, src, len, &signal, pe);
}

int wsh_counters_recognize(const struct wsh_job *job, const struct wsh_target *to, struct wsh_signal *signal)
{
    size_t off = (size_t)((const char *)signal->sym - job->counters.pool.base);
    uint32_t number = (uint32_t)(off / sizeof(uint64_t));

    if (off >= wsh_counters_len(job))
        return 0;
    if (!is_live(job, number, 0, 0)) {
        wsh_error(
            "device code puts with counter %u, which is not in use; destroy counters only when no kernel "
            "puts with them",
            number);
        return -EINVAL;
    }
    *signal = signal_for(job, number, to);
    return 0;
}

/* Release: partner is the acquire of whoever reads the counter. */
int wsh_counters_count(void *core, uint32_t number, uint32_t generation, uint32_t mask)
{
    const struct wsh_job *job = core;

    if (!is_live(job, number, generation, mask))
        return -EPROTO;
    __atomic_fetch_add(host_word(job, number), 1, __ATOMIC_RELEASE);
    return 0;
}

/* Acquire. */
static uint64_t host_count(struct wsh_job *job, uint32_t number)
{
    return __atomic_load_n(host_word(job, number), __ATOMIC_ACQUIRE) + wsh_nic_counter_host(job, number);
}

/* Adds what was counted in device memory. 0 or a final error. */
static int add_device_count(struct wsh_job *job, uint32_t number, uint64_t *value)
{
    uint64_t word = 0;
    int rc;

    if (!job->device.attached)
        return 0;
    rc = wsh_get(&job->ctx, &word, device_word(job, number), sizeof word, job->my_pe);
    *value += word;
    return rc ? rc : wsh_nic_counter_device(job, number, value);
}

uint64_t wsh_counter_fetch(struct wsh_job *job, uint32_t number)
{
    uint64_t value;

    if (wsh_wait_progress(job) < 0)
        wsh_abort(1);
    value = host_count(job, number);
    wsh_order_returns();
    if (add_device_count(job, number, &value))
        wsh_abort(1);
    if (wsh_job_is_special(job, WSH_SPECIAL_POLLS))
        wsh_poll_read_served(job, (const char *)&job->counters + number);
    return value;
}

struct wait {
    struct wsh_job *job;
    uint64_t value; /* of the words in the host heap */
    uint64_t whole; /* of the counter */
    unsigned tries; /* before the GPU's word is looked at; 0: there is none */
    uint32_t number;
    uint32_t generation; /* of failures, when it began */
    unsigned vain;
    double until; /* 0: for ever */
};

/* Most waits end before the first look at the clock. What was there before the news of a failure counts. */
static int try_limit(struct wait *wait)
{
    enum { TRIES = 64 };

    if (!(wait->until > 0) || ++wait->vain < TRIES)
        return -EAGAIN;
    if (wsh_failures_generation(wait->job) != wait->generation)
        return host_count(wait->job, wait->number) >= wait->value ? 0 : -ECANCELED;
    return wsh_wait_now() < wait->until ? -EAGAIN : -ETIMEDOUT;
}

static int try_word(void *arg)
{
    struct wait *wait = arg;

    if (host_count(wait->job, wait->number) >= wait->value) {
        wsh_order_returns();
        return 0;
    }
    return wait->tries && !--wait->tries ? 0 : try_limit(wait);
}

static void describe_wait(void *arg, char *text, size_t size)
{
    const struct wait *wait = arg;

    snprintf(text, size, "counter %u to be %llu; in host memory it has %llu", wait->number,
             (unsigned long long)wait->whole, (unsigned long long)host_count(wait->job, wait->number));
}

/* Words in device memory cost a copy to read, and never decrease: the host words need only make up the difference. */
static int wait_for(struct wait *wait, uint64_t value, const char *routine)
{
    enum { TRIES = 64 };
    const struct wsh_wait_why why = {routine, describe_wait};
    struct wsh_job *job = wait->job;
    int rc;

    wait->whole = value;
    do {
        uint64_t counted = 0;

        rc = add_device_count(job, wait->number, &counted);
        wait->value = value > counted ? value - counted : 0;
        wait->tries = job->device.attached ? TRIES : 0;
        if (!rc && try_word(wait) == -EAGAIN)
            rc = wsh_wait(job, &why, try_word, wait);
    } while (!rc && host_count(job, wait->number) < wait->value);
    return rc;
}

int wsh_counter_wait(struct wsh_job *job, uint32_t number, uint64_t value, const char *routine)
{
    struct wait wait = {.job = job, .number = number};

    return wait_for(&wait, value, routine);
}

int wsh_counter_wait_timed(struct wsh_job *job, uint32_t number, uint64_t value, double seconds,
                           const char *routine)
{
    struct wait wait = {.job = job, .number = number, .generation = wsh_failures_generation(job)};

    if (!(seconds > 0))
        return wsh_counter_fetch(job, number) >= value ? 0 : -ETIMEDOUT;
    wait.until = wsh_wait_now() + seconds;
    return wait_for(&wait, value, routine);
}
