#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Waits in kernels beside poll loops: without a GPU its rows, bad options and one line; with one, every row of 32 threads, and
# the comparison after them.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
wait=$top_builddir/perftest/device/wait

run_job 20 "$wait" --list
tap_check "--list: 24 kinds with three grids, and two where nobody waits" sh -c \
    "[ $status = 0 ] && [ \$(sort -u '$out' | wc -l) = 74 ] && grep -q '^wake_own_wait_until.thread.8.1x1024$' '$out'"
run_job 20 "$wait" --rows nothing
tap_check "no such row: exit status 2, one line" sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ]"
if [ ! -e /dev/nvidiactl ]; then
    run_job 60 "$wait"
    tap_check "without a GPU: exit status 77, one line" sh -c "[ $status = 77 ] && grep -q 'wait: skip: no GPU' '$err'"
    tap_skip "rows" "no NVIDIA GPU on this machine"
    tap_done
fi
run_job 120 "$wait" --rows '*.1x32,*_none' -n 3 --json "$tap_dir/json"
tap_check "rows: exit status 0, a line a row" sh -c "[ $status = 0 ] && [ \$(grep -vc '^#' '$out') = 26 ]"
tap_check "wait_until beside the best loop, of each" test "$(grep -c '^# .*_wait_until .*ratio' "$out")" = 6
tap_check "JSON has them all" test "$(grep -c '"right": true' "$tap_dir/json")" = 26
tap_done
