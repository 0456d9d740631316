/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall exchanges the right blocks at every size from nothing to 1 MiB, for any number of PEs, again and again
 * on the same buffers; alltoalls at any stride, near or far, and nothing between the elements is touched.
 * paths: local:1,2,3,4,5,8 tcp:4,5 efa:4 shm:3 mixed:5 mixedshm:4 single
 * long paths: tcp:2,3 shm:2,4 mixed:4,6
 */
#include "test/common/mp.h"

#include <string.h>

#define LEN_MAX ((size_t)1 << 20)

static const size_t lens[] = {0, 1, 7, 8, 63, 64, 1000, 4096, 16385, 65536, LEN_MAX};

static uint64_t seed(int from, int to, uint64_t round)
{
    return (uint64_t)from * 1000 + (uint64_t)to + round * 77;
}

static void run_round(char *dst, char *src, size_t len, uint64_t round)
{
    size_t used = len * (size_t)mp_npes;

    for (int to = 0; to < mp_npes; to++)
        mp_fill(src + (size_t)to * len, len, seed(mp_me, to, round));
    memset(dst, 0xee, used + 1);
    shmem_sync_all(); /* dst may be written by others only after this */
    mp_check(shmem_alltoallmem(SHMEM_TEAM_WORLD, dst, src, len) == 0, "alltoall of %zu bytes failed", len);
    memset(src, 0, used); /* may be used again on return */
    for (int from = 0; from < mp_npes; from++) {
        size_t wrong = mp_wrong(dst + (size_t)from * len, len, seed(from, mp_me, round));

        mp_check(!wrong, "%zu of %zu bytes from PE %d wrong, round %lu", wrong, len, from,
                 (unsigned long)round);
    }
    mp_check((unsigned char)dst[used] == 0xee, "alltoall of %zu bytes wrote past the end", len);
}

static void check_typed(long *dst, long *src)
{
    for (int to = 0; to < mp_npes; to++)
        src[to] = mp_me * 100 + to;
    shmem_sync_all();
    mp_check(shmem_long_alltoall(SHMEM_TEAM_WORLD, dst, src, 1) == 0, "long_alltoall failed");
    for (int from = 0; from < mp_npes; from++)
        mp_check(dst[from] == from * 100 + mp_me, "long_alltoall: block %d is %ld", from, dst[from]);
}

static const struct {
    ptrdiff_t dst, sst;
    size_t nelems;
} shapes[] = {{1, 2, 3000}, {2, 1, 3000},  {3, 5, 0},      {3, 5, 1},
              {5, 2, 8},    {2, 2, 20000}, {700, 11, 170}, {11, 700, 170}};

static int32_t element(int from, int to, size_t i, uint64_t round)
{
    return (int32_t)(seed(from, to, round) * 100003 + i);
}

/* Elements of 4 bytes. */
static void check_strided(int32_t *dst, int32_t *src, size_t shape, uint64_t round)
{
    size_t n = shapes[shape].nelems, all = n * (size_t)mp_npes, wrong = 0, touched = 0;
    ptrdiff_t to = shapes[shape].dst, from = shapes[shape].sst;

    memset(dst, 0xee, all * (size_t)to * sizeof *dst);
    for (size_t i = 0; i < all; i++)
        src[i * (size_t)from] = element(mp_me, (int)(i / n), i % n, round);
    shmem_sync_all();
    mp_check(shmem_int32_alltoalls(SHMEM_TEAM_WORLD, dst, src, to, from, n) == 0, "alltoalls failed");
    for (size_t i = 0; i < all; i++)
        src[i * (size_t)from] = 0; /* may be used again on return */
    for (size_t i = 0; i < all * (size_t)to; i++) {
        size_t at = i / (size_t)to;

        if (i % (size_t)to == 0)
            wrong += dst[i] != element((int)(at / n), mp_me, at % n, round);
        else
            touched += dst[i] != (int32_t)0xeeeeeeee;
    }
    mp_check(!wrong && !touched, "alltoalls of %zu, strides %td and %td: %zu wrong, %zu between them touched",
             n, to, from, wrong, touched);
    shmem_sync_all();
}

int main(void)
{
    uint64_t round = 0;
    char *dst, *src;

    mp_begin();
    dst = mp_alloc(LEN_MAX * (size_t)mp_npes + 1);
    src = mp_alloc(LEN_MAX * (size_t)mp_npes);
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        for (long n = 0; n < mp_rounds(lens[i] > 100000 ? 2 : 10, 300); n++)
            run_round(dst, src, lens[i], ++round);
    }
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int n = 0; n < 3; n++)
            check_strided((int32_t *)dst, (int32_t *)src, i, ++round);
    check_typed((long *)dst, (long *)src);
    return mp_end();
}
