#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A send queue that is found full is no error, whenever that is: small collectives end right, and shmem_finalize does
# while packets still wait for the network. 200 and 1,000 jobs with WSH_TEST_LONG=1.
# timeout: 7200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
program=$(test_program test/mp/helper/small_collectives)
unset EFA_EMULATOR_FAULTS
export EFA_EMULATOR_QUIET=1 SHMEM_NICS_PER_PE=1 SHMEM_SYMMETRIC_SIZE=8M
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] || tap_skip_all "the emulator is not built (libibverbs-dev)"
need_plain "a preloaded library does not go with"
each=1 rounds=20 ends=1
[ "${WSH_TEST_LONG:-0}" = 1 ] && each=25 rounds=100 ends=125

# jobs COUNT PROFILE PES ROUNDS FAULTS QUEUE: all end right.
jobs()
{
    name="$1 jobs of $3 PEs, $4 rounds, on $2 with '$5'${6:+ and a queue of $6}"
    bad=0 hung=0
    for _ in $(seq "$1"); do
        run_job 60 env "EFA_EMULATOR_FAULTS=$5" ${6:+"EFA_EMULATOR_QUEUE=$6"} "$oshrun" --emulate-efa="$2" -n "$3" "$program" "$4"
        [ "$status" = 124 ] && hung=$((hung + 1))
        [ "$status" = 0 ] && [ ! -s "$err" ] && continue
        bad=$((bad + 1))
        echo "# exit status $status"
        tap_comment "$out" "$err"
    done
    tap_check "$name: $(($1 - bad)) right, $hung hung" test "$bad" = 0
}

for profile in p4d p5; do
    for share in 50 90; do
        jobs $each $profile 2 "$rounds" "full $share%" ""
        jobs $each $profile 4 "$rounds" "full $share%" ""
    done
done
profiles=p4d
[ $ends = 1 ] || profiles="p4d p5"
for profile in $profiles; do
    jobs $ends $profile 2 1 'stall 5ms every 20ms; full 90%' ''
    jobs $ends $profile 3 1 'reorder 5ms; rnr 2ms; full 50%' ''
    jobs $ends $profile 2 1 'stall 5ms every 20ms' 16
    jobs $ends $profile 3 1 'drop 10% late 20ms' 16
done
tap_done
