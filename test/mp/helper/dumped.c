/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints how much of the library's shared memory a core dump of PE 0 holds, in KiB, and how much there is of it; then,
 * with an argument, PE 0 ends by a signal that dumps core.
 */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED ((size_t)200 << 20)
#define TAKEN ((size_t)16 << 20)

char untouched[UNTOUCHED];
int known = 12345;

static void print_dumped(void)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    unsigned long size = 0, dumped = 0, all = 0;
    char line[512];
    int ours = 0;

    while (maps && fgets(line, sizeof line, maps)) {
        if (strchr("0123456789abcdef", line[0]) && strchr(line, '-'))
            ours = strstr(line, "memfd:warpshmem") || strstr(line, "efa-emulator");
        sscanf(line, "Size: %lu", &size);
        if (!ours || strncmp(line, "VmFlags:", 8))
            continue;
        all += size;
        dumped += strstr(line, " dd") ? 0 : size;
    }
    if (maps)
        fclose(maps);
    printf("dumped %lu of %lu\n", dumped, all);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char *taken;

    (void)argv;
    shmem_init();
    taken = shmem_malloc(TAKEN);
    taken[TAKEN - 1] = 1;
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        print_dumped();
        if (argc > 1)
            raise(SIGSEGV);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
