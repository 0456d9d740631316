#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE that waits for long is named, with the routine and what it waits for: after SHMEM_HANG_SECONDS, and on SIGUSR1.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
stuck=$(test_program test/mp/helper/stuck)

# stands NAME CALL PATTERN…: PE 0 of two waits in the call.
stands()
{
    name=$1 call=$2
    shift 2
    run_job 30 "$oshrun" -n 2 "$stuck" "$call"
    reported "$name" "$@"
}

noted()
{
    stands "what a library adds" noted "shmem_barrier_all" "a library waits for PE 1: 3 of 4 parts"
    tap_check "nothing of one that was removed" sh -c "! grep -q nobody '$err'"
}

# SHMEM_DEBUG=check compares no nonblocking ones: the cure stays.
checked()
{
    SHMEM_DEBUG=check stands "request, with SHMEM_DEBUG=check" request "shmemx_sync_nb" "compare with the lines of other PEs"
}

export SHMEM_HANG_SECONDS=1
side checked
side stands "barrier, local" barrier "shmem_barrier_all" "PE 1"
side noted
side stands "wait_until, local" wait "wait_until" "== 5"
side stands "request" request "shmemx_sync_nb" "number 1 of its team" "compare with the lines of other PEs"
side stands "set_lock, local" lock "shmem_set_lock" "PE 1 to clear the lock"
export SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp
side stands "barrier, tcp" barrier "shmem_barrier_all" "PE 1"
side stands "wait_until, tcp" wait "wait_until" "== 5"
side stands "set_lock, tcp" lock "shmem_set_lock" "PE 1 to clear the lock"
side stands "quiet, tcp" quiet "shmem_quiet" "PE 1: .*put"
unset SHMEM_TRANSPORTS SHMEM_LIBFABRIC_PROVIDER

# Nothing is reported by itself when the setting is 0, and nothing without a hang.
silent()
{
    run_job 30 "$oshrun" -n 2 "$stuck" barrier
    tap_check "SHMEM_HANG_SECONDS=0 is silent" test "$status" = 0 -a ! -s "$err"
}

# oshrun hands SIGUSR1 on to the PEs.
asked()
{
    "$oshrun" -n 2 "$stuck" barrier >"$out" 2>"$err" &
    job=$!
    sleep 1.5
    kill -USR1 $job
    wait $job
    status=$?
    reported "SIGUSR1 to oshrun" "shmem_barrier_all" "PE 1"
    tap_check "a PE outside the library says so" grep -q 'PE 1 .*not waiting' "$err"
}

export SHMEM_HANG_SECONDS=0
side silent
side asked
sides_end

# A launcher that does not answer at the start: libpmix waits for it by itself.
# shellcheck disable=SC2016
run_job 30 env SHMEM_HANG_SECONDS=1 "$oshrun" -n 2 \
    sh -c 'kill -STOP $PPID; (sleep 3; kill -CONT $PPID) & exec "$@"' stop "$(test_program test/mp/hello)"
tap_check "a launcher that stands still while PEs start" \
    sh -c "[ $status = 0 ] && grep -q 'shmem_init has waited 1 s for an answer of the launcher' '$err'"
tap_done
