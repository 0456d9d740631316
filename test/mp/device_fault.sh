#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A kernel that was refused ends the job with one line, also when the host program does not look at CUDA's error and all
# the others have already come to where it goes next, or does not come to the library again; and so does a GPU that fails
# behind a copy. A kernel that waits for long is reported, with what libraries add, though the program waits for it.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
fault=$(test_program test/mp/helper/device_fault)
LD_LIBRARY_PATH=$top_builddir/test/fake_cuda:$LD_LIBRARY_PATH
SHMEM_DEVICE_SYMMETRIC_SIZE=16M
export LD_LIBRARY_PATH SHMEM_DEVICE_SYMMETRIC_SIZE
refused='shmem_int_p: dest in a kernel.*PE 2 is out of range'

# ends NAME LINE WORDS…: with status $exits; what the one line says; options of oshrun and the program's argument
exits=1
ends()
{
    name=$1 line=$2
    shift 2
    run_job 10 "$oshrun" -n 2 "$@"
    if [ "$status" = 77 ]; then
        tap_skip "$name" "built without device memory"
        return
    fi
    tap_check "$name: exit status $exits" test "$status" = $exits
    tap_check "$name: one line" test "$(cat "$out" "$err" | grep -c "$line")" = 1
    tap_check "$name: nothing goes on" sh -c "! grep -q 'went on' '$out'"
}

for where in barrier finalize exit; do
    ends "$where" "$refused" "$fault" $where
    ends "$where, with a progress thread" "$refused" --nodes-emulated 2 "$fault" $where
done
ends copy "the GPU failed while memory was copied" "$fault" copy
ends asleep "$refused" "$fault" asleep
exits=3
ends "exit of a kernel" 'shmem_global_exit in a kernel.*ends with status 3' "$fault" global_exit
run_job 10 "$oshrun" -n 2 "$fault" hang
[ "$status" = 77 ] && { tap_skip "a long wait" "built without device memory"; tap_done; }
tap_check "a long wait: the job ends well" test "$status" = 0
tap_check "… it and the note are reported before the program goes on" sh -c \
    "sed '/^went on/q' '$err' | grep -c -e 'counter_wait_until in a kernel.*still waits' -e 'note of a library' | grep -qx 2"
tap_done
