#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Calls of expert parallelism over two emulated hosts, whose puts to the other one kernels post: device code by a CPU
# thread (test/ep/lanes/kernel_puts.cc); proxy, watcher and counters of NICs are the real ones. WSH_TEST_LONG=1: 10,000
# calls a mode. A mutant that gives no windows back does not end.
# timeout: 900
. "${top_srcdir:-.}/test/common/tap.sh"
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] || tap_skip_all "the emulator is not built (libibverbs-dev)"
[ -e "${WSH_LIBFABRIC:-/none}/lib/libfabric.so.1" ] ||
    tap_skip_all "no libfabric of 2026-08 (emulator/tests/libfabric makes one, WSH_LIBFABRIC names it)"
need_plain "a preloaded library does not go with"
puts=$(cd "$top_builddir" && pwd)/test/.libs/libepkernelputs.so
LD_LIBRARY_PATH=$top_builddir/test/fake_cuda:$WSH_LIBFABRIC/lib:$LD_LIBRARY_PATH
export LD_LIBRARY_PATH
export SHMEM_GDA=on SHMEM_HMEM=on SHMEM_NICS_PER_PE=1 EFA_EMULATOR_QUIET=1
export SHMEM_SYMMETRIC_SIZE=64M SHMEM_DEVICE_SYMMETRIC_SIZE=64M WSH_TEST_PATH=mixedefa

# calls LIMIT PES PROGRAM: oshrun itself loads the emulated device, before which this library comes
calls()
{
    # shellcheck disable=SC2016
    run_job "$1" "$oshrun" --emulate-efa=p5en --nodes-emulated 2 -n "$2" \
        sh -c 'LD_PRELOAD=$1:$LD_PRELOAD exec "$2"' sh "$puts" "$(test_program "test/ep/$3")"
}

rounds=10
if [ "${WSH_TEST_LONG:-0}" = 1 ]; then rounds=10000; fi
for program in many_calls random_calls; do
    WSH_TEST_ROUNDS=$rounds
    [ $program = many_calls ] || WSH_TEST_ROUNDS=2
    export WSH_TEST_ROUNDS
    calls $((100 + rounds / 10)) 4 $program
    tap_check "$program, 4 PEs" test "$status" = 0
done
KERNEL_PUTS_MUTANT=no_credit calls 20 4 many_calls
tap_check "a mutant without credits is noticed" test "$status" != 0
tap_done
