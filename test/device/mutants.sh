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

# judge MUTANT ROUNDS WHERE: what the job said.
judge()
{
    if [ "$status" = 0 ]; then
        tap_skip "$1 is caught$3" "it survived $2 rounds: unproven"
    elif [ "$status" = 77 ]; then
        tap_skip "$1 is caught$3" "$(sed -n 's/^.*skip: //p' "$out" "$err" | tail -n 1)"
    else
        grep -h -m 1 -E 'data after the flag|no end within' "$out" "$err" | sed 's/^/# /'
        tap_ok "$1 is caught$3"
    fi
}

run_job 120 "$oshrun" -n "$pes" "$top_builddir/test/device/litmus"
tap_check "the library itself passes" test "$status" = 0
for mutant in no_release no_acquire bulk_read_only nc_source no_block_sync; do
    run_job 120 "$oshrun" -n "$pes" "$top_builddir/test/device/litmus_$mutant"
    judge "$mutant" "$WSH_LITMUS_ROUNDS" ""
done

# Between hosts, whose NICs are emulated and read the GPU's memory: path gpuhmemefa of test/run.
WSH_LITMUS_ROUNDS=20000
WSH_TEST_PATH=gpuhmemefa
LD_LIBRARY_PATH=$top_builddir/test/fake_hmem:${LD_LIBRARY_PATH:-}
export WSH_TEST_PATH LD_LIBRARY_PATH
for mutant in no_release no_record_release; do
    run_job 120 env FAKE_HMEM=gpu SHMEM_HMEM=on SHMEM_NICS_PER_PE=1 "$oshrun" -n 2 --nodes-emulated 2 --emulate-efa \
        "$top_builddir/test/device/litmus_$mutant"
    judge "$mutant" "$WSH_LITMUS_ROUNDS" " between hosts"
done
tap_done
