/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every PE starts, knows its number and the number of PEs, and reaches every other one.
 * paths: local:1,2,4,8,16 tcp:4 efa:2 shm:2 mixed:4 mixedshm:4 single mpirun:4
 * long paths: tcp:2,8,16 efa:8 shm:4,8 mixed:2,8
 */
#include "test/common/mp.h"

#include <stdlib.h>
#include <string.h>

static void check_version(void)
{
    char name[SHMEM_MAX_NAME_LEN];
    int major = 0, minor = 0;

    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    mp_check(major == 1 && minor == 6, "version %d.%d, not 1.6", major, minor);
    mp_check(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION, "header is of another version");
    mp_check(strlen(name) > 0, "no name");
}

static void check_reach(void)
{
    long *seen = mp_alloc(sizeof *seen * (size_t)mp_npes);

    for (int pe = 0; pe < mp_npes; pe++) {
        mp_check(shmem_pe_accessible(pe), "PE %d is not accessible", pe);
        shmem_long_atomic_inc(&seen[mp_me], pe);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < mp_npes; pe++)
        mp_check(seen[pe] == 1, "PE %d came here %ld times", pe, seen[pe]);
    shmem_free(seen);
}

int main(void)
{
    const char *expected = getenv("WSH_TEST_PES");

    mp_begin();
    mp_check(mp_me >= 0 && mp_me < mp_npes, "PE %d of %d", mp_me, mp_npes);
    mp_check(!expected || atoi(expected) == mp_npes, "%d PEs, not %s", mp_npes, expected);
    mp_check(!shmem_pe_accessible(mp_npes) && !shmem_pe_accessible(-1), "PEs out of range are accessible");
    check_version();
    check_reach();
    return mp_end();
}
