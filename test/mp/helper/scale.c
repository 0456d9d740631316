/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One line of PE 0 about a job of many PEs: seconds of shmem_init, by the clock and of a processor; KiB of a PE's own
 * memory beside its heap after it and a barrier, the mean; at the end, the most and the mean, apart what belongs to an
 * emulated device; and its share of what processes share; descriptors and sockets; microseconds of a barrier and of 8
 * bytes from each to each. Checks a broadcast, a sum, the all-to-all and a ring of puts with signal. For
 * test/mp/scale.sh and perftest/host/scale.
 */
#include "test/common/mp.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ROUNDS = 5 };
enum { BEGUN, OWN, DEVICE, SHARE, FDS, SOCKETS, START, PROCESSOR, FIELDS };

static double fields[FIELDS];

/* What is mapped with a name of the heap's is the program's. */
static void memory_read(void)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    int of = OWN;
    long kib;

    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "Private_Dirty: %ld", &kib) == 1 || sscanf(line, "Private_Clean: %ld", &kib) == 1)
            fields[of] += of == SHARE ? 0 : (double)kib;
        else if (sscanf(line, "Pss: %ld", &kib) == 1)
            fields[SHARE] += of == DEVICE ? 0 : (double)kib;
        else if (strchr(line, '-') && !strstr(line, " kB"))
            of = strstr(line, "warpshmem-heap") ? SHARE : strstr(line, "/efa/") ? DEVICE : OWN;
    }
    if (maps)
        fclose(maps);
}

static void descriptors_count(void)
{
    DIR *dir = opendir("/proc/self/fd");
    char target[64];

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof target);

        fields[FDS] += len > 0;
        fields[SOCKETS] += len > 7 && !memcmp(target, "socket:", 7);
    }
    if (dir)
        closedir(dir);
    fields[FDS]--; /* this one */
}

/* Beside the heap, right after the start. */
static void memory_begun(void)
{
    memory_read();
    fields[BEGUN] = fields[OWN];
    fields[OWN] = fields[DEVICE] = fields[SHARE] = 0;
}

static double processor_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static double barrier_us(void)
{
    double began;

    shmem_barrier_all();
    began = mp_now();
    for (int i = 0; i < ROUNDS; i++)
        shmem_barrier_all();
    return (mp_now() - began) / ROUNDS * 1e6;
}

static double alltoall_us(void)
{
    int64_t *from = mp_alloc(8 * (size_t)mp_npes), *to = mp_alloc(8 * (size_t)mp_npes);
    double began = 0;

    for (int i = 0; i <= ROUNDS; i++) {
        if (i == 1)
            began = mp_now(); /* the first one connects */
        for (int pe = 0; pe < mp_npes; pe++)
            from[pe] = (int64_t)mp_me << 32 | (pe + i);
        shmem_int64_alltoall(SHMEM_TEAM_WORLD, to, from, 1);
        for (int pe = 0; pe < mp_npes; pe++)
            mp_check(to[pe] == ((int64_t)pe << 32 | (mp_me + i)), "alltoall %d: wrong word of PE %d", i, pe);
        shmem_barrier_all();
    }
    return (mp_now() - began) / ROUNDS * 1e6;
}

static void broadcast_and_sum(void)
{
    int64_t *words = mp_alloc(3 * sizeof *words);

    words[0] = mp_me ? -1 : 4711;
    shmem_int64_broadcast(SHMEM_TEAM_WORLD, &words[1], &words[0], 1, 0);
    mp_check(words[1] == 4711, "broadcast");
    words[0] = mp_me;
    shmem_int64_sum_reduce(SHMEM_TEAM_WORLD, &words[2], &words[0], 1);
    mp_check(words[2] == (int64_t)mp_npes * (mp_npes - 1) / 2, "sum");
}

static void ring(void)
{
    static uint64_t signal, data;

    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t value = round << 32 | (uint64_t)mp_me;

        shmem_putmem_signal(&data, &value, sizeof value, &signal, 1, SHMEM_SIGNAL_ADD, mp_right());
        shmem_signal_wait_until(&signal, SHMEM_CMP_GE, round);
        mp_check((data & 0xffffffff) == (uint64_t)mp_left(), "ring");
    }
}

int main(void)
{
    double began = mp_now(), barrier, alltoall, *sums, *most;
    int status;

    mp_begin();
    fields[START] = mp_now() - began;
    fields[PROCESSOR] = processor_seconds();
    barrier = barrier_us();
    memory_begun();
    broadcast_and_sum();
    ring();
    alltoall = alltoall_us();
    memory_read();
    descriptors_count();
    sums = mp_alloc(3 * sizeof fields);
    most = sums + FIELDS;
    memcpy(sums + 2 * FIELDS, fields, sizeof fields);
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, sums, sums + 2 * FIELDS, FIELDS);
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, most, sums + 2 * FIELDS, FIELDS);
    if (mp_me == 0)
        printf(
            "%d PEs: start %.1f s, processor %.3f s, begun %.0f KiB; own %.0f KiB, mean %.0f, device %.0f, "
            "with shared parts %.0f; descriptors %.0f, sockets %.0f; barrier %.0f us, alltoall %.0f us\n",
            mp_npes, most[START], sums[PROCESSOR] / mp_npes, sums[BEGUN] / mp_npes, most[OWN],
            sums[OWN] / mp_npes, sums[DEVICE] / mp_npes, sums[SHARE] / mp_npes, most[FDS], most[SOCKETS],
            barrier, alltoall);
    fflush(stdout);
    began = mp_now();
    status = mp_end();
    if (mp_me == 0)
        printf("finalize %.1f s\n", mp_now() - began);
    return status;
}
