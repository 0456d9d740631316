#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Calls give what the reference gives where the emulated NICs deliver in any order, late, and payloads twice: also when
# the target has long been told that they are there, with what was in the source when it was posted. Rows are so long that
# libfabric writes them, from 2.1 on; messages are not delivered twice (emulator/tests/debian13 has such a libfabric).
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
program=$(test_program test/ep/many_calls)
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] || tap_skip_all "the emulator is not built (libibverbs-dev)"
need_plain "a preloaded library does not go with"

WSH_TEST_PATH=mixedefa EFA_EMULATOR_QUIET=1 SHMEM_NICS_PER_PE=1 SHMEM_SYMMETRIC_SIZE=64M SHMEM_HANG_SECONDS=20
WSH_TEST_ROUNDS=20
[ "${WSH_TEST_LONG:-0}" = 1 ] && WSH_TEST_ROUNDS=1000
export WSH_TEST_PATH EFA_EMULATOR_QUIET SHMEM_NICS_PER_PE SHMEM_SYMMETRIC_SIZE SHMEM_HANG_SECONDS WSH_TEST_ROUNDS
began=$(date +%s)
for faults in 'reorder 300us' 'drop 5% late 2ms; duplicate 5%' 'reorder 100us; duplicate 20% late 25ms'; do
    run_job 60 env "EFA_EMULATOR_FAULTS=$faults" "$oshrun" --emulate-efa --nodes-emulated 2 -n 4 "$program" 2048
    tap_comment "$out" "$err"
    tap_check "8 times $WSH_TEST_ROUNDS calls with '$faults'" test "$status" = 0
done
echo "# took $(($(date +%s) - began)) s"
tap_done
