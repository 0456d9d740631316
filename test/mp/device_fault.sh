#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A kernel that was refused ends the job with one line, also when the host program does not look at CUDA's error and all
# the others have already come to where it goes next.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
fault=$(test_program test/mp/helper/device_fault)
LD_LIBRARY_PATH=$top_builddir/test/fake_cuda:$LD_LIBRARY_PATH
SHMEM_DEVICE_SYMMETRIC_SIZE=16M
export LD_LIBRARY_PATH SHMEM_DEVICE_SYMMETRIC_SIZE

# ends NAME WORDS…: options of oshrun and the program's argument
ends()
{
    name=$1
    shift
    run_job 10 "$oshrun" -n 2 "$@"
    if [ "$status" = 77 ]; then
        tap_skip "$name" "built without device memory"
        return
    fi
    tap_check "$name: exit status 1" test "$status" = 1
    tap_check "$name: one line" test "$(cat "$out" "$err" | grep -c 'shmem_int_p: dest in a kernel.*PE 2 is out of range')" = 1
    tap_check "$name: nothing goes on" sh -c "! grep -q 'went on' '$out'"
}

for where in barrier finalize exit; do
    ends "$where" "$fault" $where
    ends "$where, with a progress thread" --nodes-emulated 2 "$fault" $where
done
tap_done
