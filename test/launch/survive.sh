#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SHMEM_ON_PE_FAILURE=continue: a PE dies in collectives, and the others are told, go on and end well; the default ends the
# job as ever; what cannot be survived is refused by a line. WSH_TEST_LONG=1: every routine, way and PE, 20 times.
# timeout: 120
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"
survive=$(test_program test/launch/helper/survive)
SHMEM_SYMMETRIC_SIZE=4M
export SHMEM_SYMMETRIC_SIZE

# n PEs how who routine
survives()
{
    run_job 20 "$oshrun" -n "$1" --on-pe-failure continue "$survive" "$2" "$3" "$4"
    tap_check "$1 PEs, $4: PE $3 by $2, and the others go on" sh -c "[ $status = 0 ] && [ \$(grep -c 'went on' '$out') = $(($1 - 1)) ] &&
        [ \$(grep -c 'the others go on' '$err') = 1 ] && grep -q '1 of $1 PEs failed; the others ended well' '$err'"
}

if [ "${WSH_TEST_LONG:-0}" = 1 ]; then
    for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        for routine in barrier sum sums broadcast alltoall split; do
            for how in kill segv exit3; do
                survives 3 $how 0 $routine
                survives 8 $how -1 $routine
            done
        done
    done
else
    survives 4 kill 0 barrier
    survives 4 segv -1 sum
    survives 3 exit3 1 sums
    survives 4 kill 0 broadcast
    survives 8 kill -1 alltoall
    survives 2 kill 0 split
fi
run_job 20 env SHMEM_ON_PE_FAILURE=continue "$oshrun" -n 3 "$survive" kill 1 sum
tap_check "the setting does what the option does" sh -c "[ $status = 0 ] && [ \$(grep -c 'went on' '$out') = 2 ]"
run_job 20 "$oshrun" -n 3 "$survive" kill 1 sum
tap_check "by default the job ends" sh -c "[ $status = 137 ] && grep -q 'killed by signal 9 .*; ending job' '$err' && ! grep -q 'went on' '$out'"
run_job 20 env SHMEM_ON_PE_FAILURE=continue "$oshrun" -n 3 --on-pe-failure abort "$survive" kill 1 sum
tap_check "the option comes before the setting" [ $status = 137 ]
run_job 20 "$oshrun" -n 3 --nodes-emulated 3 --on-pe-failure continue "$survive" kill 1 sum
tap_check "a network: refused by a line" sh -c "[ $status != 0 ] && grep -q 'SHMEM_ON_PE_FAILURE=continue is not possible' '$err'"
run_job 20 "$oshrun" -n 3 --on-pe-failure maybe "$survive" kill 1 sum
tap_check "another word: exit status 2 and a line" sh -c "[ $status = 2 ] && grep -q 'write abort or continue' '$err'"
tap_done
