#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Collectives over so many hosts that members of the same place on each exchange for their hosts: 4 emulated hosts with 2
# and 3 PEs each, over tcp and over the emulated EFA device.
# timeout: 300
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
SHMEM_SYMMETRIC_SIZE=32M SHMEM_HANG_SECONDS=30 WSH_TEST_PATH=mixed EFA_EMULATOR_QUIET=1
export SHMEM_SYMMETRIC_SIZE SHMEM_HANG_SECONDS WSH_TEST_PATH EFA_EMULATOR_QUIET

for job in alltoall_sizes:8 coll_sizes:8 coll_mixed_epochs:12; do
    name=${job%:*} pes=${job#*:}
    run_job 60 "$oshrun" --nodes-emulated 4 -n "$pes" "$(test_program "test/mp/$name")"
    tap_check "$name: $pes PEs on 4 hosts" test "$status" = 0
done
run_job 60 "$oshrun" --nodes-emulated 4 -n 8 "$(test_program perftest/barrier)" -n 2 -w 1 -k 1
tap_check "barriers of 4 hosts" test "$status" = 0
if [ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] && [ "${WSH_TEST_VARIANT:-clang}" = clang ]; then
    run_job 60 "$oshrun" --emulate-efa --nodes-emulated 4 -n 8 "$(test_program test/mp/alltoall_sizes)"
    tap_check "alltoall_sizes: 8 PEs on 4 hosts, emulated EFA" test "$status" = 0
else
    tap_skip "emulated EFA" "the emulator is not built (libibverbs-dev), or does not go with ${WSH_TEST_VARIANT:-clang}"
fi
tap_done
