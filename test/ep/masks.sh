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

lanes=$(cd "$top_builddir" && pwd)/test/.libs by=''
if [ "${WSH_TEST_VARIANT:-}" = asan ]; then
    # lanes are preloaded, and are that much slower
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 lanes_slow=8
    export ASAN_OPTIONS
fi

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

# What kernels run, by lanes: slower. Those among near PEs, and those with far peers.
by_lanes()
{
    by="env LD_PRELOAD=$lanes/libepmasks.so WSH_TEST_SLOW=${lanes_slow:-2} LANES_MUTANT=${lanes_mutant:-}"
    [ "$3" = 1 ] || by="env LD_PRELOAD=$lanes/libepfarmasks.so WSH_TEST_SLOW=${lanes_slow:-2} LANES_MUTANT=${lanes_mutant:-}"
    "$@"
    by=''
}

# mutant NAME HOW HOSTS: the mistake is noticed, or PEs wait for what does not come. Not each time, where it is one of timing.
mutant()
{
    library=libepmasks
    [ "$3" = 1 ] || library=libepfarmasks
    for try in 1 2 3 4; do
        run_job 8 "$oshrun" -n 3 --nodes-emulated "$3" env "LD_PRELOAD=$lanes/$library.so" "LANES_MUTANT=$1" "WSH_TEST_SEED=$try" "$absent" "$2" 0
        [ "$status" = 0 ] || break
    done
    tap_check "kernels, $3 hosts: the mutant $1 is noticed" \
        sh -c "[ $status = 124 ] || grep -q 'absent\.c:[0-9]*: ' '$err'"
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
        for how in before halves between any; do
            by_lanes dies 3 1 $how $((turn % 3))
            by_lanes dies 4 2 $how $((turn % 4))
        done
        for how in late alone edge; do
            by_lanes late 3 1 $how $((turn % 3))
            by_lanes late 4 2 $how $((turn % 4))
        done
        lanes_mutant=slow_masks
        by_lanes late 3 1 edge $((turn % 3))
        by_lanes late 4 2 edge $((turn % 4))
        lanes_mutant=
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
case ${WSH_TEST_VARIANT:-clang} in
    clang | asan) # others do not know the stacks of lanes
        seed 5
        side by_lanes dies 3 1 before 1
        side by_lanes dies 4 2 between 3
        seed 6
        side by_lanes late 3 1 late 0
        side by_lanes late 4 2 late 1
        lanes_mutant=slow_masks
        side by_lanes late 3 1 edge 0
        lanes_mutant=
        side mutant no_limit late 1
        side mutant no_agreement edge 1
        ;;
esac
tap_done
