/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's routines work on device memory of every PE of the host: puts, gets, strided ones, words, atomics, signals;
 * blocking ones are complete on return, nonblocking ones after quiet, also on contexts.
 *
 * paths: fakegpu:1,2,4 fakegpuipc:2 fakegpu1:2,4 gpu:2,4 gpuipc:2 gpu1:2,4
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 20, PAD = 64 };

static char *device, *out, *in;

static void put_and_get(int pe, size_t len, size_t off, bool nbi)
{
    uint64_t seed = (uint64_t)mp_me * 1000 + len + off;
    char *at = device + (size_t)mp_me * (LARGEST + 2 * PAD) + off;

    mp_fill(out, len, seed);
    memset(in, 0xee, len + PAD);
    if (nbi) {
        shmem_putmem_nbi(at, out, len, pe);
        shmem_quiet();
        shmem_getmem_nbi(in, at, len, pe);
        shmem_quiet();
    } else {
        shmem_putmem(at, out, len, pe);
        memset(out, 0, len);
        shmem_quiet();
        shmem_getmem(in, at, len, pe);
    }
    mp_check(!mp_wrong(in, len, seed), "%zu bytes at offset %zu to PE %d came back wrong%s", len, off, pe,
             nbi ? " (nbi)" : "");
    mp_check((unsigned char)in[len] == 0xee, "a get of %zu bytes wrote beside its place", len);
}

static void all_sizes(int pe)
{
    static const size_t sizes[] = {1, 3, 4, 8, 12, 63, 4096, 65537, LARGEST};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t off = 0; off < 9; off += 4)
            for (int nbi = 0; nbi < 2; nbi++)
                put_and_get(pe, sizes[i], off, nbi);
}

static void words(long *cell, int pe)
{
    long *mine = cell + 512 + mp_me;

    shmem_long_p(mine, 17 + mp_me, pe);
    shmem_quiet();
    mp_check(shmem_long_g(mine, pe) == 17 + mp_me, "p and g of 8 bytes");
    shmem_int_p((int *)mine, 5, pe);
    shmem_char_p((char *)mine + 5, 'x', pe);
    shmem_quiet();
    mp_check(shmem_int_g((int *)mine, pe) == 5 && shmem_char_g((char *)mine + 5, pe) == 'x',
             "p and g of 4 and 1");
}

static void strided(long *cell, int pe)
{
    long from[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
    long *mine = cell + 16 * mp_me;

    shmem_long_iput(mine, from, 3, 2, 3, pe);
    shmem_quiet();
    shmem_long_iget(back, mine, 2, 3, 3, pe);
    mp_check(back[0] == 1 && back[2] == 3 && back[4] == 5 && !back[1], "iput and iget: %ld %ld %ld", back[0],
             back[2], back[4]);
}

static void atomics(long *cell, int pe)
{
    long *mine = cell + 512 + mp_me;

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
    mp_check(shmem_long_atomic_fetch(mine, pe) == 14, "or, and");
}

static void on_context(int pe)
{
    shmem_ctx_t ctx;
    char *at = device + (size_t)mp_me * (LARGEST + 2 * PAD);

    if (!mp_check(!shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx), "no context"))
        return;
    mp_fill(out, 5000, 3);
    shmem_ctx_putmem_nbi(ctx, at, out, 5000, pe);
    shmem_ctx_quiet(ctx);
    shmem_ctx_getmem(ctx, in, at, 5000, pe);
    mp_check(!mp_wrong(in, 5000, 3), "on a context");
    shmem_ctx_destroy(ctx);
}

/* Every PE adds to one word; a signal is fetched where it lies. */
static void together(long *cell, uint64_t *bell)
{
    const long rounds = mp_rounds(50, 5000);

    for (long i = 0; i < rounds; i++)
        shmem_long_atomic_add(cell, 1, 0);
    mp_fill(out, 1000, 7);
    shmem_putmem_signal(device, out, 1000, bell, 1, SHMEM_SIGNAL_ADD, mp_right());
    shmem_barrier_all();
    mp_check(shmem_long_g(cell, 0) == rounds * mp_npes, "%ld instead of %ld", shmem_long_g(cell, 0),
             rounds * mp_npes);
    mp_check(shmem_signal_fetch(bell) == 1, "the signal is %llu",
             (unsigned long long)shmem_signal_fetch(bell));
    shmem_getmem(in, device, 1000, mp_me);
    mp_check(!mp_wrong(in, 1000, 7), "put with signal");
}

int main(void)
{
    long *cells;

    mp_begin();
    out = malloc(LARGEST + PAD);
    in = malloc(LARGEST + PAD);
    device = shmemx_malloc_device((size_t)mp_npes * (LARGEST + 2 * PAD));
    cells = shmemx_calloc_device(64 * 16, sizeof *cells);
    if (!mp_check(device && cells, "no device memory"))
        return mp_end();
    for (int pe = 0; pe < mp_npes; pe++) {
        mp_check(shmem_addr_accessible(device, pe) && shmem_ptr(device, pe), "PE %d is not reached", pe);
        all_sizes(pe);
        words(cells, pe);
        strided(cells, pe);
        atomics(cells, pe);
        on_context(pe);
    }
    shmem_barrier_all();
    together(cells + 1000, (uint64_t *)cells + 1001);
    shmemx_free_device(cells);
    shmem_free(device);
    free(in);
    free(out);
    return mp_end();
}
