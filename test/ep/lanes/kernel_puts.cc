/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts to other hosts as kernels make them, for calls of expert parallelism by the host's code: this library, loaded
 * before libwarpshmem, puts, flushes and reads counters by the very code of device/, a CPU thread for the lane. What
 * that code does not post to queues of the emulated NIC, it asks the proxy for: counted puts of no bytes.
 */
#define WSH_DEVICE_PTX "test/device/cpu_block.cuh"
#include <shmemx.h>
#include <shmemx_ep.h>

#include "device/core/counter.cuh"
#include "device/core/order.cuh"
#include "test/fake_cuda/fake.h"

#include <cstdio>
#include <dlfcn.h>

/* Copies of what lies in the GPU's memory, where it is. */
static struct {
    struct wsh_ring_heads heads;
    struct wsh_gda gda;
} own;
static struct wsh_device_locks locks;

template <class T> static T *seen(T *at)
{
    void *alias = fake_alias((const void *)at);

    return alias ? (T *)alias : at;
}

static void alias(uint64_t *at)
{
    *at = *at ? (uint64_t)seen((char *)*at) : 0;
}

static void take_state()
{
    own.gda = *seen((struct wsh_gda *)(wsh_device_view.ring_heads + sizeof(struct wsh_ring_heads)));
    for (uint32_t i = 0; i < own.gda.n_all; i++)
        alias(&own.gda.queue[i].peers);
    alias(&own.gda.counter_targets);
    wsh_device_view.ring_heads = (uint64_t)&own.heads;
    wsh_device_view.locks = (uint64_t)&locks;
    wsh_device_view.slots = 0;
    wsh_device_view.ranges = 0;
    alias(&wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE].base);
}

/* Collective, as what calls it: the GPU is there before the instance's counters. */
static void begin()
{
    static bool begun;

    if (begun)
        return;
    begun = true;
    shmemx_free_device(shmemx_malloc_device(8));
    if (!(wsh_device_view.flags & WSH_DEVICE_GDA)) {
        fprintf(stderr, "kernels do not post\n");
        shmem_global_exit(1);
    }
    take_state();
}

/* As wsh_dev_nic_word_count, by addresses that a CPU reads. */
static uint64_t count_of(const struct wsh_device_nic_word *word)
{
    uint64_t kept = wsh_ptx_poll(seen((const uint64_t *)word->kept_at)),
             raw = wsh_ptx_poll(seen((const uint64_t *)word->at));

    return WSH_NIC_WORD_EXTEND(kept, raw) - word->base;
}

static uint64_t count_by_nics(uint32_t number)
{
    const struct wsh_device_nic_counter *counter =
        (const struct wsh_device_nic_counter *)wsh_dev_counter_device(wsh_device_view.n_counters) + number;
    uint64_t sum = 0;

    if (!(wsh_device_view.flags & WSH_DEVICE_NICS_COUNT) || number >= WSH_DEVICE_NIC_COUNTERS)
        return 0;
    for (uint32_t i = 0; i < WSH_DEVICE_NIC_WORDS && counter->word[i].at; i++)
        sum += count_of(&counter->word[i]);
    return sum;
}

static bool is_mutant(const char *name)
{
    static const char *mutant = getenv("KERNEL_PUTS_MUTANT");

    return mutant && !strcmp(mutant, name);
}

/* The library's routine of that name, which this one stands for. */
template <class T> static T *next(T *, const char *name)
{
    return (T *)dlsym(RTLD_NEXT, name);
}

extern "C" int shmemx_ep_create(shmem_team_t team, const shmemx_ep_config_t *config, shmemx_ep_t *ep)
{
    static auto create = next(shmemx_ep_create, "shmemx_ep_create");

    begin();
    return create(team, config, ep);
}

/* A mutant loses what gives memory back. */
extern "C" void shmemx_ctx_putmem_counted_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t len,
                                              shmemx_counter_t counter, int pe)
{
    static auto put = next(shmemx_ctx_putmem_counted_nbi, "shmemx_ctx_putmem_counted_nbi");

    if (shmem_ptr(dest, pe))
        put(ctx, dest, source, len, counter, pe);
    else if (len || !is_mutant("no_credit"))
        wsh_dev_put_counted_nbi<WSH_THREAD>("put", dest, source, len, counter, pe);
}

extern "C" void shmemx_ctx_flush(shmem_ctx_t)
{
    wsh_dev_quiet<WSH_THREAD>();
}

extern "C" uint64_t shmemx_counter_fetch(shmemx_counter_t counter)
{
    uint32_t number = (uint32_t)counter - 1;

    return wsh_ptx_poll(wsh_dev_counter_host(number)) + wsh_ptx_poll(wsh_dev_counter_device(number)) +
           count_by_nics(number);
}

/* Nothing of the library is served here: as while a kernel runs, its own threads do. */
extern "C" void shmemx_counter_wait_until(shmemx_counter_t counter, uint64_t value)
{
    while (shmemx_counter_fetch(counter) < value)
        sched_yield();
}
