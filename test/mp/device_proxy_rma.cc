/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts, gets and their strided forms as kernels make them reach the host heap of PEs of other hosts: the very code of
 * device/core/strided.cuh at each scope, CPU threads for lanes; the proxy, its context and the transports are the real
 * ones. Exactly the bytes named arrive, of every element size, of few and of more than a record holds; the source may
 * be overwritten on return; a put of few bytes leaves nothing in the ring that stops it. From the host heap puts are
 * zero-copy from some length on: the source is overwritten after the quiet of a nonblocking one, and on return of
 * others. Nonblocking puts with signal, and counted ones, do so in one record, by the same lengths.
 *
 * paths: fakegpumixed:4 fakegpumixedefa:2
 * long paths: fakegpumixed:2
 * timeout: 180
 */
#define WSH_DEVICE_PTX "test/device/cpu_block.cuh"
#include <shmemx.h>

#include "device/core/counter.cuh"
#include "device/core/order.cuh"
#include "device/core/strided.cuh"

#define _Noreturn [[noreturn]]
extern "C" {
#include "test/common/mp.h"
}
#undef _Noreturn

#include <stdlib.h>

enum { BYTES = 400000, UNTOUCHED = 0x5a };

static const unsigned lanes[] = {1, 5, 8}; /* by scope */

static struct wsh_ring_heads heads;
static struct wsh_device_locks locks;

/* In the host heap: what another PE puts here, and gets from here. */
static unsigned char *landing, *offered;
static unsigned char *outgoing; /* a source in the host heap */
static uint64_t *sent;

static unsigned char source[BYTES], target[BYTES], want[BYTES];
static int to, from;

/* What lies in the fake GPU's memory only its own threads see. */
static void take_state()
{
    wsh_device_view.ring_heads = (uint64_t)&heads;
    wsh_device_view.locks = (uint64_t)&locks;
    wsh_device_view.slots = 0;
    wsh_device_view.ranges = 0;
}

static unsigned seed;

/* Bytes of `of` for the present round. */
static void fill(unsigned char *memory, int of)
{
    mp_fill(memory, BYTES, seed * 64 + (unsigned)of);
}

/* `memory` must be `shape` of what `of` filled its side with, and untouched else. */
static void check(const char *what, const unsigned char *memory, int of, struct wsh_dev_strides s, unsigned width)
{
    static unsigned char filled[BYTES];
    size_t wrong = 0;

    fill(filled, of);
    memset(want, UNTOUCHED, BYTES);
    for (size_t i = 0; i < s.nelems; i++)
        memcpy(want + i * (size_t)s.dst * width, filled + i * (size_t)s.sst * width, width);
    for (size_t i = 0; i < BYTES; i++)
        wrong += memory[i] != want[i];
    mp_check(!wrong, "%s of %zu elements of %u bytes, strides %td and %td: %zu bytes wrong", what, s.nelems, width,
             s.dst, s.sst, wrong);
}

static void begin_round()
{
    seed++;
    fill(source, mp_me);
    fill(offered, mp_me);
    memset(landing, UNTOUCHED, BYTES);
    memset(target, UNTOUCHED, BYTES);
    shmem_barrier_all();
}

template <int S, unsigned WIDTH> static void strided(ptrdiff_t dst, ptrdiff_t sst, size_t n)
{
    struct wsh_dev_strides s = {dst, sst, n};

    begin_round();
    cpu_block_run(lanes[S], [s] { wsh_dev_iput<S, WIDTH>("iput", landing, source, s, to); });
    memset(source, 0, BYTES);
    cpu_block_run(lanes[S], [s] { wsh_dev_iget<S, WIDTH>("iget", target, offered, s, to); });
    check("iget", target, to, s, WIDTH);
    shmem_barrier_all();
    check("iput", landing, from, s, WIDTH);
}

template <int S, unsigned WIDTH> static void width()
{
    static const ptrdiff_t strides[][2] = {{1, 1}, {2, 1}, {1, 3}, {5, 7}};
    static const size_t counts[] = {0, 1, 2, 33, 257};

    for (const ptrdiff_t(&stride)[2] : strides)
        for (size_t n : counts)
            strided<S, WIDTH>(stride[0], stride[1], n);
    strided<S, WIDTH>(-1, 0, 1); /* strides of one element say nothing */
    if (WIDTH >= 8)
        strided<S, WIDTH>(2, 3, 2 * WSH_RING_PART / WIDTH + 7);
}

/* A put to `landing`, with a signal or without. */
template <int S, bool WAITS> static void put(const void *from_here, size_t len, const struct wsh_dev_signal *with)
{
    if (with)
        wsh_dev_put_far<S, WAITS>(landing, from_here, len, to, with);
    else
        wsh_dev_put_any<S, WAITS>("put", landing, from_here, len, to);
}

/* Contiguous: with a signal every other time, which the target's host must find behind the data. */
template <int S> static void contiguous(size_t len, unsigned round)
{
    bool with = round % 2;
    uint64_t before = *sent;

    begin_round();
    cpu_block_run(lanes[S], [=] {
        struct wsh_dev_signal signal = {sent, 1, SHMEM_SIGNAL_ADD, 0};

        put<S, true>(source, len, with ? &signal : nullptr);
    });
    memset(source, 0, BYTES);
    if (with)
        shmem_uint64_wait_until(sent, SHMEM_CMP_EQ, before + 1);
    else
        shmem_barrier_all();
    check("put", landing, from, wsh_dev_strides{1, 1, len}, 1);
    cpu_block_run(lanes[S], [=] { wsh_dev_get_any<S, true>("get", target, offered, len, to); });
    check("get", target, to, wsh_dev_strides{1, 1, len}, 1);
    shmem_barrier_all();
}

/* By what the view says, not by what the call did. */
static bool is_zero_copy(size_t len, bool signal, bool waits, bool gets = false)
{
    struct wsh_dev_parts parts = {(char *)landing, (const char *)outgoing, len, to, 0, 1, signal, 0, 0, 0, waits};

    return wsh_dev_nocopy(&parts, gets);
}

template <int S> static void zero_copy(size_t len, unsigned round)
{
    bool with = round % 2, waits = round / 2 % 2;
    uint64_t before = *sent;

    begin_round();
    fill(outgoing, mp_me);
    cpu_block_run(lanes[S], [=] {
        /* `at`: any address, as if the word were mapped here: behind data of the proxy it goes there all the same */
        struct wsh_dev_signal signal = {sent, 1, SHMEM_SIGNAL_ADD, (uint64_t)sent};

        if (waits)
            put<S, true>(outgoing, len, with ? &signal : nullptr);
        else
            put<S, false>(outgoing, len, with ? &signal : nullptr);
        if (!waits && wsh_dev_lane<S>() == 0)
            wsh_dev_ask_order(true);
    });
    memset(outgoing, 0, BYTES);
    if (with)
        shmem_uint64_wait_until(sent, SHMEM_CMP_EQ, before + 1);
    else
        shmem_barrier_all();
    check("zero-copy put", landing, from, wsh_dev_strides{1, 1, len}, 1);
    shmem_barrier_all();
}

/* Of a nonblocking one nothing is read before a quiet. */
template <int S> static void fetched(size_t len, bool waits)
{
    begin_round();
    cpu_block_run(lanes[S], [=] {
        if (waits)
            wsh_dev_get_any<S, true>("get", target, offered, len, to);
        else
            wsh_dev_get_any<S, false>("get", target, offered, len, to);
        if (!waits && wsh_dev_lane<S>() == 0)
            wsh_dev_ask_order(true);
    });
    check("zero-copy get", target, to, wsh_dev_strides{1, 1, len}, 1);
    shmem_barrier_all();
}

/* The whole call: data zero-copy, signal set or added, of values that use each bit. */
template <int S> static void signalled(size_t len, unsigned round)
{
    int op = round % 2 ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET;
    uint64_t value = round / 2 % 2 ? (uint64_t)1 << 63 | seed : seed + 1,
             seen = op == SHMEM_SIGNAL_SET ? value : *sent + value;

    begin_round();
    fill(outgoing, mp_me);
    cpu_block_run(lanes[S], [=] {
        wsh_dev_put_signal<S, false>("put_signal_nbi", landing, outgoing, len, sent, value, op, to);
        if (wsh_dev_lane<S>() == 0)
            wsh_dev_ask_order(true);
    });
    memset(outgoing, 0, BYTES);
    shmem_uint64_wait_until(sent, SHMEM_CMP_EQ, seen);
    check("zero-copy put with signal", landing, from, wsh_dev_strides{1, 1, len}, 1);
    shmem_barrier_all();
}

template <int S> static void counted(size_t len, shmemx_counter_t counter)
{
    uint64_t before = shmemx_counter_fetch(counter);

    begin_round();
    fill(outgoing, mp_me);
    cpu_block_run(lanes[S], [=] {
        wsh_dev_put_counted_nbi<S>("put_counted", landing, outgoing, len, counter, to);
        if (wsh_dev_lane<S>() == 0)
            wsh_dev_ask_order(true);
    });
    memset(outgoing, 0, BYTES);
    shmemx_counter_wait_until(counter, before + 1);
    check("counted zero-copy put", landing, from, wsh_dev_strides{1, 1, len}, 1);
    shmem_barrier_all();
    mp_check(shmemx_counter_fetch(counter) == before + 1, "a counted put of %zu bytes counts %llu", len,
             (unsigned long long)(shmemx_counter_fetch(counter) - before));
}

/* Which puts with signal are one record; the others go by the call that serves all. */
static void one_record()
{
    auto takes = [](size_t len, uint64_t *sym, int op, int pe) {
        return wsh_dev_put_plain_signal<WSH_THREAD>(landing, outgoing, len, sym, 0, op, pe);
    };

    threadIdx = cpu_dim{0, 0, 0};
    mp_check(takes(512, sent, SHMEM_SIGNAL_ADD, to) && takes(BYTES, sent, SHMEM_SIGNAL_ADD, to),
             "zero-copy puts with a signal are not one record");
    mp_check(!takes(511, sent, SHMEM_SIGNAL_ADD, to), "one of 511 bytes is zero-copy");
    mp_check(!takes(512, (uint64_t *)((char *)sent + 4), SHMEM_SIGNAL_ADD, to), "a signal at no multiple of 8 is taken");
    mp_check(!takes(512, (uint64_t *)source, SHMEM_SIGNAL_SET, to), "a signal in memory that is not symmetric is taken");
    mp_check(!takes(512, sent, SHMEM_SIGNAL_SET + SHMEM_SIGNAL_ADD + 7, to), "an operation that there is not is taken");
    mp_check(!takes(512, sent, SHMEM_SIGNAL_ADD, mp_npes), "a PE that there is not is taken");
    wsh_dev_ask_order(true);
    shmem_barrier_all();
}

template <int S> static void signals()
{
    static const size_t lens[] = {1, 512, 7168, WSH_RING_PART + 1, BYTES};
    shmemx_counter_t counter;

    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &counter), "no counter");
    for (size_t len : lens) {
        for (unsigned round = 0; round < 4; round++)
            signalled<S>(len, round);
        counted<S>(len, counter);
    }
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &counter), "not destroyed");
}

template <int S> static void zero_copies()
{
    static const size_t lens[] = {1, 511, 512, 8191, 8193, 32768, WSH_RING_PART + 1, BYTES};

    for (size_t len : lens)
        for (unsigned round = 0; round < 4; round++) {
            zero_copy<S>(len, round);
            fetched<S>(len, round % 2);
        }
}

template <int S> static void scope()
{
    static const size_t lens[] = {1, 8, 255, 256, 257, 4000, WSH_RING_PART, WSH_RING_PART + 1, BYTES};

    for (size_t len : lens)
        for (unsigned round = 0; round < 4; round++)
            contiguous<S>(len, round);
    width<S, 1>();
    width<S, 2>();
    width<S, 4>();
    width<S, 8>();
    width<S, 16>();
    zero_copies<S>();
    signals<S>();
}

/* In a table as the host makes it: each byte of each buffer, what reaches beyond one, and what is not symmetric. */
static void buffers_are_found()
{
    enum { ROWS = 5, GAP = 100, LEN = 40 };
    static char *memory = (char *)malloc(ROWS * GAP);
    static struct {
        struct wsh_device_ranges head;
        struct wsh_device_range row[ROWS];
    } table;
    static uint64_t current = (uint64_t)&table;

    wsh_device_view.ranges = (uint64_t)&current;
    for (unsigned n = 0; n <= ROWS; n++) {
        table.head.n = n;
        for (unsigned i = 0; i < n; i++)
            table.row[i] = {{(uint64_t)memory + i * GAP, LEN, 0, 0}, i % 2, i == 2};
        for (unsigned at = 0; at < ROWS * GAP; at++) {
            const struct wsh_device_range *found = wsh_dev_buffer((uint64_t)memory + at, 8);
            bool holds = at / GAP < n && at % GAP <= LEN - 8, on_gpu, symmetric = holds && at / GAP % 2;

            mp_check(found == (holds ? &table.row[at / GAP] : nullptr), "byte %u of %u buffers", at, n);
            mp_check(!wsh_dev_segment((uint64_t)memory + at, 8, &on_gpu) == !symmetric, "symmetric: %u of %u", at, n);
            mp_check(wsh_dev_zero_copy_covers(memory + at, 8) == (holds && at / GAP == 2), "zero-copy: %u of %u", at, n);
        }
    }
    wsh_device_view.ranges = 0;
}

/* What a PE does to itself goes to any address of its own, though nothing knows of that memory. */
static void own_memory()
{
    enum { LEN = 3000 };
    unsigned char *plain = (unsigned char *)malloc(3 * LEN);

    for (size_t len : {1, 8, 100, +LEN}) {
        struct wsh_dev_strides s = {2, 1, len / 16};

        mp_fill(plain, LEN, 7);
        memset(plain + LEN, UNTOUCHED, 2 * LEN);
        cpu_block_run(1, [=] { wsh_dev_put<WSH_THREAD>("put", plain + LEN, plain, len, mp_me); });
        cpu_block_run(lanes[WSH_WARP], [=] { wsh_dev_get<WSH_WARP>("get", plain + 2 * LEN, plain + LEN, len, mp_me); });
        mp_check(!memcmp(plain + LEN, plain, len) && !memcmp(plain + 2 * LEN, plain, len), "%zu bytes", len);
        mp_check(len == LEN || (plain[LEN + len] == UNTOUCHED && plain[2 * LEN + len] == UNTOUCHED), "after %zu", len);
        cpu_block_run(1, [=] { wsh_dev_iput<WSH_THREAD, 8>("iput", plain + LEN, plain, s, mp_me); });
        for (size_t i = 0; i < s.nelems; i++)
            mp_check(!memcmp(plain + LEN + 16 * i, plain + 8 * i, 8), "element %zu", i);
    }
    free(plain);
}

int main(void)
{
    char local;

    mp_begin();
    landing = (unsigned char *)mp_alloc(BYTES);
    offered = (unsigned char *)mp_alloc(BYTES);
    outgoing = (unsigned char *)mp_alloc(BYTES);
    sent = (uint64_t *)mp_alloc(8);
    if (mp_check(shmemx_malloc_device(64) && wsh_device_view.rings, "no rings to a proxy")) {
        to = from = (mp_me + mp_npes / 2) % mp_npes;
        mp_check(!shmem_ptr(offered, to), "PE %d is not on another host", to);
        take_state();
        mp_check(!is_zero_copy(511, false, false) && is_zero_copy(512, false, false) &&
                     !is_zero_copy(512, false, true) && is_zero_copy(BYTES, true, true) &&
                     is_zero_copy(1, false, false, true) && !is_zero_copy(512, false, true, true),
                 "lengths from which transfers are zero-copy: %u, gets %u, blocking %u", wsh_device_view.zero_copy_from,
                 wsh_device_view.zero_copy_get_from, wsh_device_view.zero_copy_waits_from);
        mp_check(!wsh_dev_zero_copy_covers(&local, 1), "memory that is not symmetric is zero-copy");
        buffers_are_found();
        own_memory();
        one_record();
        scope<WSH_THREAD>();
        scope<WSH_WARP>();
        scope<WSH_BLOCK>();
    }
    return mp_end();
}
