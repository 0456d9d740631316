/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traffic of every kind for so many milliseconds, whose results each PE verifies in each round. The PEs note in a file
 * when they are up, when they come to their end, and when they are done.
 * Usage: load MARKS MILLISECONDS [grow]; `grow`: each round needs more memory.
 */
#define _GNU_SOURCE
#include "test/common/mp.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENS = 5, GROWTH = 512 * 1024 };

static const size_t lens[LENS] = {8, 200, 5000, 40000, 200000};

static struct {
    char *slot[2], *src, *back; /* slots: for a put, and for a put with signal */
    uint64_t *signal, *adds;
    long *sum, *all, *last;
} my;

static int marks_fd;

static void mark(const char *what, long rounds)
{
    char text[128];
    int len = snprintf(text, sizeof text, "%s %d %.6f %ld\n", what, mp_me, mp_now(), rounds);

    if (write(marks_fd, text, (size_t)len) != len)
        exit(99);
}

static void open_memory(void)
{
    size_t most = lens[LENS - 1];

    my.slot[0] = mp_alloc(most);
    my.slot[1] = mp_alloc(most);
    my.src = mp_alloc(most);
    my.back = mp_alloc(most);
    my.signal = mp_alloc(sizeof *my.signal);
    my.adds = mp_alloc(sizeof *my.adds);
    my.sum = mp_alloc(2 * sizeof *my.sum);
    my.all = mp_alloc((size_t)mp_npes * sizeof *my.all);
    my.last = mp_alloc(2 * sizeof *my.last);
}

static uint64_t seed_of(int pe, long round)
{
    return ((uint64_t)pe << 40) + (uint64_t)round;
}

static void transfer_blocks(long round)
{
    size_t len = lens[round % LENS];

    mp_fill(my.src, len, seed_of(mp_me, round));
    shmem_putmem_nbi(my.slot[0], my.src, len, mp_right());
    shmem_putmem_signal(my.slot[1], my.src, len, my.signal, 1, SHMEM_SIGNAL_ADD, mp_right());
    for (int pe = 0; pe < mp_npes; pe++)
        shmem_uint64_atomic_inc(my.adds, pe);
    shmem_signal_wait_until(my.signal, SHMEM_CMP_GE, (uint64_t)round + 1);
    mp_check(!mp_wrong(my.slot[1], len, seed_of(mp_left(), round)), "round %ld: wrong data with the signal",
             round);
    shmem_barrier_all();
    mp_check(!mp_wrong(my.slot[0], len, seed_of(mp_left(), round)), "round %ld: wrong data", round);
    mp_check(*my.adds == (uint64_t)mp_npes * ((uint64_t)round + 1), "round %ld: %lu adds", round,
             (unsigned long)*my.adds);
    shmem_getmem(my.back, my.src, len, mp_left());
    mp_check(!mp_wrong(my.back, len, seed_of(mp_left(), round)), "round %ld: wrong data of a get", round);
}

static void run_collectives(long round)
{
    long n = mp_npes;

    my.sum[1] = mp_me + round;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, my.sum, my.sum + 1, 1);
    mp_check(my.sum[0] == n * (n - 1) / 2 + n * round, "round %ld: the sum is %ld", round, my.sum[0]);
    shmem_long_fcollect(SHMEM_TEAM_WORLD, my.all, my.sum + 1, 1);
    for (int pe = 0; pe < mp_npes; pe++)
        mp_check(my.all[pe] == pe + round, "round %ld: collected %ld from PE %d", round, my.all[pe], pe);
}

/* Never freed: the point is that it stays. */
static void grow(void)
{
    static char *volatile newest; /* else the compiler sees that nobody looks at it */

    newest = malloc(GROWTH);
    if (newest)
        memset(newest, 1, GROWTH);
}

static bool is_last(bool decision)
{
    my.last[1] = decision;
    shmem_long_broadcast(SHMEM_TEAM_WORLD, my.last, my.last + 1, 1, 0);
    return my.last[0];
}

int main(int argc, char **argv)
{
    double seconds = argc > 2 ? atof(argv[2]) / 1000 : 0, start;
    bool grows = argc > 3 && !strcmp(argv[3], "grow");
    long round = 0;
    int failed;

    marks_fd = open(argc > 1 ? argv[1] : "/dev/null", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    mp_begin();
    open_memory();
    shmem_barrier_all();
    mark("up", 0);
    start = mp_now();
    do {
        transfer_blocks(round);
        run_collectives(round);
        if (grows)
            grow();
        printf("PE %d round %ld\n", mp_me, round++);
        fflush(stdout);
    } while (!is_last(mp_now() - start >= seconds));
    mark("down", round);
    failed = mp_end();
    mark("done", round);
    return failed;
}
