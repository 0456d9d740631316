#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What happens to kernels' requests when something goes wrong: a proxy thread that has ended or does not run ends the
# job with one line that names it, and so does a source that is no memory of the PE; a full ring waits and loses
# nothing; what a kernel has left behind at its end is executed before the next barrier, and before shmem_finalize.
# SIGUSR1 makes a proxy thread print what it has to do.
# timeout: 200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
fault=$(test_program test/mp/helper/proxy_fault)
[ -f "$top_builddir/transports/nvlink/agent_image.lo" ] || tap_skip_all "built without nvcc: no device memory"
LD_LIBRARY_PATH=$top_builddir/test/fake_cuda:${LD_LIBRARY_PATH:-}
SHMEM_DEVICE_SYMMETRIC_SIZE=16M SHMEM_LIBFABRIC_PROVIDER=tcp SHMEM_PROXY_RINGS=1
export LD_LIBRARY_PATH SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_LIBFABRIC_PROVIDER SHMEM_PROXY_RINGS

# ends NAME LINE: the job ends with status 1 and one such line.
ends()
{
    run_job 30 "$oshrun" --nodes-emulated 2 -n 2 "$fault" "$1"
    tap_check "$1: the job ends" test "$status" = 1
    tap_check "$1: one line" test "$(grep -c "$2" "$err")" = 1
    tap_comment "$err"
}

ends ended 'PE 0 .*proxy thread 0.* has ended before shmem_finalize'
ends source 'PE 0 .*zero-copy put or get of device code: 8 bytes at 0x[0-9a-f]*, in no memory that the proxy may use'
SHMEM_HANG_SECONDS=2
export SHMEM_HANG_SECONDS
ends stopped 'PE 0 .*proxy thread 0.* has not run for 2'
SHMEM_HANG_SECONDS=20

run_job 60 "$oshrun" --nodes-emulated 2 -n 2 "$fault" full
tap_check "a full ring: all arrives" sh -c "[ $status = 0 ] && grep -q 'full: 12288 of 12288' '$out'"
run_job 60 "$oshrun" --nodes-emulated 2 -n 2 "$fault" exit
tap_check "a kernel that does not wait: the barrier does" sh -c \
    "[ $status = 0 ] && grep -q 'exit: 12288 of 12288' '$out'"
SHMEM_DEBUG=info,PROXY
export SHMEM_DEBUG
run_job 60 "$oshrun" --nodes-emulated 2 -n 2 "$fault" finalize
tap_check "shmem_finalize: all is executed before" sh -c "[ $status = 0 ] && grep -q 'took 1228[89] records' '$err'"
unset SHMEM_DEBUG

"$oshrun" --nodes-emulated 2 -n 2 "$fault" stopped >"$out" 2>"$err" &
job=$!
sleep 3
kill -USR1 $job
sleep 1
kill -TERM $job
wait $job
tap_check "SIGUSR1: the other PE's proxy thread tells" grep -q 'PE 1 .*proxy thread 0 of 1: .* records' "$err"
tap_done
