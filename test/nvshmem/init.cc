/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for NVSHMEM that starts as its users do: `init FILE RANK N` by a unique id, which rank 0 writes to FILE and
 * the others read; `init` alone by a communicator of MPI, half of all processes each.
 */
#include <nvshmem.h>
#include <nvshmemx.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int inbox;

/* To the right, and a word from the left. */
static int ring(int rank, int n)
{
    int me = nvshmem_my_pe();

    if (me != rank || nvshmem_n_pes() != n)
        return 1;
    nvshmem_int_p(&inbox, 100 + me, (me + 1) % n);
    nvshmem_barrier_all();
    if (inbox != 100 + (me + n - 1) % n)
        return 2;
    printf("PE %d of %d: %d\n", me, n, inbox);
    nvshmem_finalize();
    return 0;
}

static int write_id(const char *file, const nvshmemx_uniqueid_t *id)
{
    char part[4096];
    FILE *out;

    snprintf(part, sizeof part, "%s.part", file);
    out = fopen(part, "wb");
    return !out || fwrite(id, sizeof *id, 1, out) != 1 || fclose(out) || rename(part, file);
}

static int read_id(const char *file, nvshmemx_uniqueid_t *id)
{
    FILE *in = NULL;

    for (int tries = 0; !in && tries < 1000; tries++) {
        in = fopen(file, "rb");
        if (!in)
            usleep(10000);
    }
    return !in || fread(id, sizeof *id, 1, in) != 1 || fclose(in);
}

static int by_id(const char *file, int rank, int n)
{
    nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
    nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;

    if (rank ? read_id(file, &id) : nvshmemx_get_uniqueid(&id) || write_id(file, &id))
        return 3;
    if (nvshmemx_set_attr_uniqueid_args(rank, n, &id, &attr) ||
        nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr))
        return 4;
    return ring(rank, n);
}

#ifdef WITH_MPI
/* As programs do: nothing of the attributes but the communicator is set. */
static int by_communicator(int *argc, char ***argv)
{
    nvshmemx_init_attr_t attr;
    MPI_Comm half;
    int rank, n, failed;

    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &n);
    memset(&attr, 0x5a, sizeof attr);
    attr.mpi_comm = &half;
    failed = nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attr) || ring(rank, n);
    MPI_Finalize();
    return failed;
}
#endif

int main(int argc, char **argv)
{
    if (argc == 4)
        return by_id(argv[1], atoi(argv[2]), atoi(argv[3]));
#ifdef WITH_MPI
    return by_communicator(&argc, &argv);
#else
    return 5;
#endif
}
