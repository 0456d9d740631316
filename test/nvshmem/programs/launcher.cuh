/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank and size as whoever started the processes says them, and a unique id handed round by a file: what programs do
 * that start by torchrun, mpirun or a script of their own.
 */
#ifndef LAUNCHER_CUH
#define LAUNCHER_CUH

#include "program.cuh"

#include <unistd.h>

static inline int number_of(const char *const *names)
{
    for (; *names; names++)
        if (getenv(*names))
            return atoi(getenv(*names));
    printf("skip: nothing says the number of the process\n");
    exit(77);
}

static inline int launch_rank(void)
{
    static const char *const names[] = {"RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", NULL};

    return number_of(names);
}

static inline int launch_size(void)
{
    static const char *const names[] = {"WORLD_SIZE", "WSH_TEST_PES", "PMI_SIZE", "SLURM_NTASKS", NULL};

    return number_of(names);
}

/* Rank 0 writes it, the others wait for it. Processes of one parent. */
static inline void share_id(nvshmemx_uniqueid_t *id, int rank, int round)
{
    char name[200], part[220];
    FILE *file = NULL;

    snprintf(name, sizeof name, "/tmp/nvshmem-id.%d.%d", (int)getppid(), round);
    snprintf(part, sizeof part, "%s.part", name);
    if (rank == 0) {
        file = fopen(part, "wb");
        CHECK(file && fwrite(id, sizeof *id, 1, file) == 1 && !fclose(file) && !rename(part, name));
        return;
    }
    for (int tries = 0; !file && tries < 3000; tries++) {
        file = fopen(name, "rb");
        if (!file)
            usleep(10000);
    }
    CHECK(file && fread(id, sizeof *id, 1, file) == 1 && !fclose(file));
}

static inline void forget_id(int rank, int round)
{
    char name[200];

    snprintf(name, sizeof name, "/tmp/nvshmem-id.%d.%d", (int)getppid(), round);
    if (rank == 0)
        unlink(name);
}

static inline void init_by_id(int rank, int size, int round)
{
    nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
    nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;

    if (rank == 0)
        CHECK(!nvshmemx_get_uniqueid(&id));
    share_id(&id, rank, round);
    CHECK(!nvshmemx_set_attr_uniqueid_args(rank, size, &id, &attr));
    CHECK(!nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr));
    CHECK(nvshmem_my_pe() == rank && nvshmem_n_pes() == size);
}

#endif
