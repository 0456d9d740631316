/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with an interval timer, as profilers set one, has its calls interrupted (EINTR) from before shmem_init to
 * the end, and every put and atomic arrives all the same.
 * paths: local:2 tcp:2 mixed:4 efa:4 mixedefa:4
 */
#include "test/common/mp.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#define INTERVAL_US 700
#define LEN ((size_t)65536)

static volatile sig_atomic_t ticks;
static long sum;
static char source[LEN];

static void tick(int sig)
{
    (void)sig;
    ticks++;
}

static void timer_set(long us)
{
    const struct itimerval interval = {{0, us}, {0, us}};

    mp_check(!setitimer(ITIMER_REAL, &interval, NULL), "no timer: %s", strerror(errno));
}

int main(void)
{
    struct sigaction action = {.sa_handler = tick}; /* without SA_RESTART */
    long rounds;
    char *area;

    sigaction(SIGALRM, &action, NULL);
    timer_set(INTERVAL_US);
    mp_begin();
    rounds = mp_rounds(60, 2000);
    area = mp_alloc(LEN);
    for (long round = 0; round < rounds; round++) {
        mp_fill(source, LEN, (uint64_t)(round * mp_npes + mp_me));
        shmem_putmem_nbi(area, source, LEN, mp_right());
        shmem_long_atomic_add(&sum, 1, mp_right());
        shmem_barrier_all();
        mp_check(!mp_wrong(area, LEN, (uint64_t)(round * mp_npes + mp_left())), "round %ld", round);
        shmem_barrier_all();
    }
    mp_check(sum == rounds, "%ld of %ld atomics", sum, rounds);
    timer_set(0);
    mp_note("PE 0 was interrupted %d times", (int)ticks);
    return mp_end();
}
