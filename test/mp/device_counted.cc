/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counted puts of kernels that NICs of the target count: the very code of device/core/counter.cuh, CPU threads for
 * lanes, and everything else the real thing. Kernels post them to the counter's queue pair, or the proxy does where
 * they do not post (SHMEM_GDA=off); kernels and CPUs wait and fetch alike, through the wrap of the NIC's word; counters
 * that were there before the GPU, and those that are made again, begin at 0; destroyed ones have no queue pair for
 * kernels.
 *
 * paths: fakegda:2,4
 * timeout: 120
 */
#define WSH_DEVICE_PTX "test/device/cpu_block.cuh"
#include <shmemx.h>

#include "device/core/counter.cuh"

#define _Noreturn [[noreturn]]
extern "C" {
#include "test/common/mp.h"
}
#undef _Noreturn
#include "test/fake_cuda/fake.h"

enum { BLOCK = 512, BLOCKS = 48 };

/* Copies of what lies in the GPU's memory, where it is. */
static struct {
    struct wsh_ring_heads heads;
    struct wsh_gda gda;
} own;
static struct wsh_device_locks locks;
static unsigned char *landing, *outgoing;
static int other; /* of the other host */

template <class T> static void alias(T *at)
{
    *at = *at ? (T)(uintptr_t)fake_alias((const void *)(uintptr_t)*at) : 0;
}

static void take_state()
{
    if (wsh_device_view.flags & WSH_DEVICE_GDA)
        own.gda = *(struct wsh_gda *)fake_alias((void *)(wsh_device_view.ring_heads + sizeof(struct wsh_ring_heads)));
    for (uint32_t i = 0; i < own.gda.n_all; i++)
        alias(&own.gda.queue[i].peers);
    alias(&own.gda.counter_targets);
    wsh_device_view.ring_heads = (uint64_t)&own.heads;
    wsh_device_view.locks = (uint64_t)&locks;
    wsh_device_view.slots = 0;
    wsh_device_view.ranges = 0;
    alias(&wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE].base);
}

static uint64_t fetch(shmemx_counter_t counter)
{
    uint64_t value = 0;

    cpu_block_run(1, [&] { value = wsh_dev_counter_fetch("fetch", counter); });
    return value;
}

static uint64_t posted()
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < own.gda.n_all; i++)
        sum += own.gda.queue[i].rung;
    return sum;
}

static bool is_kept(shmemx_counter_t counter)
{
    const struct wsh_gda_target *target = (const struct wsh_gda_target *)own.gda.counter_targets;
    uint32_t number = (uint32_t)counter - 1;

    return target && number < own.gda.n_counters &&
           target[(uint64_t)number * own.gda.n_rails * (unsigned)mp_npes + (unsigned)other].qpn;
}

static void send(shmemx_counter_t counter)
{
    for (int i = 0; i < BLOCKS; i++)
        cpu_block_run(1, [=] {
            wsh_dev_put_counted_nbi<WSH_THREAD>("put", landing + i * BLOCK, outgoing + i * BLOCK, BLOCK, counter,
                                                other);
        });
}

static void round_of(shmemx_counter_t counter, uint64_t *expected, uint64_t seed)
{
    mp_fill(outgoing, BLOCK * BLOCKS, seed + (unsigned)mp_me);
    shmem_barrier_all();
    send(counter);
    *expected += BLOCKS;
    if (seed % 2)
        cpu_block_run(1, [=] { wsh_dev_counter_wait_until<WSH_THREAD>("wait", counter, *expected); });
    else
        shmemx_counter_wait_until(counter, *expected);
    mp_check(!mp_wrong(landing, BLOCK * BLOCKS, seed + (unsigned)other), "counted before the data");
    mp_check(fetch(counter) == *expected, "a kernel fetches %llu of %llu", (unsigned long long)fetch(counter),
             (unsigned long long)*expected);
    mp_check(shmemx_counter_fetch(counter) == *expected, "the CPU fetches %llu of %llu",
             (unsigned long long)shmemx_counter_fetch(counter), (unsigned long long)*expected);
    shmem_barrier_all();
}

/* Of the counter, one of which is made anew each time. */
static void life(shmemx_counter_t counter, uint64_t expected, long rounds, uint64_t seed)
{
    uint64_t before = posted(), puts = 0;

    mp_check(fetch(counter) == expected, "counter %u begins at %llu", (unsigned)counter,
             (unsigned long long)fetch(counter));
    shmem_barrier_all();
    for (long i = 0; i < rounds; i++, puts += BLOCKS)
        round_of(counter, &expected, seed + (uint64_t)i);
    mp_check(!own.gda.n_queues || posted() - before == puts, "kernels have posted %llu of %llu",
             (unsigned long long)(posted() - before), (unsigned long long)puts);
    mp_check(!own.gda.n_queues || is_kept(counter), "no queue pair for counter %u", (unsigned)counter);
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &counter), "not destroyed");
    mp_check(!is_kept(counter), "a queue pair for counter %u, which is destroyed", (unsigned)counter);
}

int main(void)
{
    shmemx_counter_t first, next;

    mp_begin();
    other = (mp_me + mp_npes / 2) % mp_npes;
    landing = (unsigned char *)mp_alloc(BLOCK * BLOCKS);
    outgoing = (unsigned char *)mp_alloc(BLOCK * BLOCKS);
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &first), "no counter");
    for (int i = 0; i < 70; i++)
        shmemx_putmem_counted_nbi(landing, outgoing, BLOCK, first, other);
    shmem_barrier_all();
    shmemx_free_device(shmemx_malloc_device(8));
    mp_check(wsh_device_view.flags & WSH_DEVICE_NICS_COUNT, "NICs do not count");
    take_state();
    life(first, 70, mp_rounds(4, 100), 0);
    for (unsigned i = 0; i < 3; i++) {
        mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &next), "no counter");
        life(next, 0, mp_rounds(4, 100), 1000 * (i + 1));
    }
    return mp_end();
}
