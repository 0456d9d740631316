/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The routines of the public interface that libwarpshmem-ep calls, for the PE that runs: over the same core, without
 * the checks of runtime/api, which know one job alone.
 */
#include "sim/sim.h"

#include "base/env/env.h"
#include "runtime/op/order.h"
#include "runtime/op/signal.h"

#include <shmemx.h>

#include <stdlib.h>
#include <string.h>

/* In the same order on all PEs; the memory is zero, and is never given back. */
static void *memory_take(size_t align, size_t size)
{
    struct sim_pe *pe = sim.running;
    size_t at = (pe->used + align - 1) & ~(align - 1);

    if (at + size > sim.heap_len)
        return NULL;
    pe->used = at + size;
    return pe->heap + at;
}

void *shmemx_team_malloc(shmem_team_t team, size_t size)
{
    (void)team;
    return memory_take(256, size);
}

void shmemx_team_free(shmem_team_t team, void *ptr)
{
    (void)team, (void)ptr;
}

int shmem_my_pe(void)
{
    return sim.running->number;
}

void *shmem_ptr(const void *dest, int pe)
{
    size_t off = (size_t)((const char *)dest - sim.running->heap);

    return sim_same_host(&sim.pe[pe], sim.running) ? sim.peer[pe] + off : NULL;
}

int shmemx_team_barrier(shmem_team_t team)
{
    (void)team;
    if (wsh_barrier(&sim.running->team, "shmemx_team_barrier"))
        sim_violation("PE %d: a barrier has failed", sim.running->number);
    return 0;
}

/* Of what is the same on all PEs; with few hosts in full, which have no reduce, it is done. */
static int reduce(int64_t *dest, const int64_t *src, size_t n, enum wsh_reduce op)
{
    if (sim.n_full < sim.n_pes) {
        memcpy(dest, src, n * sizeof *dest);
        return 0;
    }
    return wsh_reduce(&sim.running->team, dest, src, n, wsh_arith_find(op, WSH_NUM_I64));
}

int shmem_int64_max_reduce(shmem_team_t team, int64_t *dest, const int64_t *src, size_t n)
{
    (void)team;
    return reduce(dest, src, n, WSH_REDUCE_MAX);
}

int shmem_int64_min_reduce(shmem_team_t team, int64_t *dest, const int64_t *src, size_t n)
{
    (void)team;
    return reduce(dest, src, n, WSH_REDUCE_MIN);
}

void shmem_global_exit(int status)
{
    (void)status;
    sim_violation("PE %d: the protocol of expert parallelism is broken", sim.running->number);
    for (;;)
        sim_block(sim.running);
}

/* All PEs are the only team. */
int shmem_team_my_pe(shmem_team_t team)
{
    return team == SHMEM_TEAM_INVALID ? -1 : sim.running->number;
}

int shmem_team_n_pes(shmem_team_t team)
{
    return team == SHMEM_TEAM_INVALID ? -1 : sim.n_pes;
}

int shmem_team_translate_pe(shmem_team_t from, int pe, shmem_team_t to)
{
    (void)from, (void)to;
    return pe;
}

int shmem_team_split_strided(shmem_team_t parent, int start, int stride, int size,
                             const shmem_team_config_t *config, long mask, shmem_team_t *team)
{
    (void)start, (void)stride, (void)size, (void)config, (void)mask;
    *team = parent;
    return 0;
}

void shmem_team_destroy(shmem_team_t team)
{
    (void)team;
}

int shmem_ctx_create(long options, shmem_ctx_t *ctx)
{
    (void)options;
    *ctx = SHMEM_CTX_DEFAULT;
    return 0;
}

void shmem_ctx_destroy(shmem_ctx_t ctx)
{
    (void)ctx;
}

void shmem_ctx_quiet(shmem_ctx_t ctx)
{
    (void)ctx;
    wsh_quiet(&sim.job.ctx);
}

void shmemx_ctx_flush(shmem_ctx_t ctx)
{
    (void)ctx;
    wsh_flush(&sim.job.ctx);
}

/* A counter is 1 + the offset of its word. */
static uint64_t *counter_word(shmemx_counter_t counter)
{
    return (uint64_t *)(sim.running->heap + (counter - 1));
}

int shmemx_counter_create(shmem_team_t team, size_t n, shmemx_counter_t *counters)
{
    char *words = memory_take(64, n * sizeof(uint64_t));

    (void)team;
    for (size_t i = 0; words && i < n; i++)
        counters[i] = 1 + (shmemx_counter_t)(words + i * sizeof(uint64_t) - sim.running->heap);
    return !words;
}

int shmemx_counter_destroy(shmem_team_t team, size_t n, shmemx_counter_t *counters)
{
    (void)team, (void)n, (void)counters;
    return 0;
}

uint64_t shmemx_counter_fetch(shmemx_counter_t counter)
{
    return __atomic_load_n(counter_word(counter), __ATOMIC_ACQUIRE);
}

struct counted {
    const uint64_t *word;
    uint64_t value;
};

static int counted_try(void *arg)
{
    const struct counted *counted = arg;

    return __atomic_load_n(counted->word, __ATOMIC_ACQUIRE) >= counted->value ? 0 : -EAGAIN;
}

void shmemx_counter_wait_until(shmemx_counter_t counter, uint64_t value)
{
    static const struct wsh_wait_why why = {"a counter of expert parallelism", NULL};
    struct counted counted = {counter_word(counter), value};

    if (wsh_wait(&sim.job, &why, counted_try, &counted))
        sim_violation("PE %d: waiting has failed", sim.running->number);
}

static int equal_try(void *arg)
{
    const struct counted *counted = arg;

    return __atomic_load_n(counted->word, __ATOMIC_ACQUIRE) == counted->value ? 0 : -EAGAIN;
}

static int differs_try(void *arg)
{
    return equal_try(arg) ? 0 : -EAGAIN;
}

static int equal_low_try(void *arg)
{
    const struct counted *counted = arg;

    return __atomic_load_n((const uint32_t *)counted->word, __ATOMIC_ACQUIRE) == counted->value ? 0 : -EAGAIN;
}

/* What near PEs store is no event: this PE looks when one of them has run. */
static void await_stored(const struct wsh_wait_why *why, wsh_wait_try try, struct counted *word)
{
    struct sim_pe *pe = sim.running;

    pe->polls = true;
    sim.host[pe->host].pollers++;
    if (wsh_wait(&sim.job, why, try, word))
        sim_violation("PE %d: waiting has failed", pe->number);
    sim.host[pe->host].pollers--;
    pe->polls = false;
}

/* Low latency waits for words that are equal, or are another than they were. */
void shmem_uint64_wait_until(uint64_t *ivar, int cmp, uint64_t value)
{
    static const struct wsh_wait_why why = {"a flag of expert parallelism", NULL};
    struct counted flag = {ivar, value};

    await_stored(&why, cmp == SHMEM_CMP_NE ? differs_try : equal_try, &flag);
}

/* No program of the simulator gives signals. */
size_t shmem_uint32_wait_until_any(uint32_t *ivars, size_t n, const int *status, int cmp, uint32_t value)
{
    (void)ivars, (void)n, (void)status, (void)cmp, (void)value;
    abort();
}

int shmem_addr_accessible(const void *addr, int pe)
{
    (void)addr, (void)pe;
    return 0;
}

void shmem_uint32_wait_until(uint32_t *ivar, int cmp, uint32_t value)
{
    static const struct wsh_wait_why why = {"a word of expert parallelism", NULL};
    struct counted word = {(const uint64_t *)(const void *)ivar, value};

    (void)cmp;
    await_stored(&why, equal_low_try, &word);
}

void shmemx_ctx_putmem_counted_nbi(shmem_ctx_t ctx, void *dest, const void *src, size_t len,
                                   shmemx_counter_t counter, int pe)
{
    const struct wsh_signal signal = {counter_word(counter), 1, WSH_AMO_ADD, 1};

    (void)ctx;
    if (wsh_put_signal_nbi(&sim.job.ctx, dest, src, len, &signal, pe))
        sim_violation("PE %d: a counted put has failed", sim.running->number);
}

int shmemx_report_add(void (*describe)(void *arg, char *text, size_t size), void *arg)
{
    (void)describe, (void)arg;
    return 0;
}

int shmemx_error_hold(int hold)
{
    (void)hold;
    return 0;
}

const char *shmemx_setting(const char *name)
{
    return wsh_env_text(name);
}

void shmemx_stats_add(int count, uint64_t n)
{
    (void)count, (void)n;
}

int shmemx_report_remove(void *arg)
{
    (void)arg;
    return 0;
}

void *shmemx_team_malloc_device(shmem_team_t team, size_t size)
{
    (void)team, (void)size;
    return NULL;
}

/* Of instances with masks, which are not simulated: no PE fails, or is late. */
static int no_masks(void)
{
    sim_violation("PE %d: a call of masks", sim.running->number);
    return 0;
}

int shmemx_pe_failed(int pe)
{
    (void)pe;
    return no_masks();
}

uint64_t shmemx_failure_generation(void)
{
    return (uint64_t)no_masks();
}

int shmemx_counter_wait_until_timeout(shmemx_counter_t counter, uint64_t value, double seconds)
{
    (void)counter, (void)value, (void)seconds;
    return no_masks();
}

int shmemx_uint32_wait_until_timeout(uint32_t *ivar, int cmp, uint32_t cmp_value, double seconds)
{
    (void)ivar, (void)cmp, (void)cmp_value, (void)seconds;
    return no_masks();
}

int shmemx_uint64_wait_until_timeout(uint64_t *ivar, int cmp, uint64_t cmp_value, double seconds)
{
    (void)ivar, (void)cmp, (void)cmp_value, (void)seconds;
    return no_masks();
}

void shmem_putmem(void *dest, const void *source, size_t nelems, int pe)
{
    (void)dest, (void)source, (void)nelems, (void)pe;
    no_masks();
}

void shmem_uint64_p(uint64_t *dest, uint64_t value, int pe)
{
    (void)dest, (void)value, (void)pe;
    no_masks();
}

void shmem_quiet(void)
{
    no_masks();
}
