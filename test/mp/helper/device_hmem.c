/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory of another host, a little of all that can be done with it: each PE puts to the next one, some bytes and
 * many, with signals and without, and gets them back. The exit status says whether all of it was right.
 */
#include <shmemx.h>

#include <stdlib.h>
#include <string.h>

enum { LEN = 1 << 20, FEW = 100 };

static int wrong(const unsigned char *bytes, size_t len, unsigned char value)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != value)
            return 1;
    return 0;
}

static int by_signal(char *data, uint64_t *flags, unsigned char *host, size_t len, unsigned char value)
{
    int next = (shmem_my_pe() + 1) % shmem_n_pes(),
        before = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
    uint64_t was = shmem_signal_fetch(flags);

    shmem_barrier_all();
    memset(host, value + shmem_my_pe(), len);
    shmem_putmem_signal_nbi(data, host, len, flags, 1, SHMEM_SIGNAL_ADD, next);
    shmem_quiet();
    while (shmem_signal_fetch(flags) == was)
        ;
    shmem_getmem(host, data, len, shmem_my_pe());
    return wrong(host, len, (unsigned char)(value + before));
}

static int by_fence(char *data, uint64_t *flags, unsigned char *host, size_t len, unsigned char value)
{
    int next = (shmem_my_pe() + 1) % shmem_n_pes();

    shmem_barrier_all();
    memset(host, value, len);
    shmem_putmem_nbi(data, host, len, next);
    shmem_fence();
    shmem_uint64_atomic_inc(flags + 1, next);
    shmem_getmem(host, data, len, next);
    shmem_quiet();
    return wrong(host, len, value);
}

/* A buffer of the program's own, with local device memory at the other end. */
static int by_buffer(unsigned char *host)
{
    char *from = shmemx_malloc_device(LEN), *to = shmemx_malloc_device(LEN);
    int next = (shmem_my_pe() + 1) % shmem_n_pes();

    memset(host, 77, LEN);
    shmem_putmem(from, host, LEN, shmem_my_pe());
    shmem_putmem(to, from, LEN, next);
    shmem_barrier_all();
    shmem_getmem(from, to, LEN, next);
    memset(host, 0, LEN);
    shmem_getmem(host, from, LEN, shmem_my_pe());
    return wrong(host, LEN, 77);
}

int main(void)
{
    unsigned char *host = malloc(LEN);
    uint64_t *flags;
    char *data;
    int faults = 0, none;

    shmem_init();
    data = shmemx_malloc_device(LEN);
    flags = shmemx_calloc_device(2, sizeof *flags);
    none = !data || !flags;
    for (unsigned char value = 1; !none && value < 20; value += 4) {
        faults += by_signal(data, flags, host, FEW, value);
        faults += by_signal(data, flags, host, LEN, value + 1);
        faults += by_fence(data, flags, host, FEW, value + 2);
        faults += by_fence(data, flags, host, LEN, value + 3);
    }
    faults += none ? 0 : by_buffer(host);
    shmem_finalize();
    free(host);
    return none ? 2 : faults > 0;
}
