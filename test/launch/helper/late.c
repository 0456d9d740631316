/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late ROUNDS [killed]: barriers and puts around a ring, in which PE 2 comes LATE_MS (5) ms late each time; then, with
 * the word, PE 1 kills itself. For statistics.sh.
 */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const long ms = getenv("LATE_MS") ? atol(getenv("LATE_MS")) : 5;
    const struct timespec late = {0, ms * 1000000};
    int rounds = argc > 1 ? atoi(argv[1]) : 20, me;
    static char there[4096], here[4096];

    shmem_init();
    me = shmem_my_pe();
    printf("PE %d is %d\n", me, (int)getpid());
    fflush(stdout);
    for (int i = 0; i < rounds; i++) {
        if (me == 2)
            nanosleep(&late, NULL);
        shmem_putmem(there, here, sizeof here, (me + 1) % shmem_n_pes());
        shmem_barrier_all();
    }
    if (argc > 2 && !strcmp(argv[2], "killed") && me == 1)
        raise(SIGKILL);
    shmem_finalize();
    return 0;
}
