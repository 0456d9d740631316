#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A job starts and ends fast: the median of several runs against generous limits (a busy machine gets four times as long).
# Beside it, by a unique id: the same number of processes that the shell starts itself.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

# within NAME LIMIT-MS PES
within()
{
    for _ in 1 2 3 4 5; do
        began=$(now_ms)
        "$oshrun" -n "$3" "$course" hello >"$out" 2>"$err" </dev/null
        echo $(($(now_ms) - began))
    done | sort -n >"$tap_dir/times"
    median=$(sed -n 3p "$tap_dir/times")
    echo "# $3 PEs: $median ms (limit $2; $(tr '\n' ' ' <"$tap_dir/times"))"
    tap_check "$1" test "$median" -le $(($2 * 4 * ${WSH_TEST_SLOW:-1}))
}

# The same by a unique id.
within_uid()
{
    for _ in 1 2 3 4 5; do
        uid_start "$3" hello
        uid_wait
        hellos "$3" || echo "# $3 processes: $statuses" >&2
        echo $took
    done | sort -n >"$tap_dir/times"
    median=$(sed -n 3p "$tap_dir/times")
    echo "# $3 processes by a unique id: $median ms (limit $2; $(tr '\n' ' ' <"$tap_dir/times"))"
    tap_check "$1 by a unique id" test "$median" -le $(($2 * 4 * ${WSH_TEST_SLOW:-1}))
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
