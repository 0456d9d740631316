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

# n PEs how who routine; `hosts`: so many emulated hosts; `transports`, of all PEs; `emulate`: over the emulated device
hosts=1 transports= emulate=
survives()
{
    provider=tcp
    [ -z "$emulate" ] || provider=efa
    run_job 40 env SHMEM_TRANSPORTS="$transports" SHMEM_LIBFABRIC_PROVIDER=$provider \
        "$oshrun" -n "$1" --nodes-emulated "$hosts" ${emulate:+--emulate-efa} --on-pe-failure continue "$survive" "$2" "$3" "$4"
    tap_check "$1 PEs, $hosts hosts${transports:+, $transports}${emulate:+, emulated EFA}, $4: PE $3 by $2, and the others go on" sh -c "[ $status = 0 ] && [ \$(grep -c 'went on' '$out') = $(($1 - 1)) ] &&
        [ \$(grep -c 'the others go on' '$err') = 1 ] && grep -q '1 of $1 PEs failed; the others ended well' '$err'"
}

if [ "${WSH_TEST_LONG:-0}" = 1 ]; then
    for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        for routine in barrier sum sums broadcast alltoall split nb1 nb8 alltoallv timed init; do
            for how in kill segv exit3; do
                hosts=1 survives 3 $how 0 $routine
                hosts=1 survives 8 $how -1 $routine
                hosts=2 survives 6 $how 1 $routine
                hosts=1 transports=efa survives 4 $how 2 $routine
            done
        done
        for how in kill segv exit3; do
            hosts=1 survives 4 $how 0 rma
            hosts=2 survives 6 $how -1 rma
            hosts=1 transports=efa survives 4 $how 2 rma
            hosts=2 emulate=1 survives 4 $how 3 sums
            emulate=
        done
    done
    # The news comes later than the network's own errors.
    hosts=1 transports=efa survives 3 late 1 rma
    hosts=2 survives 4 late 0 nb8
else
    survives 4 kill 0 barrier
    survives 4 segv -1 sum
    survives 3 exit3 1 sums
    survives 4 kill 0 broadcast
    survives 8 kill -1 alltoall
    survives 2 kill 0 split
    survives 3 kill 1 nb1
    survives 4 kill 0 nb8
    survives 3 segv 2 alltoallv
    hosts=2 survives 4 kill -1 nb8
    survives 3 kill 2 timed
    survives 4 kill 0 init
    survives 4 kill 2 init
    hosts=2 survives 4 segv 0 init
    hosts=2 survives 4 kill 3 init
    hosts=2 survives 4 kill 1 sum
    hosts=2 survives 4 kill 0 rma
    hosts=1 transports=efa survives 3 segv 2 rma
fi
for hosts in 1 3; do
    run_job 40 env SHMEM_COUNTERS=64 SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" -n 3 --nodes-emulated $hosts \
        --on-pe-failure continue "$(test_program test/launch/helper/late_counts)"
    tap_comment "$out"
    tap_check "counters after a failure begin at 0, $hosts hosts" \
        sh -c "[ $status = 0 ] && [ \$(grep -c 'went on' '$out') = 2 ]"
done
if [ -e "$top_builddir/test/fake_cuda/libcuda.so.1" ]; then
    run_job 60 env "LD_LIBRARY_PATH=$top_builddir/test/fake_cuda:${LD_LIBRARY_PATH:-}" SHMEM_LIBFABRIC_PROVIDER=tcp SHMEM_DEVICE_SYMMETRIC_SIZE=4M \
        "$oshrun" -n 4 --nodes-emulated 2 --on-pe-failure continue "$(test_program test/launch/helper/staged)" 2
    tap_check "device memory by staging: PE 2 dies, and the others go on" \
        sh -c "[ $status = 0 ] && [ \$(grep -c 'went on' '$out') = 3 ] && ! grep -q 'has waited' '$err' &&
            [ \$(grep -c 'does not grow once a PE has failed' '$err') = 1 ]"
else
    tap_skip "device memory by staging" "test/fake_cuda/libcuda.so.1 was not built"
fi
# PE 0, which tells oshrun that all have come, gets little of a core.
busy=
for _ in 1 2; do
    (while :; do :; done) &
    busy="$busy $!"
done
went=0
for _ in 1 2 3; do
    # shellcheck disable=SC2016
    run_job 120 "$oshrun" -n 3 --on-pe-failure continue \
        sh -c '[ "$SHMEM_PE" != 0 ] || exec nice -n 10 "$@"; exec "$@"' late "$survive" early 1 sum
    [ "$status:$(grep -c 'went on' "$out")" != 0:2 ] || went=$((went + 1))
    echo "# ended with $status"
done
# shellcheck disable=SC2086
kill $busy
tap_check "a PE that dies as soon as it comes out of shmem_init" [ $went = 3 ]
run_job 20 env SHMEM_ON_PE_FAILURE=continue "$oshrun" -n 3 "$survive" kill 1 sum
tap_check "the setting does what the option does" sh -c "[ $status = 0 ] && [ \$(grep -c 'went on' '$out') = 2 ]"
run_job 30 env SHMEM_DEBUG=info "$oshrun" -n 2 --nodes-emulated 2 --on-pe-failure continue "$survive" kill 0 sum
tap_check "libfabric's provider net is not chosen" sh -c "[ $status = 0 ] && grep -q 'network: ' '$err' && ! grep -q 'network: net ' '$err'"
run_job 20 env SHMEM_STATS=1 SHMEM_STATS_FILE="$tap_dir/x.json" "$oshrun" -n 3 --on-pe-failure continue "$survive" kill 0 sum
tap_check "PE 0 dies, and the first survivor prints the statistics of those that live" sh -c "[ $status = 0 ] &&
    [ \$(grep -c '^statistics of job .*: 3 PEs on 1 host, .* s, of which 1 have failed and are not counted' '$err') = 1 ]"
tap_check "the file has two PEs" sh -c "grep -q '^ {\"pe\": 1,' '$tap_dir/x.json' && grep -q '^ {\"pe\": 2,' '$tap_dir/x.json' &&
    ! grep -q '{\"pe\": 0,' '$tap_dir/x.json' && '$top_srcdir/perftest/plot' '$tap_dir/x.json' >'$out'"
if [ "${WSH_TEST_VARIANT:-clang}" = clang ]; then
    run_job 40 "$oshrun" -n 3 --on-pe-failure continue --trace "$tap_dir/x" "$survive" kill 0 timed
    tap_check "a trace has waits with a limit, and shrinks, of both survivors" sh -c "[ $status = 0 ] &&
        [ \$(grep -c '\"name\":\"shmemx_long_wait_until_timeout\"' '$tap_dir/x') -ge 2 ] &&
        [ \$(grep -c '\"name\":\"shmemx_team_shrink\"' '$tap_dir/x') = 2 ]"
else
    tap_skip "a trace of survivors" "a preloaded library does not go with $WSH_TEST_VARIANT"
fi
run_job 20 "$oshrun" -n 3 "$survive" kill 1 sum
tap_check "by default the job ends" sh -c "[ $status = 137 ] && grep -q 'killed by signal 9 .*; ending job' '$err' && ! grep -q 'went on' '$out'"
run_job 20 env SHMEM_ON_PE_FAILURE=continue "$oshrun" -n 3 --on-pe-failure abort "$survive" kill 1 sum
tap_check "the option comes before the setting" [ $status = 137 ]
# shellcheck disable=SC2016
run_job 20 "$oshrun" -n 3 sh -c '[ "$SHMEM_PE" != 1 ] || export SHMEM_ON_PE_FAILURE=continue; exec "$@"' unlike "$survive" kill 1 sum
tap_check "one PE alone would go on: refused by a line" sh -c "[ $status = 1 ] &&
    grep -q 'SHMEM_ON_PE_FAILURE is abort at PE [02] and continue at PE 1; set it alike on all PEs' '$err'"
for transports in local efa; do
    run_job 30 env SHMEM_TRANSPORTS=$transports SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" -n 3 --on-pe-failure continue "$survive" kill 1 again
    tap_check "$transports: a shmem_init after it is refused by a line" sh -c "[ $status != 0 ] &&
        [ \$(grep -c 'PE 1 has failed: in a job that has lost a PE no shmem_init can follow' '$err') = 2 ]"
done
run_job 20 "$oshrun" -n 3 --on-pe-failure maybe "$survive" kill 1 sum
tap_check "another word: exit status 2 and a line" sh -c "[ $status = 2 ] && grep -q 'write abort or continue' '$err'"
tap_done
