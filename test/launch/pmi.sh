#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs through PMI-1 and PMI-2: under a server of the test, which also misbehaves, and under hydra where there is one.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

server="python3 $top_srcdir/test/launch/helper/pmi_server.py"

# served PES VERSION MODE COURSE…: the course under the test's server.
served()
{
    served_pes=$1 served_version=$2 served_mode=$3
    shift 3
    # shellcheck disable=SC2086
    run_job 30 $server -n "$served_pes" --version "$served_version" --mode "$served_mode" "$course" "$@"
}

# joined PES NAME: all said hello, the job ended well, and nobody complained.
joined()
{
    tap_check "$2" test "$status:$(grep -c "^hello [0-9]* of $1\$" "$out"):$(grep -c '^warpshmem: ' "$err")" = "0:$1:0"
}

# failed PES NAME TEXT: each PE wrote one line, with TEXT, and ended with 1.
failed()
{
    tap_check "$2" test "$status:$(grep -c '^warpshmem: ' "$err"):$(grep -cE "^warpshmem: .*$3" "$err")" = "1:$1:$1"
}

both_versions()
{
    for version in 1 2; do
        for pes in 1 2 4 16; do
            served $pes $version good hello
            joined $pes "PMI-$version, $pes PEs"
        done
        served 3 $version good again 5
        joined 3 "PMI-$version, shmem_init 6 times"
        served 3 $version good global 7
        tap_check "PMI-$version, shmem_global_exit(7)" test "$status" = 7
        for mode in other nohosts badhosts twohosts; do
            served 4 $version $mode again 1
            joined 4 "PMI-$version, the server's mode '$mode'"
        done
    done
    served 4 1 small hello
    joined 4 "PMI-1, values of 63 characters"
    served 4 2 lazy again 5
    joined 4 "PMI-2, fences that do not wait"
}

misbehaving()
{
    for version in 1 2; do
        for mode in closes cut; do
            served 2 $version $mode hello
            failed 2 "PMI-$version, the server's mode '$mode'" 'lost the connection to the launcher'
        done
        served 2 $version garbage hello
        failed 2 "PMI-$version, garbage" "PMI-$version: .* is not an answer to it: '"
        served 2 $version long hello
        failed 2 "PMI-$version, an answer without end" "PMI-$version: .* is longer than the protocol allows"
        served 2 $version refuses hello
        failed 2 "PMI-$version, a refusal" "PMI-$version: .* is a refusal: "
        served 2 $version wrong hello
        failed 2 "PMI-$version, rank or limits that cannot be" "PMI-$version: .* is not what PMI_RANK and PMI_SIZE say"
        served 2 $version damaged hello
        failed 2 "PMI-$version, values changed" 'published something else in round .*through PMI'
    done
    # shellcheck disable=SC2086
    run_job 8 env SHMEM_HANG_SECONDS=1 $server -n 2 --mode silent "$course" hello
    tap_check "no answer: said each second" grep -q "waiting for the launcher's answer to 'get' since 2 s" "$err"
    tap_check "no answer: the PEs end with the server" test "$(leftovers | grep -c processes)" = 0
}

# The server is killed while the job runs: nobody else would end the PEs.
killed_server()
{
    : >"$out"
    # shellcheck disable=SC2086
    $server -n 4 --version "$1" "$course" wait >"$out" 2>"$err" </dev/null &
    job=$!
    for _ in $(seq 500); do
        [ "$(grep -c ready "$out")" -ge 4 ] && break
        sleep 0.02
    done
    kill -9 $job
    wait $job 2>/dev/null
    status=$?
    tap_check "PMI-$1, the server is killed: no PE stays" test -z "$(leftovers | grep processes)"
    tap_check "PMI-$1, the server is killed: a line of each PE" test "$(grep -c 'lost the connection to the launcher' "$err")" = 4
}

environment()
{
    run_job 10 env SHMEM_BOOTSTRAP=pmi "$course" hello
    failed 1 "SHMEM_BOOTSTRAP=pmi without a launcher" 'SHMEM_BOOTSTRAP=pmi, but PMI_FD is not set'
    run_job 10 env PMI_PORT=host:1234 PMI_ID=0 "$course" hello
    failed 1 "PMI_PORT" 'through PMI_PORT only'
    for fd in 99 0; do
        run_job 10 env PMI_FD=$fd PMI_RANK=0 PMI_SIZE=2 "$course" hello
        failed 1 "PMI_FD=$fd, no socket" "PMI_FD=$fd is not the launcher's socket"
    done
    run_job 10 env PMI_FD=1x PMI_RANK=0 PMI_SIZE=2 "$course" hello
    failed 1 "PMI_FD=1x" "PMI_FD='1x' is not a number"
    run_job 10 env PMI_FD=0 PMI_RANK=2 PMI_SIZE=2 "$course" hello
    failed 1 "PMI_RANK=2 of 2" "PMI_RANK='2' is not a number from 0 to 1"
    run_job 10 env PMI_FD=0 PMI_RANK=0 PMI_SIZE=2 SHMEM_BOOTSTRAP=single "$course" hello
    tap_check "SHMEM_BOOTSTRAP=single" test "$status:$(cat "$out")" = "0:hello 0 of 1"
    # shellcheck disable=SC2086
    run_job 30 $server -n 1 env -u PMI_RANK "$oshrun" -n 3 "$course" hello
    joined 3 "oshrun below a PMI launcher starts a job of its own"
}

# A hydra that is not on PATH as mpiexec.hydra is named by WSH_TEST_HYDRA.
real_hydra()
{
    hydra=${WSH_TEST_HYDRA:-mpiexec.hydra}
    command -v "$hydra" >/dev/null || { tap_skip "hydra" "no mpiexec.hydra on PATH nor in WSH_TEST_HYDRA (Debian: mpich)"; return; }
    for pes in 1 2 4 16; do
        run_job 30 "$hydra" -n $pes "$course" hello
        joined $pes "hydra, $pes PEs"
    done
    run_job 30 "$hydra" -n 3 "$course" again 5
    joined 3 "hydra, shmem_init 6 times"
    run_job 30 "$hydra" -n 3 env -u HYDI_CONTROL_FD PMI_JOBID=x "$course" again 5
    joined 3 "hydra by PMI-2, shmem_init 6 times"
    run_job 30 "$hydra" -n 4 "$course" global 7
    tap_check "hydra, shmem_global_exit(7)" test "$status" = 7
    for course_word in "raise 9" "exit 3"; do
        # shellcheck disable=SC2086
        run_job 30 "$hydra" -n 4 "$course" $course_word
        tap_check "hydra, $course_word: the job ends" test "$status" != 0 -a "$status" != 124
        tap_check "hydra, $course_word: no line of ours is added" test "$(grep -c '^warpshmem: ' "$err")" = 0
    done
}

if command -v python3 >/dev/null; then
    both_versions
    misbehaving
    killed_server 1
    killed_server 2
    environment
else
    tap_skip "the test's server" "no python3"
fi
real_hydra
leftovers | grep processes >"$left_file"
tap_check "nothing is left" test ! -s "$left_file"
tap_done
