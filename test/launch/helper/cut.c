/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut SECONDS: the upper half of the PEs, whose host is about to be cut off, only writes to the lower half, without an
 * end. The lower half notices, shrinks the world, clears what was written, and checks SECONDS later that it still is.
 */
#include "test/launch/helper/by_uid.h"

#include <string.h>

enum { N = 1 << 14, PES = 16, AT_ONCE = 32 };
static long written[PES][N], src[N], sum, one = 1;

static void write_for_ever(int me, int n)
{
    for (long round = 1;; round++) {
        for (int i = 0; i < N; i++)
            src[i] = round;
        for (int i = 0; i < AT_ONCE; i++)
            shmem_long_put_nbi(written[me], src, N, i % (n / 2));
        shmem_quiet();
    }
}

static int check(int n, double seconds)
{
    long wrong = 0;

    memset(written, 0, sizeof written);
    shmem_barrier_all();
    usleep((useconds_t)(1e6 * seconds));
    for (int pe = n / 2; pe < n; pe++)
        for (int i = 0; i < N; i++)
            wrong += written[pe][i] != 0;
    if (wrong)
        fprintf(stderr, "PE %d: %ld words written after the shrink\n", shmem_my_pe(), wrong);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    shmem_team_t team;
    int me, n, rc = 0;

    if (argc < 2)
        return 99;
    start();
    me = shmem_my_pe();
    n = shmem_n_pes();
    shmem_barrier_all();
    printf("ready %d\n", me);
    fflush(stdout);
    if (me >= n / 2)
        write_for_ever(me, n);
    while (!rc)
        rc = shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
    while (shmemx_failed_pes(NULL, 0) < n - n / 2)
        usleep(1000);
    if (shmemx_team_shrink(SHMEM_TEAM_WORLD, &team) || shmem_team_n_pes(team) != n / 2)
        return 97;
    rc = check(n, atof(argv[1]));
    if (!rc)
        printf("PE %d went on\n", me);
    shmem_finalize();
    return rc;
}
