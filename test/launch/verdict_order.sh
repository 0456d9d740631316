#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a PE says comes before what oshrun says of that PE.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

# in_order NAME REASON VERDICT ARGUMENTS…: 20 jobs whose PE writes a line with REASON before a line of oshrun has VERDICT.
in_order()
{
    name=$1 reason=$2 verdict=$3 right=0
    shift 3
    for _ in $(seq 20); do
        run_job 20 "$oshrun" "$@"
        first=$(grep -nE -m 1 "$reason" "$err" | cut -d: -f1)
        second=$(grep -nE -m 1 "$verdict" "$err" | cut -d: -f1)
        pe=$(sed -nE "s/.*oshrun: PE ([0-9]+) .*/\\1/p" "$err" | head -n 1)
        [ "${first:-9}" -lt "${second:-0}" ] && sed -n "1,${second}p" "$err" | grep -qE "PE $pe .*($reason)" && right=$((right + 1))
    done
    tap_check "$name: 20 of 20" test "$right" = 20
}

in_order "a setting that is wrong" "SHMEM_SYMMETRIC_SIZE='1Q' is not valid" 'oshrun: PE [0-9]+ .* exited with status 1' -n 2 \
    -x SHMEM_SYMMETRIC_SIZE=1Q "$course" hello
# shellcheck disable=SC2016
in_order "a line and a signal" 'last words' 'oshrun: PE 1 .* killed by signal 9' -n 2 sh -c \
    '[ "$PMIX_RANK" = 1 ] || exec sleep 5; echo "PE 1 , last words" >&2; kill -9 $$'
tap_done
