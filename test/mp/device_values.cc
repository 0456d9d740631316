/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values in requests to NICs: p and short blocking puts of kernels by the very code of device/core/put.cuh, CPU threads
 * for lanes, and everything else the real thing. A request carries the data, so the source is free when the put returns,
 * whatever memory it is; longer ones go as before. Each is one request in a queue for values and no record for the
 * proxy; fence and quiet hold for them as for others.
 *
 * paths: fakegda:2,4 fakegdarails:2
 * timeout: 120
 */
#define WSH_DEVICE_PTX "test/device/cpu_block.cuh"
#include <shmemx.h>

#include "device/core/order.cuh"
#include "device/core/put.cuh"

#define _Noreturn [[noreturn]]
extern "C" {
#include "test/common/mp.h"
}
#undef _Noreturn
#include "test/fake_cuda/fake.h"

enum { WORDS = 200, LONGEST = WSH_GDA_INLINE_MAX + 1, PLACE = 128 };

/* Copies of what lies in the GPU's memory, where it is. */
static struct {
    struct wsh_ring_heads heads;
    struct wsh_gda gda;
} own;
static struct wsh_device_locks locks;
static uint64_t *words;
static unsigned char *landing;
static int other; /* of the other host */

template <class T> static void alias(T *at)
{
    *at = *at ? (T)(uintptr_t)fake_alias((const void *)(uintptr_t)*at) : 0;
}

static void take_state()
{
    own.gda = *(struct wsh_gda *)fake_alias((void *)(wsh_device_view.ring_heads + sizeof(struct wsh_ring_heads)));
    for (uint32_t i = 0; i < own.gda.n_all; i++)
        alias(&own.gda.queue[i].peers);
    wsh_device_view.ring_heads = (uint64_t)&own.heads;
    wsh_device_view.locks = (uint64_t)&locks;
    wsh_device_view.slots = 0;
    wsh_device_view.ranges = 0;
    alias(&wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE].base);
}

/* Requests in queues for values, in others, and records. */
struct seen {
    uint64_t values, others, records;
};

static struct seen look()
{
    struct seen seen = {};

    for (uint32_t i = 0; i < own.gda.n_all; i++)
        (i < own.gda.n_queues ? seen.others : seen.values) += own.gda.queue[i].rung;
    for (uint64_t head = 0, r = 0; r < WSH_RINGS_MAX; r++, head = 0) {
        head = own.heads.ring[r].head & ~WSH_RING_KNOWN;
        seen.records += head;
    }
    return seen;
}

static void expect(const struct seen &before, uint64_t values, uint64_t others, const char *what)
{
    struct seen now = look();

    mp_check(now.values - before.values == values && now.others - before.others == others,
             "%s: %llu requests with data and %llu others, not %llu and %llu", what,
             (unsigned long long)(now.values - before.values), (unsigned long long)(now.others - before.others),
             (unsigned long long)values, (unsigned long long)others);
    if (values + others)
        mp_check(now.records == before.records, "%s: %llu pieces of records", what,
                 (unsigned long long)(now.records - before.records));
}

static uint64_t value_of(unsigned i, uint64_t round, int pe)
{
    return (round * WORDS + i + 1) * 0x9e3779b97f4a7c15u ^ (uint64_t)pe << 40;
}

/* p of one type: the host's barrier is the quiet. */
template <class T> static void p_words(uint64_t round)
{
    T *to = (T *)words;
    struct seen before;
    unsigned wrong = 0;

    memset(words, 0, WORDS * sizeof *words);
    shmem_barrier_all();
    before = look();
    cpu_block_run(1, [=] {
        for (unsigned i = 0; i < WORDS; i++)
            wsh_dev_p<T>("p", to + i, (T)value_of(i, round, mp_me), other);
    });
    expect(before, WORDS, 0, "p");
    shmem_barrier_all();
    for (unsigned i = 0; i < WORDS; i++)
        wrong += to[i] != (T)value_of(i, round, other);
    mp_check(!wrong, "p of %zu bytes: %u wrong", sizeof(T), wrong);
    shmem_barrier_all();
}

/* A source that is nobody's, and overwritten at once; a kernel's quiet, and a barrier that completes nothing. */
static void put_all_lengths(uint64_t seed)
{
    struct seen before;

    memset(landing, 0, LONGEST * PLACE);
    shmem_barrier_all();
    before = look();
    cpu_block_run(1, [=] {
        unsigned char source[LONGEST + 8];

        for (unsigned len = 1; len < LONGEST; len++) {
            unsigned char *from = source + len % 8;

            mp_fill(from, len, seed + len + 1000 * (unsigned)mp_me);
            wsh_dev_put<WSH_THREAD, true>("put", landing + len * PLACE + len % 3, from, len, other);
            memset(source, 0xee, sizeof source);
        }
        wsh_dev_quiet<WSH_THREAD>();
    });
    expect(before, LONGEST - 1, 0, "puts");
    shmem_sync_all();
    for (unsigned len = 1; len < LONGEST; len++) {
        const unsigned char *at = landing + len * PLACE + len % 3;

        mp_check(!mp_wrong(at, len, seed + len + 1000 * (unsigned)other), "put of %u bytes", len);
        mp_check(!at[len] && (len % 3 == 0 || !at[-1]), "put of %u bytes: others overwritten", len);
    }
    shmem_barrier_all();
}

/* Longer than a request has room for: zero-copy from the heap, by the kernel where it is nonblocking. */
static void too_long(uint64_t seed)
{
    unsigned char *source = landing + (LONGEST - 1) * PLACE, *to = landing;
    struct seen before;

    mp_fill(source, LONGEST, seed + (unsigned)mp_me);
    shmem_barrier_all();
    before = look();
    cpu_block_run(1, [=] { wsh_dev_put_nbi<WSH_THREAD>("put", to, source, LONGEST, other); });
    expect(before, 0, 1, "a longer put");
    shmem_barrier_all();
    mp_check(!mp_wrong(to, LONGEST, seed + (unsigned)other), "a longer put");
    shmem_barrier_all();
}

/* Of two values of a word with a fence between, the second stays. */
static void fenced(uint64_t round)
{
    unsigned wrong = 0;

    cpu_block_run(1, [=] {
        for (unsigned i = 0; i < WORDS; i++) {
            wsh_dev_p<uint64_t>("p", words + i, 1, other);
            if (i % 4 == 3) {
                wsh_dev_fence<WSH_THREAD>();
                for (unsigned j = i - 3; j <= i; j++)
                    wsh_dev_p<uint64_t>("p", words + j, value_of(j, round, mp_me), other);
            }
        }
    });
    shmem_barrier_all();
    for (unsigned i = 0; i < WORDS; i++)
        wrong += words[i] != value_of(i, round, other);
    mp_check(!wrong, "p behind a fence: %u wrong", wrong);
    shmem_barrier_all();
}

/* A warp's put is one request. */
static void by_a_warp(uint64_t seed)
{
    static unsigned char source[64];
    struct seen before;

    mp_fill(source, sizeof source, seed + (unsigned)mp_me);
    shmem_barrier_all();
    before = look();
    cpu_block_run(32, [=] { wsh_dev_put<WSH_WARP, true>("put", landing, source, sizeof source, other); });
    expect(before, 1, 0, "a warp's put");
    shmem_barrier_all();
    mp_check(!mp_wrong(landing, sizeof source, seed + (unsigned)other), "a warp's put");
    shmem_barrier_all();
}

int main(void)
{
    long rounds;

    mp_begin();
    other = (mp_me + mp_npes / 2) % mp_npes;
    words = (uint64_t *)mp_alloc(WORDS * sizeof *words);
    landing = (unsigned char *)mp_alloc(LONGEST * PLACE);
    shmemx_free_device(shmemx_malloc_device(8));
    mp_check(wsh_device_view.flags & WSH_DEVICE_GDA, "kernels do not post");
    if (!(wsh_device_view.flags & WSH_DEVICE_GDA))
        return mp_end();
    take_state();
    mp_check(own.gda.n_values, "no queues for values");
    rounds = mp_rounds(3, 100);
    for (long i = 0; i < rounds; i++) {
        p_words<uint8_t>(4 * (uint64_t)i);
        p_words<uint16_t>(4 * (uint64_t)i + 1);
        p_words<uint32_t>(4 * (uint64_t)i + 2);
        p_words<uint64_t>(4 * (uint64_t)i + 3);
        put_all_lengths((uint64_t)i * 500);
        too_long((uint64_t)i);
        fenced((uint64_t)i);
        by_a_warp((uint64_t)i);
    }
    return mp_end();
}
