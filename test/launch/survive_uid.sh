#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SHMEM_ON_PE_FAILURE=continue without a launcher: PEs of a unique id go on when one dies, the one that made the id too, in
# collectives and among puts; the root, a process of its own, ends with them. WSH_TEST_LONG=1: every routine, way and PE.
# timeout: 120
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/uid_lib.sh"
cp "$(test_program test/launch/helper/survive)" "$uid" || exit 99
SHMEM_ON_PE_FAILURE=continue
export SHMEM_ON_PE_FAILURE UID_FILE="$id"

# job N ARGUMENTS…: its PEs, on two emulated hosts if $hosts is 2.
hosts=1
job()
{
    uid_clear
    n_pes=$1
    shift
    for rank in $(seq 0 $((n_pes - 1))); do
        [ $hosts = 1 ] || export SHMEM_NODE_EMULATED=$((rank % hosts))
        # shellcheck disable=SC2086
        RANK=$rank WORLD_SIZE=$n_pes timeout -k 2 $((60 * ${WSH_TEST_SLOW:-1})) ${WSH_TEST_WRAP:-} "$uid" "$@" \
            >"$tap_dir/out.$rank" 2>"$tap_dir/err.$rank" </dev/null &
        pids="$pids $rank:$!"
    done
    unset SHMEM_NODE_EMULATED
    uid_wait
}

# Survivors end with 0, one of them says who has failed.
all_went_on()
{
    [ "$(grep -c 'went on' "$out")" = $((n_pes - 1)) ] && [ "$(echo "$statuses" | tr ' ' '\n' | grep -c '^0$')" = $((n_pes - 1)) ] &&
        [ "$(grep -c "PE $victim (.*) has failed: its process has ended; the others go on" "$err")" = 1 ]
}

# survives N HOW WHO ROUTINE
survives()
{
    job "$@"
    victim=$3
    [ "$victim" -ge 0 ] || victim=$((n_pes + victim))
    uid_ended "$1 PEs, $hosts hosts${SHMEM_TRANSPORTS:+, $SHMEM_TRANSPORTS}, $4: PE $3 by $2, and the others go on" all_went_on
}

if [ "${WSH_TEST_LONG:-0}" = 1 ]; then
    for routine in barrier sum sums broadcast alltoall split nb1 nb8 alltoallv timed rma; do
        for how in kill segv exit3; do
            hosts=1 survives 3 $how 0 $routine
            hosts=2 survives 6 $how -1 $routine
            export SHMEM_TRANSPORTS=efa
            hosts=1 survives 4 $how 1 $routine
            unset SHMEM_TRANSPORTS
        done
    done
    hosts=1
fi
survives 4 kill 1 sum
survives 3 segv 0 nb8
hosts=2
survives 4 exit3 0 alltoallv
survives 4 kill -1 rma
hosts=1
SHMEM_ON_PE_FAILURE=abort
job 3 kill 1 sum
uid_ended "by default the job ends" test "$(grep -c 'went on' "$out"):$(grep -c 'PE 1 .*has ended without shmem_finalize, and so does the job' "$err")" = 0:2
tap_done
