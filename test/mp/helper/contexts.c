/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As many contexts as there can be, and one more: the last ones work, the next is refused, and those that are destroyed
 * come back. Prints how many, and the time of a put with signal of 64 KiB on the first and on the last one, by PE 0.
 * For test/mp/limits.sh.
 */
#include "test/common/mp.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 20000, BYTES = 65536, ROUNDS = 200 };

static shmem_ctx_t ctxs[MOST];
static char source[BYTES];

static int create_all(void)
{
    int n = 0;

    while (n < MOST && !shmem_ctx_create(0, &ctxs[n]))
        n++;
    return n;
}

/* Microseconds of a put with signal, from one to the next, with the wait for its answer. */
static double put_signals(shmem_ctx_t ctx, char *dest, uint64_t *signal)
{
    static uint64_t round;
    double began = mp_now();

    for (int i = 0; i < ROUNDS; i++) {
        round++;
        source[0] = (char)round;
        if (mp_me == 0)
            shmem_ctx_putmem_signal(ctx, dest, source, BYTES, signal, round, SHMEM_SIGNAL_SET, 1);
        if (mp_me < 2) {
            shmem_signal_wait_until(signal, SHMEM_CMP_EQ, round);
            mp_check(mp_me != 1 || dest[0] == (char)round, "signal %d before its data", i);
        }
        if (mp_me == 1)
            shmem_ctx_putmem_signal(ctx, dest, source, BYTES, signal, round, SHMEM_SIGNAL_SET, 0);
    }
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    return (mp_now() - began) / ROUNDS / 2 * 1e6;
}

int main(void)
{
    uint64_t *signal;
    char *dest;
    double first, last;
    int n;

    mp_begin();
    dest = mp_alloc(BYTES);
    signal = mp_alloc(sizeof *signal);
    n = create_all();
    mp_check(n > 1 && n < MOST, "%d contexts", n);
    first = put_signals(ctxs[0], dest, signal);
    last = put_signals(ctxs[n - 1], dest, signal);
    if (mp_me == 0)
        printf("contexts: %d, put with signal on the first %.1f us, on the last %.1f us\n", n, first, last);
    for (int i = 0; i < n; i++)
        shmem_ctx_destroy(ctxs[i]);
    mp_check(create_all() == n, "fewer contexts than before");
    return mp_end();
}
