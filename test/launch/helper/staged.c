/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * staged WHO: puts, gets and atomics to device memory of PEs of other hosts, which goes by staging; PE WHO dies among
 * them. What went between the others is exact, and what is for it ends and moves nothing. Device memory is not
 * allocated then, and again after the world's shrink, at the same offset on all. For survive.sh.
 */
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PES = 16, MOVES = 3000, N = 20000 };

static long did[PES], from[N], to[N];

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "PE %d: %s\n", shmem_my_pe(), what);
    exit(9);
}

/* words[0 … PES - 1]: what each has added here; from PES on, what is put and got. */
static void move(long *words, int pe, int kind)
{
    const int me = shmem_my_pe();

    switch (kind) {
    case 0:
        shmem_long_atomic_inc(&words[me], pe);
        did[pe]++;
        break;
    case 1:
        (void)shmem_long_atomic_fetch_inc(&words[me], pe);
        did[pe]++;
        break;
    case 2: shmem_long_put_nbi(words + PES, from, (size_t)(1 + rand() % N), pe); break;
    case 3: shmem_long_get(to, words + PES, 8, pe); break;
    case 4: shmem_fence(); break;
    default: shmem_quiet(); break;
    }
}

static size_t offset_of(const void *at)
{
    return (size_t)((const char *)at - (const char *)shmemx_device_heap_base());
}

/* `words` was there before. */
static void allocate(const long *words)
{
    static long offset, least, most;
    shmem_team_t all;
    long *more;

    check(!shmemx_malloc_device(64), "device memory in a broken world");
    check(!shmemx_calloc_device(8, 8), "device memory of zeros in a broken world");
    check(!shmemx_team_shrink(SHMEM_TEAM_WORLD, &all), "no world of survivors");
    more = shmemx_malloc_device(1000);
    check(more != NULL && more != words, "no device memory after the shrink");
    offset = (long)offset_of(more);
    check(!shmem_long_min_reduce(all, &least, &offset, 1) && !shmem_long_max_reduce(all, &most, &offset, 1),
          "reductions of survivors");
    check(least == offset && most == offset, "device memory is at another offset");
    shmemx_free_device(more);
    check(shmemx_calloc_device(10, 100) == more, "what is freed is taken again");
    check(!shmemx_malloc_device((size_t)64 << 20), "the heap has grown");
    check(shmemx_malloc_device(64) != NULL, "and then there is none");
}

int main(int argc, char **argv)
{
    int me, n, who = argc > 1 ? atoi(argv[1]) : 0;
    long *words, kept = 77;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    words = shmemx_malloc_device((PES + N) * sizeof *words);
    check(words != NULL && n <= PES, "no device memory");
    shmem_barrier_all();
    srand((unsigned)me + 1);
    for (int i = 0; i < MOVES || !shmemx_failure_generation(); i++) {
        if (me == who && i == MOVES / 4)
            raise(SIGKILL);
        move(words, rand() % n, rand() % 6);
    }
    for (int i = 0; i < 300; i++)
        move(words, who, i % 6);
    shmem_quiet();
    if (shmem_team_translate_pe(SHMEM_TEAM_WORLD, who, SHMEM_TEAM_SHARED) < 0) {
        shmem_long_get(&kept, words, 1, who);
        check(kept == 77, "a get from a PE that has failed has changed its destination");
        check(shmem_long_atomic_fetch(&words[me], who) == 0, "what is fetched from it is not 0");
    }
    for (int pe = 0; pe < n; pe++)
        check(pe == who || shmem_long_atomic_fetch(&words[me], pe) == did[pe], "an atomic is lost");
    allocate(words);
    printf("went on\n");
    fflush(stdout);
    shmem_finalize();
    return 0;
}
