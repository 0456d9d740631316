#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What order promises (test/mp/order_litmus), over devices that write and devices that do not, while segments are lost,
# come twice and come late; and that without fences the order is broken there. WSH_TEST_LONG=1: a million rounds each.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"
emulator=$top_builddir/emulator/.libs/libefa-emulator.so
[ -e "$emulator" ] || tap_skip_all "the emulator is not built (libibverbs-dev)"
case ${WSH_TEST_VARIANT:-clang} in clang) ;; *) tap_skip_all "a preloaded library does not go with $WSH_TEST_VARIANT" ;; esac
litmus=$(test_program test/mp/order_litmus)
EFA_EMULATOR_FAULTS='drop 1% late 500us; duplicate 2%; reorder 100us'
EFA_EMULATOR_QUIET=1 SHMEM_SYMMETRIC_SIZE=64M
export EFA_EMULATOR_FAULTS EFA_EMULATOR_QUIET SHMEM_SYMMETRIC_SIZE

# Both of the two PEs send.
rounds=300 limit=100
if [ "${WSH_TEST_LONG:-0}" = 1 ]; then rounds=500000 limit=6000; fi

for profile in p5 p4d; do
    for pattern in put_signal put_fence_signal put_fence_get p_fence_p_fence_put; do
        run_job $((limit * ${WSH_TEST_SLOW:-1})) "$oshrun" "--emulate-efa=$profile" -n 2 "$litmus" "$pattern" \
            --rounds $rounds
        sed -n 's/^note: /# /p' "$err" "$out"
        tap_check "$profile: $pattern, 2 x $rounds rounds: no order broken" test "$status" = 0
    done
    run_job $((100 * ${WSH_TEST_SLOW:-1})) "$oshrun" "--emulate-efa=$profile" -n 2 "$litmus" --no-fence --rounds 5000
    sed -n 's/^note: \(.*without.*\)/# \1/p' "$err" "$out"
    tap_check "$profile: broken without fences" grep -qE 'put_fence_signal without fences: [1-9]' "$err" "$out"
done
tap_done
