#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE that ends with status 0 has left, and the others go on: after shmem_finalize in whatever how, and before it; one that
# dies ends the job soon. Prints a table of statuses: by oshrun, by a unique id, by mpirun and by hydra, whoever is there.
# WSH_TEST_LONG=1: all manners, the first PE and the last one, 0, 3 and 30 s apart. slurm.sh has the same by srun.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"
. "$top_srcdir/test/launch/ends_lib.sh"
ends=$tap_dir/ends
cp "$(test_program test/launch/helper/ends)" "$ends" || exit 99
SHMEM_SYMMETRIC_SIZE=4M
export SHMEM_SYMMETRIC_SIZE
hydra=${WSH_TEST_HYDRA:-mpiexec.hydra}
mpirun_root=
[ "$(id -u)" != 0 ] || mpirun_root=--allow-run-as-root

local_() { timeout -k 2 "$ends_limit" "$oshrun" -n 3 "$ends" "$@"; }
two_hosts() { timeout -k 2 "$ends_limit" "$oshrun" -n 3 --nodes-emulated 2 "$ends" "$@"; }
tcp() { SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp local_ "$@"; }
# Jobs beside each other have a folder of sessions each (tap.sh).
mpirun_()
{
    mkdir "$tap_dir/mpi.$ends_number"
    # shellcheck disable=SC2086
    OMPI_MCA_orte_tmpdir_base=$tap_dir/mpi.$ends_number timeout -k 2 "$ends_limit" \
        mpirun --oversubscribe $mpirun_root -n 3 "$ends" "$@"
}
hydra_() { timeout -k 2 "$ends_limit" "$hydra" -n 3 "$ends" "$@"; }
# The third shmem_init of its processes.
mpirun_again() { ENDS_BEFORE=2 mpirun_ "$@"; }
hydra_again() { ENDS_BEFORE=2 hydra_ "$@"; }

# The status is the highest one of the PEs: 128 and the signal, then what the program gives, then the 1 of the others.
unique_id()
{
    pids= worst=0
    for rank in 2 1 0; do
        UID_FILE=$tap_dir/id.$ends_number RANK=$rank WORLD_SIZE=3 timeout -k 2 "$ends_limit" "$ends" "$@" &
        pids="$pids $!"
    done
    for pid in $pids; do
        wait "$pid"
        pid_status=$?
        [ $pid_status -le $worst ] || worst=$pid_status
    done
    return $worst
}

after="_exit+ quick_exit+ exec+"
for by in local_ two_hosts tcp; do
    ends_all $by "$after exit _exit" 137
done
ends_all unique_id "$after exit" 137
ends_row unique_id 1 _exit 0 20
ends_row unique_id good exit -1 3
for by in local_ two_hosts unique_id; do
    ends_row $by needs exit 0 3 barrier
    ends_row $by good exit 0 3 finalize
    ends_row $by good exit -1 0 finalize
done
for by in local_ tcp; do
    ends_row $by needs _exit 0 3 nb
    ends_row $by needs _exit -1 3 nbtest
done
ends_row tcp good _exit -1 8 # longer than the transport waits for a peer
ends_row tcp needs exit -1 3 put
ends_row tcp needs exit -1 3 get
if command -v mpirun >/dev/null; then
    ends_all mpirun_ "$after exit" 137
    ends_all mpirun_again "_exit+ exit" 137
else
    tap_skip "mpirun" "no mpirun on PATH"
fi
if command -v "$hydra" >/dev/null; then
    ends_all hydra_ "$after exit" 9 "3|9"
    ends_all hydra_again "_exit+ exit" 9 "3|9"
else
    tap_skip "hydra" "no mpiexec.hydra on PATH nor in WSH_TEST_HYDRA (Debian: mpich)"
fi
ends_judge

leftovers | grep processes >"$left_file"
tap_check "nothing is left" test ! -s "$left_file"
tap_done
