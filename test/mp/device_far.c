/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's routines work on device memory of PEs on other hosts, as on that of this one: puts and gets of every size
 * and alignment, from and to host and device memory, words, strided ones, on contexts; a fence orders puts before
 * flags, flags of signals come after their data, also by different paths; a get after a fence sees what was put;
 * atomics of all PEs on one word are one domain, and lose nothing; threads do not disturb each other; a target that
 * computes is served; and what all PEs send to all at once, more than fits anywhere, arrives. All of it after the
 * library has started and ended before.
 *
 * paths: fakegpumixed:3 fakegpumixedefa:2 gpumixed:2,4 gpumixedefa:2
 * more paths: fakehmem:3 fakehmemefa:2 fakehmemrails:2
 * long paths: fakegpumixed:2,4 fakegpumixedefa:4
 * timeout: 120
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 20, PAD = 64, REGION = LARGEST + 2 * PAD, MANY = 2000, WORDS = 1024, THREADS = 3 };

static char *device, *buffer, *out, *in; /* buffer: device memory that this PE uses locally */
static uint64_t *cells, *host_flag;
static char *host;

static char *region(int pe)
{
    return device + (size_t)pe * REGION;
}

static void fill_from(bool gpu, size_t len, uint64_t seed)
{
    mp_fill(out, len, seed);
    if (!gpu)
        return;
    shmem_putmem(buffer, out, len, mp_me);
    shmem_quiet();
    memset(out, 0, len);
}

static void look_into(bool gpu, size_t len)
{
    if (gpu)
        shmem_getmem(in, buffer + REGION, len, mp_me);
}

/* gpu: source and target here are device memory. */
static void put_and_get(int pe, size_t len, size_t off, bool nbi, bool gpu)
{
    uint64_t seed = (uint64_t)mp_me * 1000 + len + off + nbi + 2 * gpu;
    char *at = region(mp_me) + off, *from = gpu ? buffer : out, *into = gpu ? buffer + REGION : in;

    fill_from(gpu, len, seed);
    memset(in, 0xee, len + PAD);
    if (nbi) {
        shmem_putmem_nbi(at, from, len, pe);
        shmem_quiet();
        shmem_getmem_nbi(into, at, len, pe);
        shmem_quiet();
    } else {
        shmem_putmem(at, from, len, pe);
        if (!gpu)
            memset(out, 0, len);
        shmem_fence();
        shmem_getmem(into, at, len, pe);
    }
    look_into(gpu, len);
    mp_check(!mp_wrong(in, len, seed), "%zu bytes at offset %zu to PE %d came back wrong%s%s", len, off, pe,
             nbi ? " (nbi)" : "", gpu ? " (device memory)" : "");
    mp_check((unsigned char)in[len] == 0xee, "a get of %zu bytes wrote beside its place", len);
}

static void all_sizes(int pe)
{
    static const size_t sizes[] = {1,    2,    3,     4,     7,     8,      12,     63,
                                   1000, 4096, 32704, 32705, 65537, 300001, LARGEST};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t off = 0; off < 9; off += 1 + 3 * (sizes[i] > 100))
            for (int how = 0; how < 4; how++)
                put_and_get(pe, sizes[i], off, how & 1, how & 2);
}

static void words(int pe)
{
    uint64_t *mine = cells + mp_me * 16;
    char *byte = (char *)mine + 13;

    shmem_uint64_p(mine, 17 + (uint64_t)mp_me, pe);
    shmem_quiet();
    mp_check(shmem_uint64_g(mine, pe) == 17 + (uint64_t)mp_me, "p and g of 8 bytes");
    shmem_int_p((int *)mine, 5, pe);
    shmem_short_p((short *)mine + 2, 77, pe);
    shmem_char_p(byte, 'x', pe);
    shmem_quiet();
    mp_check(shmem_int_g((int *)mine, pe) == 5 && shmem_char_g(byte, pe) == 'x' &&
                 shmem_short_g((short *)mine + 2, pe) == 77,
             "p and g of 4, 2 and 1");
}

static void strided(int pe)
{
    long from[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
    long *mine = (long *)region(mp_me);

    shmem_long_iput(mine, from, 3, 2, 3, pe);
    shmem_quiet();
    shmem_long_iget(back, mine, 2, 3, 3, pe);
    mp_check(back[0] == 1 && back[2] == 3 && back[4] == 5 && !back[1], "iput and iget: %ld %ld %ld", back[0],
             back[2], back[4]);
}

static void atomics(int pe)
{
    long *mine = (long *)cells + mp_me * 16 + 4;

    shmem_long_atomic_set(mine, 6, pe);
    mp_check(shmem_long_atomic_fetch(mine, pe) == 6, "set, fetch");
    mp_check(shmem_long_atomic_fetch_add(mine, 4, pe) == 6, "fetch_add");
    mp_check(shmem_long_atomic_swap(mine, 3, pe) == 10, "swap");
    mp_check(shmem_long_atomic_compare_swap(mine, 1, 9, pe) == 3, "compare_swap in vain");
    mp_check(shmem_long_atomic_compare_swap(mine, 3, 12, pe) == 3, "compare_swap");
    mp_check(shmem_int_atomic_fetch_inc((int *)mine, pe) == 12, "fetch_inc of 4 bytes");
    mp_check(shmem_uint64_atomic_fetch_xor((uint64_t *)mine, 1, pe) == 13, "fetch_xor");
    shmem_uint64_atomic_or((uint64_t *)mine, 3, pe);
    shmem_uint64_atomic_and((uint64_t *)mine, 14, pe);
    shmem_fence();
    mp_check(shmem_long_atomic_fetch(mine, pe) == 14, "or, and");
}

static void on_contexts(int pe)
{
    shmem_ctx_t ctx[2];

    if (!mp_check(!shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx[0]) && !shmem_ctx_create(0, &ctx[1]),
                  "no contexts"))
        return;
    mp_fill(out, LARGEST, 3);
    shmem_ctx_putmem_nbi(ctx[0], region(mp_me), out, LARGEST, pe);
    shmem_ctx_putmem(ctx[1], region(mp_me) + LARGEST, out, 1, pe);
    shmem_ctx_quiet(ctx[0]);
    shmem_ctx_getmem(ctx[1], in, region(mp_me), LARGEST, pe);
    mp_check(!mp_wrong(in, LARGEST, 3), "on contexts");
    shmem_ctx_destroy(ctx[0]);
    shmem_ctx_destroy(ctx[1]);
}

/* Who waits for a flag on the GPU asks for it. */
static void await(uint64_t *flag, uint64_t round)
{
    if (flag == host_flag)
        shmem_signal_wait_until(flag, SHMEM_CMP_GE, round);
    else
        while (shmem_signal_fetch(flag) < round)
            mp_sleep(1e-6);
}

static void see(const char *what, const char *data, size_t len, uint64_t round)
{
    if (data != host)
        shmem_getmem(in, data, len, mp_me);
    mp_check(!mp_wrong(data == host ? data : in, len, round),
             "%s: the flag came before its data (%zu bytes) in round %llu", what, len,
             (unsigned long long)round);
}

static void send(char *to, size_t len, uint64_t *flag, uint64_t round, bool by_signal, int pe)
{
    if (by_signal) {
        shmem_putmem_signal_nbi(to, out, len, flag, 1, SHMEM_SIGNAL_ADD, pe);
    } else {
        shmem_putmem_nbi(to, out, len, pe);
        shmem_fence();
        shmem_uint64_p(flag, round, pe);
    }
    shmem_quiet();
}

/* Each PE sends to the next one, which is on another host but for every second of four. */
static void orders(const char *what, char *to, uint64_t *flag)
{
    uint64_t state = mp_seed(), round = 0, rounds = (uint64_t)mp_rounds(150, 10000);

    for (int by_signal = 0; by_signal < 2; by_signal++) {
        shmem_uint64_atomic_set(flag, 0, mp_me);
        shmem_barrier_all();
        for (round = 1; round <= rounds; round++) {
            size_t len = mp_random_below(&state, 3) ? 1 + mp_random_below(&state, 3000)
                                                    : 1 + mp_random_below(&state, 150000);

            mp_fill(out, len, round);
            send(to, len, flag, round, by_signal, (mp_me + 1) % mp_npes);
            await(flag, round);
            see(what, to, len, round);
            shmem_barrier_all();
        }
    }
}

static void gets_after_fences(int pe)
{
    for (long i = 0; i < mp_rounds(100, 5000); i++) {
        uint64_t value = (uint64_t)i << 8 | (uint64_t)mp_me, seen = 0;
        size_t len = (size_t)i * 997 % 100000 + 1;

        mp_fill(out, len, value);
        shmem_putmem_nbi(region(mp_me), out, len, pe);
        shmem_uint64_atomic_add(&cells[mp_me * 16 + 8], 1, pe);
        shmem_fence();
        shmem_getmem(in, region(mp_me), len, pe);
        seen = shmem_uint64_atomic_fetch(&cells[mp_me * 16 + 8], pe);
        if (!mp_check(!mp_wrong(in, len, value) && seen == (uint64_t)i + 1,
                      "get of %zu bytes after a fence, round %ld", len, i))
            break;
        shmem_quiet();
    }
}

/* Tickets are handed out once each: their sum and the sum of their squares are known. */
static void together(void)
{
    const uint64_t rounds = (uint64_t)mp_rounds(200, 5000), n = rounds * (uint64_t)mp_npes;
    uint64_t *sum = cells + 512, *tickets = cells + 513, *squares = cells + 514, *bits = cells + 515;
    uint64_t last = 0;

    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t ticket = shmem_uint64_atomic_fetch_inc(tickets, 0);

        mp_check(!i || ticket > last, "ticket %llu after %llu", (unsigned long long)ticket,
                 (unsigned long long)last);
        last = ticket;
        shmem_uint64_atomic_add(sum, ticket, 0);
        shmem_uint64_atomic_add(squares, ticket * ticket, 0);
        shmem_uint64_atomic_xor(bits, (uint64_t)1 << (mp_me + 8 * (i / 2 & 7)), 0);
    }
    shmem_barrier_all();
    mp_check(shmem_uint64_g(tickets, 0) == n, "%llu tickets instead of %llu",
             (unsigned long long)shmem_uint64_g(tickets, 0), (unsigned long long)n);
    mp_check(shmem_uint64_g(sum, 0) == n * (n - 1) / 2, "the sum of tickets");
    mp_check(shmem_uint64_g(squares, 0) == (n - 1) * n * (2 * n - 1) / 6, "the sum of squares");
    mp_check(!shmem_uint64_g(bits, 0), "bits are left");
}

/* From all to all, each way, with no wait between: more than there is room for anywhere. */
static void all_at_once(void)
{
    mp_fill(out, LARGEST, 77 + (uint64_t)mp_me);
    for (int pe = 0; pe < mp_npes; pe++) {
        shmem_putmem_nbi(region(mp_me), out, LARGEST, pe);
        for (int i = 0; i < MANY; i++)
            shmem_uint64_atomic_inc(&cells[600 + mp_me], pe);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < mp_npes; pe++) {
        memset(in, 0, LARGEST);
        shmem_getmem_nbi(in, region(pe), LARGEST, (pe + mp_me) % mp_npes);
        shmem_quiet();
        mp_check(!mp_wrong(in, LARGEST, 77 + (uint64_t)pe), "what PE %d has put everywhere is not at PE %d",
                 pe, (pe + mp_me) % mp_npes);
        mp_check(shmem_uint64_g(&cells[600 + pe], mp_me) == MANY, "%llu of %d additions of PE %d",
                 (unsigned long long)shmem_uint64_g(&cells[600 + pe], mp_me), MANY, pe);
    }
    shmem_barrier_all();
}

/* The target, the last PE, is not in the library. */
static void target_computes(void)
{
    double end = mp_now() + 0.5;
    int pe = mp_npes - 1;

    shmem_barrier_all();
    if (mp_me != pe) {
        mp_fill(out, 5000, 5);
        shmem_putmem(region(mp_me), out, 5000, pe);
        shmem_quiet();
        mp_check(shmem_uint64_atomic_fetch_add(cells + 700 + mp_me, 3, pe) == 0,
                 "an atomic of a PE that computes");
        mp_check(mp_now() < end, "a PE that computes is not served");
    } else {
        while (mp_now() < end)
            ;
    }
    shmem_barrier_all();
}

struct worker {
    int number, pe;
    bool ok;
};

/* Rounds of put, fence, get, and of additions, on a context of its own or the default one. */
static void *work(void *arg)
{
    struct worker *worker = arg;
    const size_t len = 50000;
    char *mine = region(mp_me) + (size_t)worker->number * len, *from = malloc(len), *back = malloc(len);
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

    worker->ok = worker->number == 0 || !shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
    for (uint64_t i = 0; i < (uint64_t)mp_rounds(50, 1000) && worker->ok; i++) {
        mp_fill(from, len, i * THREADS + (uint64_t)worker->number);
        shmem_ctx_putmem_nbi(ctx, mine, from, len, worker->pe);
        shmem_ctx_fence(ctx);
        shmem_ctx_uint64_atomic_inc(ctx, &cells[800 + mp_me], worker->pe);
        shmem_ctx_getmem(ctx, back, mine, len, worker->pe);
        worker->ok = !mp_wrong(back, len, i * THREADS + (uint64_t)worker->number);
        shmem_ctx_quiet(ctx);
    }
    if (worker->number)
        shmem_ctx_destroy(ctx);
    free(from);
    free(back);
    return NULL;
}

static void threads(int pe)
{
    struct worker workers[THREADS];
    pthread_t ids[THREADS];

    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){i, pe, false};
        pthread_create(&ids[i], NULL, work, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        mp_check(workers[i].ok, "thread %d", i);
    }
    mp_check(shmem_uint64_g(&cells[800 + mp_me], pe) == (uint64_t)mp_rounds(50, 1000) * THREADS,
             "additions of all threads");
    shmem_barrier_all();
}

static int allocate(void)
{
    out = malloc(LARGEST + PAD);
    in = malloc(LARGEST + PAD);
    device = shmemx_malloc_device((size_t)mp_npes * REGION);
    buffer = shmemx_malloc_device((size_t)2 * REGION);
    cells = shmemx_calloc_device(WORDS, sizeof *cells);
    host = mp_alloc(LARGEST);
    host_flag = mp_alloc(sizeof *host_flag);
    return mp_check(device && buffer && cells, "no device memory");
}

/* The library starts, attaches the GPUs, uses them across hosts, and ends. */
static bool start_and_end(void)
{
    long *counter;
    int n;
    bool ok;

    shmem_init();
    n = shmem_n_pes();
    counter = shmemx_calloc_device(1, sizeof *counter);
    for (int pe = 0; pe < n && counter; pe++)
        shmem_long_atomic_add(counter, 1 + shmem_my_pe(), pe);
    shmem_barrier_all();
    ok = counter && shmem_long_g(counter, shmem_my_pe()) == n * (n + 1) / 2;
    shmem_finalize();
    return ok;
}

int main(void)
{
    bool once = start_and_end(), twice = start_and_end();
    int peer;

    mp_begin_thread(SHMEM_THREAD_MULTIPLE);
    mp_check(once && twice, "the library's first times in this process");
    if (!allocate())
        return mp_end();
    for (peer = 0; peer < mp_npes && shmem_ptr(device, peer);)
        peer++;
    if (!mp_check(peer < mp_npes && shmem_addr_accessible(device, peer), "no PE is on another host"))
        return mp_end();
    for (int pe = 0; pe < mp_npes; pe++) {
        words(pe);
        strided(pe);
        atomics(pe);
        on_contexts(pe);
    }
    all_sizes(peer);
    gets_after_fences(peer);
    shmem_barrier_all();
    orders("device, device", device, cells + 900);
    orders("device, host", device, host_flag);
    orders("host, device", host, cells + 901);
    together();
    all_at_once();
    threads(peer);
    target_computes();
    free(out);
    free(in);
    return mp_end();
}
