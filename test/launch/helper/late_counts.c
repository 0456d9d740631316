/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last PE dies. PE 0 destroys a counter before PE 1 puts with it once more and destroys it too: the next counter,
 * of the team of survivors, begins at 0 nevertheless, and there is room for all of them again.
 */
#include <shmemx.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t x = 7, y;

int main(void)
{
    shmemx_counter_t counter, *many;
    shmem_team_t team;
    size_t n = (size_t)atol(getenv("SHMEM_COUNTERS"));
    uint64_t begins;
    int me, npes;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    many = calloc(n, sizeof *many);
    if (!many || shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &counter))
        return 1;
    shmem_barrier_all();
    if (me == npes - 1)
        raise(SIGKILL);
    while (!shmemx_pe_failed(npes - 1))
        usleep(1000);
    if (me == 1) {
        usleep(300000);
        shmemx_putmem_counted_nbi(&y, &x, sizeof x, counter, 0);
        shmem_quiet();
    }
    if (!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &counter) ||
        shmemx_team_shrink(SHMEM_TEAM_WORLD, &team) || shmemx_counter_create(team, n, many))
        return 2;
    begins = shmemx_counter_fetch(many[0]);
    if (shmemx_counter_destroy(team, n, many))
        return 3;
    if (begins)
        printf("PE %d: a counter begins at %lu\n", me, (unsigned long)begins);
    else
        printf("PE %d went on\n", me);
    fflush(stdout);
    free(many);
    shmem_finalize();
    return begins ? 4 : 0;
}
