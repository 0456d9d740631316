#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Inside a job of whatever launcher, oshrun refuses with a line that says how to go on.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

refused()
{
    ended "$1" "${3:-2}" "already inside a job started by .* \($2 is set\); call the program itself there, or unset $2"
}

run_inside()
{
    : >"$tap_dir/start"
    limit_ms=5000 took=0
    : >"$left_file"
    env "$1" timeout 10 "$oshrun" -n 2 "$course" hello >"$out" 2>"$err" </dev/null
    status=$?
}

run_inside OMPI_COMM_WORLD_RANK=0
refused "inside mpirun" OMPI_COMM_WORLD_RANK
run_inside SLURM_STEP_ID=0
refused "inside a Slurm step" SLURM_STEP_ID
run_inside PMIX_RANK=1
refused "inside a PMIx job" PMIX_RANK
run_inside PMI_RANK=1
refused "inside a PMI job" PMI_RANK
run_inside SLURM_STEP_ID=4294967290
tap_check "the shell of salloc is no step" test "$status" = 0
run_inside SLURM_STEP_ID=4294967291
tap_check "a batch script is no step" test "$status" = 0

run_job 10 "$oshrun" -n 1 "$oshrun" -n 2 "$course" hello
grep -c 'already inside a job started by oshrun (SHMEM_OSHRUN_PID is set)' "$err" >"$tap_dir/count"
tap_check "oshrun inside oshrun" test "$status:$(cat "$tap_dir/count")" = 2:1
if command -v mpirun >/dev/null; then
    run_job 20 mpirun --allow-run-as-root -n 1 "$oshrun" -n 2 "$course" hello
    tap_check "oshrun inside the real mpirun" grep -q 'already inside a job started by mpirun' "$err"
else
    tap_skip "oshrun inside the real mpirun" "no mpirun on PATH"
fi
run_job 10 "$oshrun" -n 1 env -u SHMEM_OSHRUN_PID "$oshrun" -n 2 "$course" hello
tap_check "the cure works" test "$status:$(grep -c hello "$out")" = 0:2
tap_done
