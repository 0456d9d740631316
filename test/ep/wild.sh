#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE that writes wild bytes into others' memory of expert parallelism: the job ends with a line that names a PE, the
# results are wrong, or a PE waits for what does not come and says so. No PE ends by a signal.
# timeout: 200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
wild=$(test_program test/ep/wild)
seeds="22 32"
[ "${WSH_TEST_LONG:-0}" = 0 ] || seeds=$(seq 1 100)

# wild NAME OPTION…
wild()
{
    name=$1
    shift
    for mode in low high; do
        good=0 faults=0 waits=0
        for seed in $seeds; do
            run_job 10 env SHMEM_HANG_SECONDS=3 SHMEM_SYMMETRIC_SIZE=64M WSH_TEST_SEED="$seed" SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" "$@" "$wild" $mode
            case $status in
                0) good=$((good + 1)) ;;
                1) grep -q "shmemx_ep_.*PE [0-9]* has sent" "$err" || break
                    faults=$((faults + 1)) ;;
                124) grep -q "has waited" "$err" || break
                    waits=$((waits + 1)) ;;
                *) break ;;
            esac
        done
        tap_check "$name, $mode: $faults jobs ended with a line, $good went on, $waits waited" \
            test $((good + faults + waits)) = "$(echo $seeds | wc -w)"
    done
}

WSH_TEST_PATH=local
export WSH_TEST_PATH
wild "one host" -n 3
WSH_TEST_PATH=mixed
wild "two hosts" --nodes-emulated 2 -n 4
tap_done
