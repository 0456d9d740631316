#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A job starts and ends fast: the median of several runs against generous limits (a busy machine gets four times as long).
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

within "1 PE" 30 1
within "2 PEs" 120 2
within "8 PEs" 250 8
within "32 PEs" 700 32
tap_done
