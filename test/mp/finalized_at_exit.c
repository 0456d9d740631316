/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that returns 0 from main without shmem_finalize ends well: what it has begun is complete, its exit handlers
 * still use the library, whenever they were registered, and its forked children disturb nothing.
 * paths: local:1,2,4 tcp:2 efa:2 mixed:4 split:2 single mpirun:2
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 100000

static char here[BYTES];
static int me, npes;

/* Registered before shmem_init, so that no handler of the library can come after it. */
static void last_handler(void)
{
    static long calls;

    if (!shmem_n_pes() || shmem_my_pe() != me)
        _exit(4);
    shmem_long_atomic_inc(&calls, me);
    shmem_barrier_all();
    if (calls != 1)
        _exit(5);
}

static void fork_child(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    waitpid(child, &status, 0);
    if (status)
        exit(6);
}

int main(void)
{
    char *there;

    atexit(last_handler);
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    there = shmem_malloc(BYTES);
    fork_child();
    memset(here, me + 1, BYTES);
    shmem_barrier_all();
    shmem_putmem_nbi(there, here, BYTES, (me + 1) % npes);
    return 0;
}
