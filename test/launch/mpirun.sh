#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The same program runs under the system's mpirun and alone, and a job of mpirun ends when a PE does.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

run_job 10 "$course" hello
tap_check "alone" test "$status:$(cat "$out")" = "0:hello 0 of 1"
run_job 10 "$course" global 7
tap_check "alone: shmem_global_exit(7)" test "$status" = 7
run_job 10 env SLURM_STEP_NUM_TASKS=4 "$course" hello
tap_check "one of 4 srun tasks without PMIx or PMI" grep -q 'one of 4 processes started by srun.*srun --mpi=pmix' "$err"
run_job 10 env PMI_SIZE=3 "$course" hello
tap_check "one of 3 PMI processes without PMI_FD" grep -q 'one of 3 processes started by a PMI launcher' "$err"
run_job 10 env SLURM_NTASKS=8 SLURM_JOB_ID=1 "$course" hello
tap_check "in a batch script" test "$status" = 0
run_job 10 env SHMEM_BOOTSTRAP=pmix "$course" hello
tap_check "SHMEM_BOOTSTRAP=pmix without a launcher" grep -q 'SHMEM_BOOTSTRAP=pmix, but no launcher' "$err"
run_job 10 "$oshrun" -n 2 env SHMEM_BOOTSTRAP=single "$course" hello
tap_check "SHMEM_BOOTSTRAP=single: jobs of one PE" test "$status:$(grep -c '0 of 1' "$out")" = 0:2
run_job 10 "$oshrun" -n 2 env -u PMIX_NAMESPACE "$course" hello
tap_check "PMIX_NAMESPACE lost on the way" grep -q 'started by oshrun, but PMIX_NAMESPACE is not set' "$err"
run_job 10 env SHMEM_BOOTSTRAP=pmix "$oshrun" -n 1 "$course" hello
tap_check "one PE through PMIx" test "$status:$(cat "$out")" = "0:hello 0 of 1"

run_job 20 env SHMEM_DEBUG=info "$oshrun" -n 6 --nodes-emulated 2 env SHMEM_OSHRUN_FILE= "$course" hello
grep -o "addresses of this host's .*" "$err" | tap_comment
tap_check "PMIx without oshrun's file: one PE of each emulated host publishes for all" \
    test "$status:$(grep -c "addresses of this host's 3 PEs: [0-9]* bytes, of [0-9]*" "$err")" = 0:2

# PE 0 dies, whose process made the id of the root; Open MPI's own lines say so too.
mpi_survives()
{
    cp "$(test_program test/launch/helper/survive)" "$course.survive" || exit 99
    run_job 40 env SHMEM_ON_PE_FAILURE=continue SHMEM_SYMMETRIC_SIZE=4M $mpi --enable-recovery -n 3 "$course.survive" kill 0 sum
    tap_check "mpirun --enable-recovery: PE 0 dies, and the others go on" \
        test "$(grep -c 'went on' "$out"):$(grep -c 'PE 0 (.*) has failed: its process has ended; the others go on' "$err")" = 2:1
}

command -v mpirun >/dev/null || { tap_skip "mpirun" "no mpirun on PATH"; tap_done; }
mpi="mpirun --oversubscribe"
[ "$(id -u)" != 0 ] || mpi="$mpi --allow-run-as-root"
# shellcheck disable=SC2086
{
    run_job 30 $mpi -n 4 "$course" hello
    tap_check "mpirun -n 4" test "$status:$(grep -c 'of 4$' "$out")" = 0:4
    run_job 30 $mpi -n 3 "$course" again 5
    tap_check "mpirun, shmem_init 6 times" test "$status:$(grep -c 'of 3$' "$out")" = 0:3
    run_job 30 env SHMEM_DEBUG=info $mpi -n 4 "$course" hello
    grep -o "addresses of this host's .*" "$err" | tap_comment
    tap_check "mpirun -n 4: one PE publishes for all" \
        test "$status:$(grep -c "addresses of this host's 4 PEs: [0-9]* bytes, of [0-9]*" "$err")" = 0:1
    run_job 30 $mpi -n 4 "$course" global 7
    tap_check "mpirun, shmem_global_exit(7)" test "$status" = 7
    run_job 30 $mpi -n 4 "$course" raise 9
    tap_check "mpirun, kill -9" test "$status" = 137
    run_job 30 $mpi -n 4 "$course" exit 3
    tap_check "mpirun, exit(3)" test "$status" = 3
    mpi_survives
}
leftovers | grep processes >"$left_file"
tap_check "nothing is left" test ! -s "$left_file"
run_job 30 env OSHRUN_LAUNCHER=mpirun "$oshrun" --tag-output -x WSH_A=1 -n 2 "$course" hello
tap_check "oshrun through the real mpirun" test "$status:$(grep -c 'hello [01] of 2$' "$out")" = 0:2
tap_done
