/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of MPI whose PEs are the processes of one of its communicators; the argument says which, or a mistake. */
#include <mpi.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long from_left;

static void start(void *comm)
{
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;

    attr.mpi_comm = comm;
    if (shmemx_init_attr(SHMEMX_INIT_WITH_MPI_COMM, &attr))
        exit(3);
}

/* Each PE puts to its right; what comes from the left says which world, whose PEs are alone, and which PE that was. */
static void ring(int world, int turn)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    long *heap = shmem_malloc(sizeof *heap);

    *heap = from_left = -1;
    shmem_barrier_all();
    shmem_long_p(&from_left, 1000 * world + me, (me + 1) % n);
    shmem_long_p(heap, 1000 * world + me, (me + 1) % n);
    shmem_barrier_all();
    printf("turn %d world %d: PE %d of %d got %ld and %ld\n", turn, world, me, n, from_left, *heap);
    fflush(stdout);
    shmem_free(heap);
}

/* Processes with the same `world` are a job of their own, numbered backwards where `back`. */
static void join(int world, int back, int turn)
{
    MPI_Comm comm;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, world, back ? -rank : rank, &comm);
    start(&comm);
    MPI_Comm_free(&comm); /* the job has its own */
    ring(world, turn);
    shmem_finalize();
}

static void take(const char *course, int rank)
{
    MPI_Comm none = MPI_COMM_NULL, world = MPI_COMM_WORLD;

    if (!strcmp(course, "world"))
        join(0, 0, 0);
    if (!strcmp(course, "split"))
        join(rank / 2, 0, 0);
    if (!strcmp(course, "turns"))
        for (int turn = 0; turn < 4; turn++)
            join(turn % 2 ? rank % 2 : 0, turn > 1, turn);
    if (!strcmp(course, "null"))
        start(&none);
    if (!strcmp(course, "nothing"))
        start(NULL);
    if (!strcmp(course, "global")) {
        start(&world);
        if (shmem_my_pe() == 1)
            shmem_global_exit(7);
        shmem_barrier_all();
        shmem_finalize();
    }
    if (!strcmp(course, "late"))
        start(&world);
}

int main(int argc, char **argv)
{
    const char *course = argc > 1 ? argv[1] : "world";
    MPI_Comm world = MPI_COMM_WORLD;
    int rank;

    if (!strcmp(course, "uninitialized"))
        start(&world);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    take(course, rank);
    MPI_Finalize();
    if (!strcmp(course, "late"))
        shmem_finalize();
    if (!strcmp(course, "finalized"))
        start(&world);
    return 0;
}
