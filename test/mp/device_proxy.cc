/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kernels ask of the proxy arrives at PEs of other hosts: CPU threads stand for lanes and push into the job's
 * rings by the code of device/proxy/ring_push.cuh; the proxy, its context and the transports are the real ones. Puts of
 * every size, with and without signal, zero-copy too, words, gets and atomics; a fence orders across rings, a quiet
 * completes, and so does the barrier of the host. Odd PEs have two proxy threads. All of it in host memory, and in
 * device memory.
 *
 * paths: fakegpumixed:4 fakegpumixedefa:2 fakehmem:2 fakehmemefa:2 fakehmemrails:2
 * long paths: fakegpumixed:2 fakegpumixedefa:4 fakehmem:4
 * timeout: 120
 */
#define WSH_DEVICE_PTX "test/device/cpu_ring.cuh"
#include "device/proxy/ring_push.cuh"
#include "device/view/view.h"

#include <shmemx.h>

#define _Noreturn [[noreturn]]
extern "C" {
#include "test/common/mp.h"
}
#undef _Noreturn

#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <thread>
#include <vector>

enum { LANES = 3, BYTES = 200000, WORDS = 64 };

thread_local struct cpu_dim threadIdx;
struct cpu_dim blockDim;

static struct wsh_device state;
static struct wsh_ring_heads heads;

/* In the host or the device heap: what lane l of another PE puts here, gets from here, adds to. */
static bool on_gpu;
static unsigned char *landing[LANES], *source[LANES], *offered, *seen;
static uint64_t *words, *counter, *signals;

static void *allocate(size_t len)
{
    return on_gpu ? shmemx_calloc_device(1, len) : mp_alloc(len);
}

static void await(uint64_t *word, uint64_t value)
{
    if (!on_gpu)
        shmem_uint64_wait_until(word, SHMEM_CMP_GE, value);
    else
        while (shmem_uint64_atomic_fetch(word, mp_me) < value)
            sched_yield();
}

/* What this PE holds, where the CPU may look at it. */
static const unsigned char *look(const void *at, uint32_t len)
{
    if (!on_gpu)
        return (const unsigned char *)at;
    shmem_getmem(seen, at, len, mp_me);
    return seen;
}

static uint64_t value_of(const uint64_t *word)
{
    return shmem_uint64_atomic_fetch(word, mp_me);
}

void wsh_dev_ring_idle(struct wsh_dev_wait *)
{
    sched_yield();
}

static int fill(const struct wsh_device *device)
{
    state = *device;
    return 0;
}

static const struct wsh_device_module module = {WSH_DEVICE_ABI, sizeof(struct wsh_device), fill, "device_proxy.cc"};

static struct wsh_dev_rings rings_of(unsigned lane, int pe)
{
    return wsh_dev_rings_to((struct wsh_ring *)state.rings, &heads, state.consumers, state.rings_each, lane,
                            (uint32_t)pe);
}

static unsigned char pattern(int from, unsigned lane, size_t i, unsigned round)
{
    return (unsigned char)((unsigned)from * 57 + lane * 19 + i * 3 + (i >> 8) + round * 101);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* As the device's put in parts; a signal, if any, with the last one. */
static void put(unsigned lane, unsigned char *dest, uint32_t len, unsigned round, uint64_t *sig, int pe)
{
    struct wsh_dev_rings rings = rings_of(lane, pe);

    for (uint32_t off = 0, part; off < len; off += part) {
        part = least(len - off, WSH_RING_PART);
        bool last = sig && off + part == len;
        uint32_t n = wsh_dev_ring_chunks(part);
        uint64_t at = wsh_dev_ring_reserve(rings, last && n < 2 ? 2 : n);
        uint64_t kind = last ? wsh_dev_ring_kind(WSH_RING_SIGNAL, WSH_AMO_ADD) | (off ? WSH_RING_FENCED : 0)
                             : wsh_dev_ring_kind(WSH_RING_PUT);

        for (uint32_t i = 0; i < part; i++)
            wsh_dev_ring_payload(rings, at)[i] = pattern(mp_me, lane, off + i, round);
        wsh_dev_ring_post(rings, at, wsh_dev_request{kind, (uint64_t)dest + off, 1, (uint64_t)sig, 0, part, pe}, last);
    }
}

static void word(unsigned lane, uint64_t *sym, uint64_t value, int pe)
{
    struct wsh_dev_rings rings = rings_of(lane, pe);
    wsh_dev_ring_send(rings, wsh_dev_request{wsh_dev_ring_kind(WSH_RING_PUT_WORD), (uint64_t)sym, value, 0, 0, 8, pe},
                      1);
}

static uint64_t atomic(unsigned lane, enum wsh_amo_op op, uint64_t *sym, uint64_t value, uint64_t cond, bool fetch,
                       int pe)
{
    struct wsh_dev_rings rings = rings_of(lane, pe);
    unsigned words;
    struct wsh_dev_request request = wsh_dev_request_of_amo(op, fetch, (uint64_t)sym, value, cond, 8, pe, &words);
    uint64_t at = wsh_dev_ring_send(rings, request, words), old = 0;

    if (fetch) {
        old = wsh_dev_ring_await(rings, at);
        wsh_dev_ring_take(rings, at);
    }
    return old;
}

/* Bytes of another PE's offer that are wrong. */
static unsigned get(unsigned lane, uint32_t len, int pe)
{
    struct wsh_dev_rings rings = rings_of(lane, pe);
    uint64_t at = wsh_dev_ring_reserve(rings, wsh_dev_ring_chunks(len));
    uint64_t kind = wsh_dev_ring_kind(WSH_RING_GET) | WSH_RING_ANSWER;
    unsigned wrong = 0;

    wsh_dev_ring_post(rings, at, wsh_dev_request{kind, (uint64_t)offered, 0, 0, 0, len, pe}, 0);
    wsh_dev_ring_await(rings, at);
    for (uint32_t i = 0; i < len; i++)
        wrong += wsh_dev_ring_payload(rings, at)[i] != pattern(pe, 7, i, 0);
    wsh_dev_ring_take(rings, at);
    return wrong;
}

static void check_landing(unsigned lane, uint32_t len, unsigned round, int from)
{
    const unsigned char *data = look(landing[lane], len);
    unsigned wrong = 0;

    for (uint32_t i = 0; i < len; i++)
        wrong += data[i] != pattern(from, lane, i, round);
    mp_check(!wrong, "lane %u, %u bytes, round %u: %u are wrong", lane, len, round, wrong);
}

/* Every lane puts; then a quiet of kernels (even rounds) or the host's barrier alone. */
static void puts_arrive(int to, int from)
{
    static const uint32_t lens[] = {1,    8, 255, 256, 257, 1000, WSH_RING_PART - 1, WSH_RING_PART, WSH_RING_PART + 1,
                                    BYTES};
    unsigned round = 0;

    for (uint32_t len : lens) {
        std::vector<std::thread> lanes;

        for (unsigned l = 0; l < LANES; l++)
            lanes.emplace_back([=] { put(l, landing[l], len, round, NULL, to); });
        for (std::thread &lane : lanes)
            lane.join();
        if (round % 2 == 0)
            wsh_dev_rings_quiet(rings_of(LANES, 0));
        shmem_barrier_all();
        for (unsigned l = 0; l < LANES; l++)
            check_landing(l, len, round, from);
        shmem_barrier_all();
        round++;
    }
}

/* Fills this PE's source with a pattern, or with what nobody may see. */
static void source_fill(unsigned lane, uint32_t len, unsigned round, bool poison)
{
    for (uint32_t i = 0; i < len; i++)
        seen[i] = poison ? 0xee : pattern(mp_me, lane, i, round);
    shmem_putmem(source[lane], seen, len, mp_me);
}

static void put_zero_copy(unsigned lane, uint32_t len, uint64_t *sig, bool waits, int pe)
{
    struct wsh_dev_rings rings = rings_of(lane, pe);
    struct wsh_dev_request request =
        wsh_dev_request_zero_copy(false, (uint64_t)landing[lane], source[lane], len, pe, waits);
    uint64_t at;

    if (sig)
        wsh_dev_request_add_signal(&request, WSH_AMO_ADD, (uint64_t)sig, 1, false);
    at = wsh_dev_ring_send(rings, request, sig ? 2 : 1);
    if (waits) {
        wsh_dev_ring_await(rings, at);
        wsh_dev_ring_take(rings, at);
    }
}

/* The source is overwritten after a quiet, or when a blocking put has its answer. A signal is seen behind the data. */
static void zero_copy_arrives(int to, int from)
{
    static const uint32_t lens[] = {512, 9000, WSH_RING_PART + 1, BYTES};
    uint64_t sent = 0;

    for (unsigned round = 0; round < 16; round++) {
        uint32_t len = lens[round / 4];
        bool waits = round % 2, signal = round / 2 % 2;

        for (unsigned l = 0; l < LANES; l++)
            source_fill(l, len, round, false);
        for (unsigned l = 0; l < LANES; l++)
            put_zero_copy(l, len, signal ? &signals[1] : NULL, waits, to);
        if (!waits)
            wsh_dev_rings_quiet(rings_of(LANES, 0));
        for (unsigned l = 0; l < LANES; l++)
            source_fill(l, len, round, true);
        if (signal)
            await(&signals[1], sent += LANES);
        else
            shmem_barrier_all();
        for (unsigned l = 0; l < LANES; l++)
            check_landing(l, len, round, from);
        shmem_barrier_all();
    }
}

/* The target, a host's wait, must find all of the data once the signal has counted up. */
static void signals_come_last(int to, int from)
{
    static const uint32_t lens[] = {1, 100, 3000, WSH_RING_PART + 5, BYTES};
    uint64_t sent = 0;

    for (unsigned round = 0; round < (unsigned)mp_rounds(30, 300); round++) {
        uint32_t len = lens[round % 5];

        put(round % LANES, landing[0], len, round, &signals[0], to);
        await(&signals[0], ++sent);
        const unsigned char *data = look(landing[0], len);
        unsigned wrong = 0;
        for (uint32_t i = 0; i < len; i++)
            wrong += data[i] != pattern(from, round % LANES, i, round);
        if (!mp_check(!wrong, "signal of round %u, %u bytes: %u are wrong", round, len, wrong))
            break;
        shmem_barrier_all();
    }
}

/* The word in the host heap by which kernels name a counter. */
static uint64_t *word_of(shmemx_counter_t tally)
{
    return (uint64_t *)(state.seg[WSH_DEVICE_SEG_HEAP].base +
                        (uint64_t)state.counters_host * WSH_DEVICE_COUNTERS_ALIGN) +
           (uint32_t)tally - 1;
}

/* Half of the puts are zero-copy, where they may be. */
static void counts_come_last(int to, int from, bool zero_copy)
{
    static const uint32_t lens[] = {600, 3000, 7408, WSH_RING_PART, BYTES};
    shmemx_counter_t tally;
    uint64_t sent = 0;

    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &tally), "no counter");
    uint64_t *host_word = word_of(tally);
    for (unsigned round = 0; round < 40; round++) {
        uint32_t len = lens[round / 2 % 5];

        if (round % 2 && zero_copy)
            source_fill(0, len, round, false);
        if (round % 2 && zero_copy)
            put_zero_copy(0, len, host_word, false, to);
        else
            put(0, landing[0], len, round, host_word, to);
        if (round % 4 == 3)
            shmem_barrier_all(); /* completes the count too */
        else
            shmemx_counter_wait_until(tally, sent + 1);
        mp_check(shmemx_counter_fetch(tally) == ++sent, "round %u: %llu puts are counted", round,
                 (unsigned long long)shmemx_counter_fetch(tally));
        check_landing(0, len, round, from);
        shmem_barrier_all();
    }
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &tally), "not destroyed");
}

/*
 * Many records at once, as a list makes them: short and long ones, of no bytes, counted and not. The first one is
 * posted last, so that the proxy finds all of them in one pass.
 */
static void bursts_arrive(int to, int from, bool zero_copy)
{
    static const uint32_t lens[] = {24, 600, 7408, 0, 1100};
    shmemx_counter_t tally;
    uint64_t counted = 0;

    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &tally), "no counter");
    uint64_t *host_word = word_of(tally);
    for (unsigned round = 0; round < (unsigned)mp_rounds(20, 300); round++) {
        if (zero_copy)
            source_fill(0, 7408, round, false);
        struct wsh_dev_rings rings = rings_of(0, to);
        uint64_t first = wsh_dev_ring_reserve(rings, 2);

        for (unsigned i = 0; i < 150; i++) {
            uint32_t len = lens[i % 5];
            uint64_t *sig = i % 3 ? host_word : NULL;

            if (!len)
                atomic(0, WSH_AMO_ADD, host_word, 1, 0, false, to);
            else if (zero_copy && len > 512)
                put_zero_copy(0, len, sig, false, to);
            else
                put(0, landing[0], len, round, sig, to);
            counted += !len || sig;
        }
        wsh_dev_ring_post(rings, first,
                          wsh_dev_request{wsh_dev_ring_kind(WSH_RING_PUT_WORD), (uint64_t)&words[40], 7, 0, 0, 8, to},
                          1);
        if (round % 2)
            shmem_barrier_all();
        else
            shmemx_counter_wait_until(tally, counted);
        mp_check(shmemx_counter_fetch(tally) == counted, "round %u: %llu of %llu puts are counted", round,
                 (unsigned long long)shmemx_counter_fetch(tally), (unsigned long long)counted);
        shmem_barrier_all();
        check_landing(0, 7408, round, from);
        shmem_barrier_all();
    }
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &tally), "not destroyed");
}

/* Waits for another PE so far: of what stands for kernels, and with `threads` of the proxy's. */
static uint64_t waits(bool threads)
{
    shmemx_stats_t stats;

    mp_check(!shmemx_stats(&stats, sizeof stats), "no statistics");
    return stats.kernel_waits + (threads ? stats.proxy_waits : 0);
}

/* Data by one ring, the flag by another after a fence, for which nobody waits. */
static void fences_order_across_rings(int to, int from)
{
    uint64_t before = waits(true);

    for (unsigned round = 1; round <= (unsigned)mp_rounds(100, 1000); round++) {
        put(0, landing[1], 5000, round, NULL, to);
        wsh_dev_rings_fence(rings_of(1, to));
        word(1, &words[0], round, to);
        await(&words[0], round);
        const unsigned char *data = look(landing[1], 5000);
        unsigned wrong = 0;
        for (uint32_t i = 0; i < 5000; i++)
            wrong += data[i] != pattern(from, 0, i, round);
        if (!mp_check(!wrong, "flag of round %u: %u bytes are wrong", round, wrong))
            break;
        shmem_barrier_all();
    }
    mp_check(waits(true) == before, "fences waited %llu times", (unsigned long long)(waits(true) - before));
}

static void atomics_and_gets(int to)
{
    const unsigned n = (unsigned)mp_rounds(200, 2000), answered = (n + 7) / 8 + (n + 15) / 16 + 1;
    std::vector<std::thread> lanes;
    unsigned wrong[LANES] = {};
    uint64_t before = waits(false);

    for (unsigned l = 0; l < LANES; l++)
        lanes.emplace_back([=, &wrong] {
            for (unsigned i = 0; i < n; i++) {
                atomic(l, WSH_AMO_ADD, counter, 1, 0, i % 8 == 0, 0);
                atomic(l, WSH_AMO_XOR, &words[8 + l], (uint64_t)1 << 63 | i, 0, false, to);
                if (i % 16 == 0)
                    wrong[l] += get(l, i * 50 % WSH_RING_PART + 1, to);
            }
            wrong[l] += atomic(l, WSH_AMO_CSWAP, &words[16 + l], l + 5, l, true, to) != 0 && l == 0;
        });
    for (std::thread &lane : lanes)
        lane.join();
    mp_check(waits(false) - before == LANES * answered, "%llu waits for answers",
             (unsigned long long)(waits(false) - before));
    shmem_barrier_all();
    for (unsigned l = 0; l < LANES; l++)
        mp_check(!wrong[l], "lane %u: %u fetched values are wrong", l, wrong[l]);
    mp_check(value_of(&words[16]) == 5, "compare and swap left %llu", (unsigned long long)value_of(&words[16]));
    if (mp_me == 0)
        mp_check(value_of(counter) == (uint64_t)n * LANES * (unsigned)mp_npes, "%llu additions were counted",
                 (unsigned long long)value_of(counter));
    shmem_barrier_all();
}

/* NICs read device memory on this path. */
static bool by_nics()
{
    const char *path = getenv("WSH_TEST_PATH");

    return path && !strncmp(path, "fakehmem", 8);
}

static bool is_zero_copy(bool gpu)
{
    return state.zero_copy_segs >> (gpu ? WSH_DEVICE_SEG_DEVICE : WSH_DEVICE_SEG_HEAP) & 1;
}

static void run(bool gpu, int to)
{
    on_gpu = gpu;
    for (unsigned l = 0; l < LANES; l++) {
        landing[l] = (unsigned char *)allocate(BYTES);
        source[l] = (unsigned char *)allocate(BYTES);
    }
    offered = (unsigned char *)allocate(WSH_RING_PART);
    words = (uint64_t *)allocate(WORDS * 8);
    counter = (uint64_t *)allocate(8);
    signals = (uint64_t *)allocate(16);
    for (uint32_t i = 0; i < WSH_RING_PART; i++)
        seen[i] = pattern(mp_me, 7, i, 0);
    shmem_putmem(offered, seen, WSH_RING_PART, mp_me);
    mp_check(!shmem_ptr(offered, to), "PE %d is not on another host", to);
    shmem_barrier_all();
    puts_arrive(to, to);
    signals_come_last(to, to);
    counts_come_last(to, to, is_zero_copy(on_gpu));
    bursts_arrive(to, to, is_zero_copy(on_gpu));
    if (mp_check(is_zero_copy(gpu) == (!gpu || by_nics()), "zero-copy segments: %x", state.zero_copy_segs) &&
        is_zero_copy(gpu))
        zero_copy_arrives(to, to);
    fences_order_across_rings(to, to);
    atomics_and_gets(to);
}

int main(void)
{
    const char *rank = getenv("PMIX_RANK");

    setenv("SHMEM_PROXY_THREADS", rank && atoi(rank) % 2 ? "2" : "1", 0);
    mp_begin();
    wsh_device_register(&module);
    seen = (unsigned char *)malloc(BYTES > WSH_RING_PART ? BYTES : WSH_RING_PART);
    if (mp_check(shmemx_malloc_device(64) && state.rings && state.consumers, "no rings to a proxy")) {
        run(false, (mp_me + mp_npes / 2) % mp_npes);
        run(true, (mp_me + mp_npes / 2) % mp_npes);
    }
    free(seen);
    return mp_end();
}
