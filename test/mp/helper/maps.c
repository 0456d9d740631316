/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses every kind of operation once, then prints the libraries that are mapped; for libfabric_not_loaded.sh. */
#include "test/common/mp.h"

#include <stdio.h>
#include <string.h>

static void print_libraries(void)
{
    char line[1024];
    FILE *maps = fopen("/proc/self/maps", "r");

    while (maps && fgets(line, sizeof line, maps)) {
        const char *path = strchr(line, '/');

        if (path && strstr(path, ".so"))
            printf("PE %d: %s", mp_me, path);
    }
    if (maps)
        fclose(maps);
}

int main(void)
{
    long *word;
    uint64_t *signal;

    mp_begin();
    word = mp_alloc(sizeof *word);
    signal = mp_alloc(sizeof *signal);
    shmem_long_p(word, 1, mp_right());
    shmem_fence();
    shmem_long_atomic_inc(word, mp_right());
    shmem_long_put_signal(word, word, 1, signal, 1, SHMEM_SIGNAL_SET, mp_right());
    shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 1);
    shmem_barrier_all();
    print_libraries();
    return mp_end();
}
