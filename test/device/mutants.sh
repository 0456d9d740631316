#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The litmus programs built with broken primitives (test/device/mutant) must fail: else the litmus proves nothing about
# what they leave out. One that survives is reported as skipped: unproven.
# timeout: 900
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
[ -e /dev/nvidiactl ] || tap_skip_all "no NVIDIA GPU on this machine"
SHMEM_DEVICE_SYMMETRIC_SIZE=${SHMEM_DEVICE_SYMMETRIC_SIZE:-64M}
WSH_LITMUS_ROUNDS=${WSH_LITMUS_ROUNDS:-5000000}
export SHMEM_DEVICE_SYMMETRIC_SIZE WSH_LITMUS_ROUNDS
pes=${WSH_LITMUS_PES:-2}

run_job 120 "$oshrun" -n "$pes" "$top_builddir/test/device/litmus"
tap_check "the library itself passes" test "$status" = 0
for mutant in no_release no_acquire bulk_read_only nc_source no_block_sync; do
    run_job 120 "$oshrun" -n "$pes" "$top_builddir/test/device/litmus_$mutant"
    if [ "$status" = 0 ]; then
        tap_skip "$mutant is caught" "it survived $WSH_LITMUS_ROUNDS rounds: unproven"
    elif [ "$status" = 77 ]; then
        tap_skip "$mutant is caught" "$(sed -n 's/^.*skip: //p' "$out" "$err" | tail -n 1)"
    else
        grep -h -m 1 -E 'data after the flag|no end within' "$out" "$err" | sed 's/^/# /'
        tap_ok "$mutant is caught"
    fi
done
tap_done
