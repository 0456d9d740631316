#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A call of the CUDA driver that does not return is named, with the thread that is in it: where that is a proxy thread or
# the progress thread one line ends the job, which leaves nothing behind; where it is the program's own, the hang reporter
# says it, as the report of another thread's wait does, and the program goes on when the call returns.
# timeout: 200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
calls=$(test_program test/mp/helper/cuda_call)
[ -f "$top_builddir/transports/nvlink/agent_image.lo" ] || tap_skip_all "built without nvcc: no device memory"
LD_LIBRARY_PATH=$top_builddir/test/fake_cuda:${LD_LIBRARY_PATH:-}
SHMEM_DEVICE_SYMMETRIC_SIZE=16M SHMEM_LIBFABRIC_PROVIDER=tcp SHMEM_HANG_SECONDS=2 FAKE_CUDA_BLOCK=cuMemcpyAsync=$tap_dir/blocked
export LD_LIBRARY_PATH SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_LIBFABRIC_PROVIDER SHMEM_HANG_SECONDS FAKE_CUDA_BLOCK

# run [NAME=VALUE…] OSHRUN… HOW
run()
{
    rm -f "$tap_dir/blocked"
    run_job 30 env "$@" "$tap_dir/blocked"
}

# ends NAME PATTERN
ends()
{
    tap_check "$1: the job ends" test "$status" = 1
    tap_check "$1: one line names thread and call, with the cure" sh -c "[ \"\$(grep -c 'job ends' '$err')\" = 1 ] &&
        grep -q 'PE 0 .*$2.*CUDA_MODULE_LOADING=EAGER; the job ends; SHMEM_HANG_SECONDS' '$err'"
    tap_check "$1: no process is left" sh -c "! pgrep -f '^$calls .*$tap_dir'"
    tap_comment "$err"
}

# goes_on NAME PATTERN
goes_on()
{
    tap_check "$1: the program goes on" sh -c "[ $status = 0 ] && [ \$(grep -c 'the end' '$out') = 2 ]"
    tap_check "$1: the report names thread and call" grep -q "PE 0 .*$2" "$err"
    tap_comment "$err"
}

run SHMEM_PROXY=on SHMEM_PROGRESS=call "$oshrun" --nodes-emulated 2 -n 2 "$calls" served
ends "a proxy thread" 'proxy thread 0 (thread id [0-9]*), .*has not run for 2.*: it is in cuMemcpyAsync, which does not return'
run SHMEM_PROXY=off "$oshrun" --nodes-emulated 2 -n 2 "$calls" served
ends "the progress thread" 'not been served for 2.*(the progress thread) is in cuMemcpyAsync, which does not return'
run "$oshrun" -n 2 "$calls" program
goes_on "the program's thread" 'thread id [0-9]* (of the program) is in cuMemcpyAsync, which does not return'
run "$oshrun" -n 2 "$calls" beside
goes_on "beside a wait" 'shmem_int_wait_until has waited 2.*; thread id [0-9]* (of the program) is in cuMemcpyAsync'
tap_done
