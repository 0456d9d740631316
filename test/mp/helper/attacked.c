/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Works until the file named by its first argument appears, in rounds of puts, atomics and barriers whose results are
 * looked at; says then how fast that was, what memory it took, and whether memory that nobody in the job writes has
 * changed. For strangers.sh.
 */
#include "test/common/mp.h"

#include <stdio.h>
#include <unistd.h>

enum { GUARD = 1 << 20, BLOCK = 512 };

static char static_guard[GUARD];
static long counter, stop;
static long block[BLOCK];

static double private_mib(void)
{
    long size = 0, resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%ld %ld %ld", &size, &resident, &shared) != 3)
        resident = shared = 0;
    if (file)
        fclose(file);
    return (double)(resident - shared) * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static int count_fds(void)
{
    int n = 0;

    for (int fd = 0; fd < 4096; fd++)
        n += dup2(fd, fd) == fd;
    return n;
}

/* One round; every PE sees in the same one that it is the last. */
static bool work(long round, const char *stop_file)
{
    static long out[BLOCK];
    int wrong = 0;
    bool last;

    for (int i = 0; i < BLOCK; i++)
        out[i] = round * 1000 + mp_me;
    shmem_long_put(block, out, BLOCK, mp_right());
    shmem_long_atomic_add(&counter, 1, 0);
    if (mp_me == 0 && access(stop_file, F_OK) == 0)
        for (int pe = 0; pe < mp_npes; pe++)
            shmem_long_p(&stop, 1, pe);
    shmem_barrier_all();
    for (int i = 0; i < BLOCK; i++)
        wrong += block[i] != round * 1000 + mp_left();
    mp_check(!wrong, "round %ld: %d of %d words are wrong", round, wrong, BLOCK);
    last = stop;
    shmem_barrier_all();
    return !last;
}

/* Rounds a second, in windows of half a second: the slowest shows what an attack costs. */
static void note_rate(double began, long rounds, double *slowest)
{
    static double since;
    static long before;
    double now = mp_now();

    if (!since)
        since = began;
    if (now - since < 0.5)
        return;
    if (!*slowest || (double)(rounds - before) / (now - since) < *slowest)
        *slowest = (double)(rounds - before) / (now - since);
    since = now;
    before = rounds;
}

int main(int argc, char **argv)
{
    double began, slowest = 0, memory;
    long rounds = 0;
    char *guard;

    mp_begin();
    guard = mp_alloc(GUARD);
    mp_fill(guard, GUARD, 1);
    mp_fill(static_guard, GUARD, 2);
    if (argc != 2)
        mp_skip("usage: attacked FILE");
    shmem_barrier_all();
    work(-1, "/");
    stop = 0;
    memory = private_mib();
    printf("ready %d %d\n", mp_me, (int)getpid());
    fflush(stdout);
    began = mp_now();
    while (work(rounds++, argv[1]))
        note_rate(began, rounds, &slowest);
    mp_check(mp_me || counter == (rounds + 1) * mp_npes, "counter %ld after %ld rounds", counter, rounds);
    mp_check(!mp_wrong(guard, GUARD, 1) && !mp_wrong(static_guard, GUARD, 2),
             "%zu bytes of the heap and %zu of static data have changed", mp_wrong(guard, GUARD, 1),
             mp_wrong(static_guard, GUARD, 2));
    printf(
        "PE %d: %.0f rounds a second, slowest half second %.0f; %.1f -> %.1f MiB private; %d descriptors\n",
        mp_me, (double)rounds / (mp_now() - began), slowest, memory, private_mib(), count_fds());
    return mp_end();
}
