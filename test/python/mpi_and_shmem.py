# SPDX-License-Identifier: BSD-3-Clause
"""One job of MPI and OpenSHMEM, for shmem4py.sh: mpi_and_shmem.py mpi|shmem, whichever starts first."""
import sys

import numpy as np

if sys.argv[1] == "mpi":
    from mpi4py import MPI

    print(MPI.Get_library_version().split(",")[0], flush=True)
    from shmem4py import shmem
else:
    from shmem4py import shmem
    from mpi4py import MPI

ROUNDS = 100


def main() -> None:
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    assert (shmem.my_pe(), shmem.n_pes()) == (rank, size), (shmem.my_pe(), shmem.n_pes(), rank, size)
    left, right = (rank - 1) % size, (rank + 1) % size
    dest = shmem.full(4, -1, "l")
    for i in range(ROUNDS):
        shmem.barrier_all()
        shmem.put(dest, np.full(4, rank + i, "l"), right)
        shmem.barrier_all()
        assert (dest == left + i).all(), (i, dest)
        assert comm.allreduce(int(dest[0])) == size * (size - 1) // 2 + size * i
    # Symmetric memory is memory to MPI.
    comm.Sendrecv_replace(dest, right, source=left)
    assert dest[0] == (left - 1) % size + ROUNDS - 1, dest
    shmem.barrier_all()
    shmem.free(dest)
    sys.stdout.write(f"ok {rank}\n")


main()
