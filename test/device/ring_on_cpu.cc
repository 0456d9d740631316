/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings to the proxy with CPU threads for lanes, the real producers, the real consumer and nobody behind it: no
 * byte is lost or torn over many laps, records of one writer stay in order, atomics add up, fetched values are
 * unique, and a quiet by a thread that pushed nothing covers all rings; one that looks at its own ring alone is found
 * wrong. A PE that takes nothing stops its own ring alone. With one consumer and with two. Needs no GPU.
 * ring_on_cpu_narrow is the same with rings of 32 slots.
 */
#define WSH_DEVICE_PTX "test/device/cpu_ring.cuh"
#include "device/proxy/ring_push.cuh"
#include "test/device/null_proxy.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <thread>
#include <vector>

enum { RINGS = 4, WRITERS = 8, RECORDS = 2000, ROUNDS = 100 };

thread_local struct cpu_dim threadIdx;
struct cpu_dim blockDim;

static struct null_proxy *proxy;
static struct wsh_ring_heads heads;
static std::atomic<uint64_t> pushed[WRITERS];
static unsigned consumers;

void wsh_dev_ring_idle(struct wsh_dev_wait *)
{
    sched_yield();
}

/* Of a writer to a PE; its puts go to the PE of its own number. */
static struct wsh_dev_rings rings_to(unsigned writer, unsigned pe)
{
    return wsh_dev_rings_to(null_proxy_rings(proxy), &heads, consumers, RINGS / consumers, writer / consumers, pe);
}

static struct wsh_dev_rings rings_of(unsigned writer)
{
    return rings_to(writer, writer);
}

static void begin(int slow)
{
    memset(&heads, 0, sizeof heads);
    for (std::atomic<uint64_t> &n : pushed)
        n = 0;
    proxy = null_proxy_open(RINGS, consumers, slow);
}

/* Pieces of a record with `words` further ones, or chunks of its payload. */
static uint32_t positions(unsigned words, uint32_t len)
{
    uint32_t chunks = wsh_dev_ring_chunks(len);

    return chunks > words + 1 ? chunks : words + 1;
}

static void put_by(struct wsh_dev_rings rings, unsigned writer, uint32_t len, bool signal)
{
    uint64_t at = wsh_dev_ring_reserve(rings, positions(signal, len));
    uint64_t number = pushed[writer].load(std::memory_order_relaxed) + 1;
    unsigned char *payload = wsh_dev_ring_payload(rings, at);
    struct wsh_dev_request request = {wsh_dev_ring_kind(signal ? WSH_RING_SIGNAL : WSH_RING_PUT, WSH_AMO_ADD),
                                      (uint64_t)writer << 32 | number, ~number, number, 0, len, (int)writer};

    for (uint32_t i = 0; i < len; i++)
        payload[i] = null_proxy_byte(request.sym, i);
    wsh_dev_ring_post(rings, at, request, signal);
    pushed[writer].store(number, std::memory_order_release);
}

static void put(unsigned writer, uint32_t len, bool signal)
{
    put_by(rings_of(writer), writer, len, signal);
}

/* Sources of a writer's zero-copy puts, of random lengths up to 3 MB, one behind the other until a quiet or flush. */
struct pool {
    std::vector<unsigned char> bytes = std::vector<unsigned char>(8 << 20);
    size_t used = 0;
    bool flushes = false; /* quiets and flushes in turn */
};

/* Zero-copy. Blocking: the source is overwritten on return; else no byte of it before the next quiet or flush. */
static void zero_copy(unsigned writer, struct pool *pool, uint32_t len, bool signal, bool waits)
{
    struct wsh_dev_rings rings = rings_of(writer);
    uint64_t number = pushed[writer].load(std::memory_order_relaxed) + 1, sym = (uint64_t)writer << 32 | number, at;
    struct wsh_dev_request request;
    unsigned char *source;

    if (pool->used + len > pool->bytes.size()) {
        if (pool->flushes)
            wsh_dev_rings_flush(rings);
        else
            wsh_dev_rings_quiet(rings);
        memset(pool->bytes.data(), 0, pool->bytes.size());
        pool->used = 0;
        pool->flushes = !pool->flushes;
    }
    source = pool->bytes.data() + pool->used;
    pool->used += len;
    for (uint32_t i = 0; i < len; i++)
        source[i] = null_proxy_byte(sym, i);
    request = wsh_dev_request_zero_copy(false, sym, source, len, (int)writer, waits);
    if (signal)
        wsh_dev_request_add_signal(&request, WSH_AMO_ADD, sym, ~sym, false);
    at = wsh_dev_ring_send(rings, request, 1 + signal);
    if (waits) {
        wsh_dev_ring_await(rings, at);
        wsh_dev_ring_take(rings, at);
        memset(source, 0, len);
    }
    pushed[writer].store(number, std::memory_order_release);
}

/* At a stride: whole elements of 1 to 16 bytes, at least one. */
static void iput(unsigned writer, uint32_t len)
{
    struct wsh_dev_rings rings = rings_of(writer);
    uint64_t number = pushed[writer].load(std::memory_order_relaxed) + 1, sym = (uint64_t)writer << 32 | number;
    unsigned width = (unsigned)(number % 5);
    uint64_t at;
    struct wsh_dev_request request = {wsh_dev_ring_kind(WSH_RING_IPUT, width), sym, null_proxy_stride(sym), 0, 0,
                                      len < 16 ? 1u << width : len >> width << width, (int)writer};

    at = wsh_dev_ring_reserve(rings, positions(1, request.len));
    for (uint32_t i = 0; i < request.len; i++)
        wsh_dev_ring_payload(rings, at)[i] = null_proxy_byte(sym, i);
    wsh_dev_ring_post(rings, at, request, 1);
    pushed[writer].store(number, std::memory_order_release);
}

/* Counts wrong bytes; of elements of 2 bytes at a stride where `strided`. */
static unsigned get(unsigned writer, uint32_t len, int pe, bool strided = false)
{
    struct wsh_dev_rings rings = rings_to(writer, (unsigned)pe);
    uint64_t at = wsh_dev_ring_reserve(rings, positions(strided, len)), sym = (uint64_t)99 << 32 | len;
    uint64_t kind = strided ? wsh_dev_ring_kind(WSH_RING_IGET, 1) : wsh_dev_ring_kind(WSH_RING_GET);
    unsigned wrong = 0;

    wsh_dev_ring_post(rings, at, wsh_dev_request{kind | WSH_RING_ANSWER, sym, 6, 0, 0, len, pe}, strided);
    wsh_dev_ring_await(rings, at);
    for (uint32_t i = 0; i < len; i++)
        wrong += wsh_dev_ring_payload(rings, at)[i] != null_proxy_byte(sym, i);
    wsh_dev_ring_take(rings, at);
    return wrong;
}

static uint64_t atomic(unsigned writer, unsigned word, enum wsh_amo_op op, uint64_t value, uint64_t compare,
                       bool fetch)
{
    struct wsh_dev_rings rings = rings_to(writer, 0);
    unsigned words;
    struct wsh_dev_request request = wsh_dev_request_of_amo(op, fetch, word, value, compare, 8, 0, &words);
    uint64_t at = wsh_dev_ring_send(rings, request, words), old = 0;

    if (fetch) {
        old = wsh_dev_ring_await(rings, at);
        wsh_dev_ring_take(rings, at);
    }
    return old;
}

/* Up to 8 bytes, in the answer: whether they are wrong. */
static unsigned get_word(unsigned writer, uint32_t len)
{
    struct wsh_dev_rings rings = rings_to(writer, 0);
    uint64_t at = wsh_dev_ring_reserve(rings, 1), sym = (uint64_t)98 << 32 | len, word, right = 0;

    wsh_dev_ring_post(rings, at, wsh_dev_request{wsh_dev_ring_kind(WSH_RING_GET_WORD) | WSH_RING_ANSWER, sym, 0, 0, 0,
                                                 len, 0},
                      0);
    word = wsh_dev_ring_await(rings, at);
    wsh_dev_ring_take(rings, at);
    for (uint32_t i = 0; i < len; i++)
        ((unsigned char *)&right)[i] = null_proxy_byte(sym, i);
    return memcmp(&word, &right, len) != 0;
}

/* A value whose highest bit counts. */
static uint64_t turn(uint64_t writer)
{
    return writer << 63 | writer;
}

/* All kinds, in an order of its own; the sum of what it fetched from word 1. */
static void write_all(unsigned writer, unsigned *wrong, uint64_t *sum)
{
    unsigned seed = writer;
    struct pool pool;

    for (unsigned i = 0; i < RECORDS; i++) {
        uint32_t len = (uint32_t)rand_r(&seed) % (WSH_RING_PART + 1);

        if (rand_r(&seed) % 4)
            len %= 2 * WSH_RING_CHUNK;
        if (i % 5 == 4)
            iput(writer, len);
        else if (i % 5 == 2)
            zero_copy(writer, &pool, 1 + (i % 400 == 2 ? (3u << 20) - 1 : len), i % 3 == 0, i % 4 == 0);
        else
            put(writer, len, i % 3 == 0);
        if (i % 4 == 0)
            atomic(writer, 0, WSH_AMO_ADD, (uint64_t)1 << 62, 0, false);
        if (i % 16 == 0)
            *sum += atomic(writer, 1, WSH_AMO_ADD, 1, 0, true);
        if (i % 16 == 8)
            *wrong += get_word(writer, 1 + len % 8);
        if (i % 32 == 0)
            *wrong += get(writer, len, 0) + get(writer, 2 + len / 2 * 2 % WSH_RING_PART, 0, true);
        if (i % 64 == 0)
            wsh_dev_rings_fence(rings_of(writer));
    }
    wsh_dev_rings_quiet(rings_of(writer)); /* before the sources go */
    while (atomic(writer, 2, WSH_AMO_CSWAP, turn(writer + 1), turn(writer), true) != turn(writer))
        sched_yield();
}

static int nothing_is_lost()
{
    const uint64_t adds = RECORDS / 4 * WRITERS, fetches = RECORDS / 16 * WRITERS;
    unsigned wrong[WRITERS] = {};
    uint64_t sums[WRITERS] = {}, sum = 0, failed = 0;
    std::vector<std::thread> writers;

    begin(-1);
    for (unsigned w = 0; w < WRITERS; w++)
        writers.emplace_back([&, w] { write_all(w, &wrong[w], &sums[w]); });
    for (std::thread &writer : writers)
        writer.join();
    wsh_dev_rings_quiet(rings_of(0));
    for (unsigned w = 0; w < WRITERS; w++) {
        failed += wrong[w] + (null_proxy_completed(proxy, w) != RECORDS);
        sum += sums[w];
    }
    failed += null_proxy_word(proxy, 0) != (uint64_t)(adds << 62);
    failed += sum != fetches * (fetches - 1) / 2;
    failed += null_proxy_word(proxy, 2) != turn(WRITERS);
    printf("# %d writers, %d records each, %llu laps of ring 0\n", WRITERS, RECORDS,
           (unsigned long long)(heads.ring[0].head % WSH_RING_KNOWN / WSH_RING_PIECES));
    return failed + null_proxy_close(proxy) != 0;
}

/* The mistake to be found: completes the ring of the caller, as if nothing had been pushed by others. */
static void quiet_of_own_ring(const struct wsh_dev_rings &rings)
{
    wsh_dev_ring_reach("quiet", &rings.ring[rings.mine].done, wsh_dev_ring_reserved(rings, rings.mine));
}

/* How often a put to another ring that came before the quiet was not complete after it. */
static unsigned early_quiets(bool own_ring_alone)
{
    const unsigned caller = RINGS - 1;
    std::atomic<bool> stop{false};
    std::vector<std::thread> writers;
    unsigned early = 0;

    begin(1);
    for (unsigned w = 0; w < caller; w++)
        writers.emplace_back([&, w] {
            while (!stop)
                put(w, w * 40, false);
        });
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t before[RINGS];

        for (unsigned w = 0; w < caller; w++)
            while (!(before[w] = pushed[w].load(std::memory_order_acquire)))
                sched_yield();
        if (own_ring_alone)
            quiet_of_own_ring(rings_of(caller));
        else
            wsh_dev_rings_quiet(rings_of(caller));
        for (unsigned w = 0; w < caller; w++)
            early += null_proxy_completed(proxy, w) < before[w];
    }
    stop = true;
    for (std::thread &writer : writers)
        writer.join();
    return null_proxy_close(proxy) ? ~0u : early;
}

/* What goes to other PEs by other rings passes one that takes nothing. */
static int others_are_stopped()
{
    unsigned wrong = 0;

    begin(-1);
    null_proxy_block(proxy, 0);
    put(0, 100, false);
    for (unsigned i = 0; i < RECORDS; i++) {
        put(1, 100, false);
        wrong += i % 100 == 0 && get(1, 50, 1);
    }
    wrong += null_proxy_completed(proxy, 0) != 0;
    null_proxy_block(proxy, -1);
    wsh_dev_rings_quiet(rings_of(3));
    wrong += null_proxy_completed(proxy, 0) != 1 || null_proxy_completed(proxy, 1) != RECORDS;
    return wrong + null_proxy_close(proxy) != 0;
}

/*
 * In the ring of a PE that takes nothing, some records step aside, and what comes behind them to another PE goes on, as
 * far as the ring's slots go. A fence waits for them, and a quiet completes them.
 */
static int others_pass_in_the_ring()
{
    const unsigned blocked = 4, others = WSH_RING_PIECES < RECORDS ? WSH_RING_PIECES - 8 : RECORDS;
    const unsigned other = consumers; /* of the same consumer, so that it is the same ring */
    unsigned wrong = 0;

    begin(-1);
    null_proxy_block(proxy, 0);
    for (unsigned i = 0; i < others; i++) {
        if (i < blocked)
            put(0, 8, false);
        put_by(rings_of(0), other, 8, false);
    }
    while (null_proxy_completed(proxy, other) < others)
        sched_yield();
    wrong += null_proxy_completed(proxy, 0) != 0;
    wsh_dev_rings_fence(rings_of(0));
    put_by(rings_of(0), other, 8, false);
    for (unsigned i = 0; i < ROUNDS; i++)
        sched_yield();
    wrong += null_proxy_completed(proxy, other) != others;
    null_proxy_block(proxy, -1);
    wsh_dev_rings_quiet(rings_of(3));
    wrong += null_proxy_completed(proxy, 0) != blocked || null_proxy_completed(proxy, other) != others + 1;
    return wrong + null_proxy_close(proxy) != 0;
}

int main(void)
{
    int failed = 0;

    for (consumers = 1; consumers <= 2; consumers++) {
        int lost = nothing_is_lost(), stopped = others_are_stopped(), held = others_pass_in_the_ring();
        unsigned all = early_quiets(false), own = early_quiets(true);

        printf("# %u consumers: something was lost or torn: %d; stopped by another: %d, in its ring: %d; early quiets: %u; of one ring "
               "alone: %u\n",
               consumers, lost, stopped, held, all, own);
        failed |= lost || stopped || held || all || !own || own == ~0u;
    }
    return failed;
}
