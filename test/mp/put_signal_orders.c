/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put_signal needs no fence: who sees the signal sees all of the data, at every size, with set and add, blocking
 * and not, with the data in the heap and in static memory.
 * paths: local:2,4 tcp:4 efa:2 rails:4 shm:2 mixed:4 mixedefa:4 mixedshm:4 single split:2 splitback:2
 * long paths: tcp:2 efa:4 shm:4
 */
#include "test/common/mp.h"

#define LEN_MAX ((size_t)1 << 20)
#define STATIC_LEN 5000

static const size_t lens[] = {0, 1, 8, 31, 64, 1000, 4096, 8192, 65536, 200000, LEN_MAX};
static char static_data[STATIC_LEN];
static uint64_t static_signal;

static uint64_t sent, acked; /* rounds so far; the signal word follows */

static void send(char *data, const char *src, size_t len, uint64_t *signal)
{
    if (sent % 4 == 0)
        shmem_putmem_signal(data, src, len, signal, sent, SHMEM_SIGNAL_SET, mp_right());
    else if (sent % 4 == 1)
        shmem_putmem_signal(data, src, len, signal, 1, SHMEM_SIGNAL_ADD, mp_right());
    else if (sent % 4 == 2)
        shmem_putmem_signal_nbi(data, src, len, signal, sent, SHMEM_SIGNAL_SET, mp_right());
    else
        shmem_putmem_signal_nbi(data, src, len, signal, 1, SHMEM_SIGNAL_ADD, mp_right());
}

static void run_round(char *data, char *src, size_t len, uint64_t *signal, const char *where)
{
    uint64_t seen;
    size_t wrong;

    mp_fill(src, len, ++sent + (uint64_t)mp_me);
    send(data, src, len, signal);
    seen = shmem_signal_wait_until(signal, SHMEM_CMP_NE, sent - 1);
    mp_check(seen == sent, "signal %lu, not %lu", (unsigned long)seen, (unsigned long)sent);
    wrong = mp_wrong(data, len, sent + (uint64_t)mp_left());
    mp_check(!wrong, "round %lu, data in %s: signal before %zu of %zu bytes", (unsigned long)sent, where,
             wrong, len);
    shmem_quiet();
    shmem_uint64_p(&acked, sent, mp_left());
    shmem_uint64_wait_until(&acked, SHMEM_CMP_GE, sent);
}

int main(void)
{
    uint64_t *signal;
    char *data, *src;

    mp_begin();
    data = mp_alloc(LEN_MAX);
    src = mp_alloc(LEN_MAX);
    signal = mp_alloc(sizeof *signal);
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        for (long n = 0; n < mp_rounds(lens[i] > 100000 ? 12 : 40, 1000); n++)
            run_round(data, src, lens[i], signal, "the heap");
    }
    static_signal = sent;
    shmem_barrier_all();
    for (long n = 0; n < mp_rounds(100, 10000); n++)
        run_round(n % 2 ? static_data : data, src, STATIC_LEN, &static_signal,
                  n % 2 ? "static memory" : "the heap");
    return mp_end();
}
