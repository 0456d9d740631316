#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A kernel that was refused ends the job with one line, also when the host program does not look at CUDA's error and all
# the others have already come to where it goes next; and so does a GPU that fails behind a copy.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
fault=$(test_program test/mp/helper/device_fault)
LD_LIBRARY_PATH=$top_builddir/test/fake_cuda:$LD_LIBRARY_PATH
SHMEM_DEVICE_SYMMETRIC_SIZE=16M
export LD_LIBRARY_PATH SHMEM_DEVICE_SYMMETRIC_SIZE
refused='shmem_int_p: dest in a kernel.*PE 2 is out of range'

# ends NAME LINE WORDS…: what the one line says; options of oshrun and the program's argument
ends()
{
    name=$1 line=$2
    shift 2
    run_job 10 "$oshrun" -n 2 "$@"
    if [ "$status" = 77 ]; then
        tap_skip "$name" "built without device memory"
        return
    fi
    tap_check "$name: exit status 1" test "$status" = 1
    tap_check "$name: one line" test "$(cat "$out" "$err" | grep -c "$line")" = 1
    tap_check "$name: nothing goes on" sh -c "! grep -q 'went on' '$out'"
}

for where in barrier finalize exit; do
    ends "$where" "$refused" "$fault" $where
    ends "$where, with a progress thread" "$refused" --nodes-emulated 2 "$fault" $where
done
ends copy "the GPU failed while memory was copied" "$fault" copy
tap_done
