/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A heap that is full says so with NULL on all PEs at once, keeps what it holds, and serves again after a free;
 * touching what it gave never faults. Zero bytes and absurd sizes give NULL.
 * paths: local:2,4 tcp:2 shm:2 mixed:4 single
 * env: SHMEM_SYMMETRIC_SIZE=16M
 */
#include "test/common/mp.h"

#include <string.h>

#define CHUNK ((size_t)1 << 20)
#define CHUNKS 64

static char *chunks[CHUNKS];

static int fill_heap(void)
{
    int n = 0;

    while (n < CHUNKS && (chunks[n] = shmem_malloc(CHUNK))) {
        memset(chunks[n], n + 1, CHUNK); /* a page without memory behind it would end us here */
        n++;
    }
    return n;
}

static void check_chunks(int n)
{
    for (int i = 0; i < n; i++)
        mp_check(chunks[i][0] == i + 1 && chunks[i][CHUNK - 1] == i + 1, "chunk %d of %d changed", i, n);
}

int main(void)
{
    int n, *counts;

    mp_begin();
    counts = mp_alloc(sizeof *counts * (size_t)mp_npes);
    mp_check(shmem_malloc(0) == NULL, "0 bytes gave memory");
    mp_check(shmem_calloc(0, 8) == NULL && shmem_calloc(8, 0) == NULL, "calloc of 0 bytes gave memory");
    mp_check(shmem_malloc((size_t)1 << 40) == NULL, "more than the heap gave memory");
    mp_check(shmem_malloc(SIZE_MAX) == NULL, "SIZE_MAX gave memory");
    mp_check(shmem_calloc(SIZE_MAX / 2, 4) == NULL, "an overflowing calloc gave memory");
    n = fill_heap();
    mp_check(n >= 12 && n <= 18, "%d chunks of 1 MiB fit into a heap of about 16 MiB", n);
    for (int pe = 0; pe < mp_npes; pe++)
        shmem_int_p(&counts[mp_me], n, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < mp_npes; pe++)
        mp_check(counts[pe] == n, "PE %d got %d chunks, not %d", pe, counts[pe], n);
    mp_check(shmem_realloc(chunks[0], 4 * CHUNK) == NULL, "realloc found memory in a full heap");
    check_chunks(n);
    for (int i = 0; i < n; i++)
        shmem_free(chunks[i]);
    mp_check(fill_heap() == n, "another number of chunks after everything was freed");
    check_chunks(n);
    return mp_end();
}
