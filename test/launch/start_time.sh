#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A job starts and ends fast: the least of five runs against generous limits, or of up to 20 where the machine is busy.
# Beside it, by a unique id: the same number of processes that the shell starts itself.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

# least NAME LIMIT-MS COMMAND…: the command starts a job once and sets $took.
least()
{
    name=$1 limit=$(($2 * 4 * ${WSH_TEST_SLOW:-1}))
    shift 2
    : >"$tap_dir/times"
    for round in $(seq 20); do
        "$@"
        echo "$took" >>"$tap_dir/times"
        best=$(sort -n "$tap_dir/times" | head -n 1)
        [ "$round" -lt 5 ] || [ "$best" -gt "$limit" ] || break
    done
    echo "# $name: $(sort -n "$tap_dir/times" | tr '\n' ' ')ms (limit $limit)"
    tap_check "$name" test "$best" -le "$limit"
}

by_oshrun()
{
    began=$(now_ms)
    "$oshrun" -n "$1" "$course" hello >"$out" 2>"$err" </dev/null
    took=$(($(now_ms) - began))
}

by_uid()
{
    uid_start "$1" hello
    uid_wait
    hellos "$1" || echo "# $1 processes: $statuses" >&2
}

within()
{
    least "$1" "$2" by_oshrun "$3"
}

within_uid()
{
    least "$1 by a unique id" "$2" by_uid "$3"
}

within "1 PE" 30 1
within "2 PEs" 120 2
within "8 PEs" 250 8
within "32 PEs" 700 32
[ "${WSH_TEST_LONG:-0}" = 1 ] && within "64 PEs" 2500 64 && within "256 PEs" 15000 256
WSH_TEST_UID_HEAP=${SHMEM_SYMMETRIC_SIZE:-64M}
. "$top_srcdir/test/launch/uid_lib.sh"
within_uid "1 PE" 30 1
within_uid "2 PEs" 120 2
within_uid "8 PEs" 250 8
within_uid "32 PEs" 700 32
[ "${WSH_TEST_LONG:-0}" = 1 ] && within_uid "64 PEs" 2500 64 && within_uid "256 PEs" 15000 256
tap_done
