/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start by an MPI communicator, with nothing of the attributes set but it: half of the processes each.
 * paths: mpirun:2,4
 * timeout: 120
 */
#include "program.cuh"

#include <mpi.h>

int main(int argc, char **argv)
{
    nvshmemx_init_attr_t attr;
    MPI_Comm half;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    memset(&attr, 0x5a, sizeof attr);
    attr.mpi_comm = &half;
    CHECK(!nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attr));
    look_around_host();
    CHECK(me == rank && n == size);
    CHECK(!nvshmem_team_sync(NVSHMEM_TEAM_WORLD) && !nvshmem_barrier(NVSHMEM_TEAM_WORLD));
    finish_host();
    MPI_Finalize();
    return 0;
}
