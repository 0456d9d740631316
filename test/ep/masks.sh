#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Expert parallelism with masks: a PE dies, or is late, and dispatch and combine go on without it; the rows of the others
# are exact, and one that comes back is served. WSH_TEST_LONG=1: each PE, at random times, with many seeds.
# timeout: 60
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
absent=$(test_program test/ep/absent)
SHMEM_SYMMETRIC_SIZE=16M SHMEM_LIBFABRIC_PROVIDER=tcp
export SHMEM_SYMMETRIC_SIZE SHMEM_LIBFABRIC_PROVIDER

lanes=$(cd "$top_builddir" && pwd)/test/.libs/libepmasks.so by=''

# PEs hosts how who
dies()
{
    # shellcheck disable=SC2086
    run_job 40 "$oshrun" -n "$1" --nodes-emulated "$2" --on-pe-failure continue $by "$absent" "$3" "$4"
    tap_check "${by:+kernels, }$1 PEs, $2 hosts, seed ${WSH_TEST_SEED:-}: PE $4 dies, $3, and calls go on" \
        sh -c "[ $status = 0 ] && [ \$(grep -c 'went on' '$out') = $(($1 - 1)) ]"
}

# On a machine that lets a PE wait for as long as the limit another one is masked too: then once more.
late()
{
    for try in 1 2 3; do
        # shellcheck disable=SC2086
        run_job 40 "$oshrun" -n "$1" --nodes-emulated "$2" $by "$absent" "$3" "$4"
        grep -q 'which is there, is masked' "$err" || break
    done
    tap_check "${by:+kernels, }$1 PEs, $2 hosts, seed ${WSH_TEST_SEED:-}: PE $4 is late, $3, and comes back" \
        sh -c "[ $status = 0 ] && [ \$(grep -c 'went on' '$out') = $1 ]"
}

seed()
{
    WSH_TEST_SEED=$1
    export WSH_TEST_SEED
}

# What kernels run, by lanes: slower.
by_lanes()
{
    by="env LD_PRELOAD=$lanes WSH_TEST_SLOW=${lanes_slow:-2}"
    "$@"
    by=''
}

# mutant NAME HOW: the mistake is noticed, or PEs wait for what does not come.
mutant()
{
    run_job 4 "$oshrun" -n 3 env "LD_PRELOAD=$lanes" "LANES_MUTANT=$1" "$absent" "$2" 0
    tap_check "kernels: the mutant $1 is noticed" test "$status" != 0
}

if [ "${WSH_TEST_LONG:-0}" = 1 ]; then
    for turn in $(seq 0 63); do
        seed "$turn"
        for hosts in 1 2 4; do
            for how in before halves between any; do dies 8 $hosts $how $((turn % 8)); done
            late 8 $hosts late $((turn % 8))
        done
        late 4 1 alone $((turn % 4))
        late 4 2 alone $((turn % 4))
        dies 3 1 any $((turn % 3))
        dies 2 2 any 1
        for how in before halves between any; do by_lanes dies 3 1 $how $((turn % 3)); done
        by_lanes late 3 1 late $((turn % 3))
        by_lanes late 3 1 alone $((turn % 3))
        by_lanes late 3 1 edge $((turn % 3))
    done
    tap_done
    exit
fi
seed 3
side late 3 1 alone 0
seed 2
side late 8 2 late 1
seed 1
side dies 8 1 before 0
side dies 8 2 halves -1
side dies 8 4 between 3
if [ "${WSH_TEST_VARIANT:-clang}" = clang ]; then
    seed 5
    side by_lanes dies 3 1 before 1
    seed 6
    side by_lanes late 3 1 late 0
    side mutant no_limit late
fi
tap_done
