/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random puts, gets and atomics to random PEs on random contexts, which different endpoint sets have: what each PE has
 * written to another one is there, and no more. One argument: the seconds for which it goes on; each PE then tells how
 * much memory it has resident, once at the start and every minute.
 * paths: local:4 tcp:2 sets:4 setsefa:4 mixed:4 single
 */
#include "test/common/mp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEN ((size_t)20000)
#define CTXS 5 /* one more than there are endpoint sets */
#define MINUTE 60

static char *areas, *model, *buffer; /* [mp_npes][LEN]: by source; what this PE has written, by target */
static uint64_t *counts, *sums;      /* by source; by target */
static shmem_ctx_t ctxs[CTXS];
static double begun, printed;

static shmem_ctx_t any_ctx(uint64_t *state)
{
    return ctxs[mp_random_below(state, CTXS)];
}

static void put_and_get(uint64_t *state, int pe)
{
    size_t most = mp_random_below(state, 2) ? 64 : LEN, len = 1 + mp_random_below(state, most);
    size_t off = mp_random_below(state, LEN - len + 1), mine = (size_t)mp_me * LEN;
    char *to = model + (size_t)pe * LEN;
    shmem_ctx_t ctx = any_ctx(state);

    mp_fill(to + off, len, mp_random(state));
    if (mp_random_below(state, 2))
        shmem_ctx_putmem_nbi(ctx, areas + mine + off, to + off, len, pe);
    else
        shmem_ctx_putmem(ctx, areas + mine + off, to + off, len, pe);
    shmem_ctx_uint64_atomic_add(any_ctx(state), &counts[mp_me], len, pe);
    sums[pe] += len;
    shmem_ctx_quiet(ctx);
    shmem_ctx_getmem(any_ctx(state), buffer, areas + mine + off, len, pe);
    mp_check(!memcmp(buffer, to + off, len), "%zu bytes at %zu of PE %d differ", len, off, pe);
}

static void check_all(void)
{
    for (int i = 0; i < CTXS; i++)
        shmem_ctx_quiet(ctxs[i]);
    for (int i = 0; i < mp_npes; i++) {
        int pe = (mp_me + i) % mp_npes;
        uint64_t sum = shmem_uint64_g(&counts[mp_me], pe);

        shmem_getmem(buffer, areas + (size_t)mp_me * LEN, LEN, pe);
        mp_check(!memcmp(buffer, model + (size_t)pe * LEN, LEN), "the area at PE %d differs", pe);
        mp_check(sum == sums[pe], "the sum at PE %d is %llu, not %llu", pe, (unsigned long long)sum,
                 (unsigned long long)sums[pe]);
    }
}

static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib;
}

static void print_memory(void)
{
    if (printed && mp_now() < printed + MINUTE)
        return;
    printed = mp_now();
    printf("%.0f s: PE %d has %ld KiB resident\n", printed - begun, mp_me, resident_kib());
    fflush(stdout);
}

static void open_all(void)
{
    areas = mp_alloc((size_t)mp_npes * LEN);
    counts = mp_alloc((size_t)mp_npes * sizeof *counts);
    model = calloc((size_t)mp_npes, LEN);
    sums = calloc((size_t)mp_npes, sizeof *sums);
    buffer = malloc(LEN);
    mp_check(model && sums && buffer, "no memory");
    for (int i = 0; i < CTXS; i++)
        mp_check(!shmem_ctx_create(0, &ctxs[i]), "no context %d", i);
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0;
    uint64_t state;
    long rounds;

    mp_begin_thread(SHMEM_THREAD_MULTIPLE);
    state = mp_seed() + (uint64_t)mp_me * 1000003;
    rounds = mp_rounds(100, 10000);
    begun = mp_now();
    open_all();
    for (long round = 0; seconds > 0 ? mp_now() < begun + seconds : round < rounds; round++) {
        if (seconds > 0)
            print_memory();
        put_and_get(&state, (int)mp_random_below(&state, (size_t)mp_npes));
    }
    check_all();
    shmem_barrier_all();
    if (seconds > 0)
        printed = 0, print_memory();
    for (int i = 0; i < CTXS; i++)
        shmem_ctx_destroy(ctxs[i]);
    free(model);
    free(sums);
    free(buffer);
    return mp_end();
}
