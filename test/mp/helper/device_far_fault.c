/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory of another host when something is wrong: `put` only puts there; `full` first leaves no room in the host
 * heap, then some; `stopped` puts to a PE that stands still for two seconds; `killed` to one that dies.
 */
#include <shmemx.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEN = 4 << 20 };

/* The whole heap in pieces; the last ones may be small. */
static void **fill_heap(int *n)
{
    void **pieces = calloc(4096, sizeof *pieces);

    *n = 0;
    for (size_t size = 16 << 20; size >= 4096; size /= 2)
        while (*n < 4096 && (pieces[*n] = shmem_malloc(size)))
            ++*n;
    return pieces;
}

static int run_full(void)
{
    int n;
    void **pieces = fill_heap(&n), *memory = shmemx_malloc_device(64);

    printf("PE %d without room: %s\n", shmem_my_pe(), memory ? "memory" : "NULL");
    while (n)
        shmem_free(pieces[--n]);
    free(pieces);
    memory = shmemx_malloc_device(64);
    printf("PE %d with room: %s\n", shmem_my_pe(), memory ? "memory" : "NULL");
    shmem_finalize();
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "put";
    char *memory, *source = calloc(1, LEN);

    shmem_init();
    if (!strcmp(how, "full"))
        return run_full();
    memory = shmemx_malloc_device(LEN);
    if (!memory)
        return 2;
    shmem_barrier_all();
    if (shmem_my_pe() == 1 && !strcmp(how, "killed"))
        raise(SIGKILL);
    if (shmem_my_pe() == 1 && !strcmp(how, "stopped")) {
        if (!fork()) {
            sleep(2);
            kill(getppid(), SIGCONT);
            _exit(0);
        }
        raise(SIGSTOP);
    }
    if (shmem_my_pe() == 0)
        for (int i = 0; i < 10; i++) {
            shmem_putmem(memory, source, LEN, 1);
            shmem_quiet();
        }
    shmem_finalize();
    puts("the end");
    return 0;
}
