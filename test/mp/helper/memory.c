/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses each kind of operation with every PE, so many times (default 100), then prints the private memory of each PE but
 * its heap, in KiB.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS "100"
#define BYTES 8192

static char source[BYTES];

static void use_all(char *dest, long *words, int rounds)
{
    int me = shmem_my_pe(), n_pes = shmem_n_pes();

    for (int i = 0; i < rounds; i++) {
        int pe = (me + 1 + i) % n_pes;

        shmem_putmem_nbi(dest, source, sizeof source, pe);
        shmem_long_atomic_add(&words[0], 1, pe);
        shmem_long_atomic_fetch_add(&words[1], 1, pe);
        shmem_getmem(source, dest, sizeof source, pe);
        shmem_barrier_all();
    }
}

/* What is mapped with a name of the heap's is the user's own. */
static long private_kib(void)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    long sum = 0, kib;
    int heap = 0;

    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "Private_Dirty: %ld", &kib) == 1 || sscanf(line, "Private_Clean: %ld", &kib) == 1)
            sum += heap ? 0 : kib;
        else if (strstr(line, "-") && !strstr(line, " kB"))
            heap = strstr(line, "warpshmem-heap") != NULL;
    }
    if (maps)
        fclose(maps);
    return sum;
}

int main(int argc, char **argv)
{
    char *dest;
    long *words;

    shmem_init();
    dest = shmem_malloc(BYTES);
    words = shmem_calloc(2, sizeof *words);
    use_all(dest, words, atoi(argc > 1 ? argv[1] : ROUNDS));
    printf("%ld\n", private_kib());
    shmem_finalize();
    return 0;
}
