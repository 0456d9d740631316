#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The device performance test without a GPU: its help, its rows, bad options, and one line where there is no GPU. With
# GPUs: a few rows with right data, and every format.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
p2p=$top_builddir/perftest/device/p2p

run_job 20 "$p2p" --help
tap_check "--help: exit status 0" test "$status" = 0
tap_check "--help names the rows" grep -q '^  pp_put_signal ' "$out"
run_job 20 "$p2p" --list
tap_check "--list prints the rows of every scope" sh -c "grep -q '^put.thread.8.1x1$' '$out' &&
    grep -q '^put.warp.4194304.1x32$' '$out' && grep -q '^put.block.4194304.1x256$' '$out'"
tap_check "--list prints no row twice" sh -c "[ -z \"\$(sort '$out' | uniq -d)\" ]"
run_job 20 "$p2p" --list --rows 'put*,g' --scope thread -b 64 -e 1k -f 4
tap_check "--rows, --scope and -b -e -f choose" sh -c \
    "[ \"\$(sed -n 's/^put[.]thread[.]\\([0-9]*\\)[.].*/\\1/p' '$out' | tr '\\n' ' ')\" = '64 256 1024 ' ]"
run_job 20 "$p2p" --list --rows put_bw -c 1,16,64,128 -t 256 -b 1k -e 1G -f 1024
tap_check "-c takes a list" sh -c "[ \"\$(tr '\\n' ' ' <'$out')\" = '$(for c in 1 16 64 128; do
    for b in 1024 1048576 1073741824; do [ $c$b = 1281024 ] || printf 'put_bw.block.%d.%dx256 ' $b $c; done; done)' ]"
for bad in --nonsense '--scope all4' '-s block' '-r 3' '-b 0' '-b 1k -e 8' '-c 0' '-c 1,x' '--peak -1' '-t 100' '-n x' '--rows nothing'; do
    # shellcheck disable=SC2086
    run_job 20 "$p2p" $bad
    tap_check "$bad: exit status 2, one line" sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ]"
done

if [ ! -e /dev/nvidiactl ]; then
    run_job 60 "$oshrun" -n 2 "$p2p"
    tap_check "without a GPU: exit status 77" test "$status" = 77
    tap_check "without a GPU: one clear line a PE" sh -c "grep -q 'p2p: skip: no GPU' '$err'"
    tap_skip "rows between two PEs" "no NVIDIA GPU on this machine"
    tap_done
fi
rows='put_loaded,p_loaded,pp_signal_loaded,put.*.8.*,get.block.65536.1x256,g,fetch_inc,pp_signal,pp_put_signal.block.8192.1x256,put_bw.block.1048576.*'
run_job 120 "$oshrun" -n 2 "$p2p" --rows "$rows" -k 50 -n 3 --csv "$tap_dir/csv" --json "$tap_dir/json"
tap_check "rows between two PEs: exit status 0" test "$status" = 0
lines=$("$p2p" --list --rows "$rows" | wc -l)
tap_check "a line a row" test "$(grep -vc '^#' "$out")" = "$lines"
tap_check "CSV has them all" test "$(grep -c '^p2p,2,.*,yes,' "$tap_dir/csv")" = "$lines"
tap_check "JSON has them all" test "$(grep -c '"right": true' "$tap_dir/json")" = "$lines"
run_job 120 "$oshrun" -n 2 "$p2p" --rows p --table -k 50 -n 3
tap_check "a boxed table" grep -q '| latency (us)' "$out"
tap_done
