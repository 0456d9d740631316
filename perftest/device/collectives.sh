#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The performance test of device collectives without a GPU: its help, its rows, bad options, and one line where
# there is no GPU. With GPUs: some rows of every kind with right data, and every format.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
program=$top_builddir/perftest/device/collectives

run_job 20 "$program" --help
tap_check "--help: exit status 0" test "$status" = 0
tap_check "--help names the rows" grep -q '^  reducescatter ' "$out"
run_job 20 "$program" --list
tap_check "--list prints the rows of every scope" sh -c "grep -q '^alltoall.thread.16.1x1$' '$out' &&
    grep -q '^alltoall.block.67108864.1x256$' '$out' && grep -q '^barrier_all.host.0.0x0$' '$out' &&
    grep -q '^reduce.stream.2097152.0x0$' '$out' &&
    grep -q '^alltoallv.graph.131072.0x0$' '$out' && grep -q '^fcollect.graph.64.0x0$' '$out'"
tap_check "--list prints no row twice" sh -c "[ -z \"\$(sort '$out' | uniq -d)\" ]"
tap_check "a thread moves few elements" sh -c "! grep -q '^alltoall.thread.8192.' '$out'"
run_job 20 "$program" --list --pes 4 --rows alltoall
tap_check "--pes: whole elements for so many PEs, and more bytes by a thread" sh -c \
    "! grep -q '^alltoall[.][a-z]*[.]16[.]' '$out' && grep -q '^alltoall.thread.8192.1x1$' '$out'"
run_job 20 "$program" --list --scope stream --rows 'alltoall*' -b 64 -e 1k -f 4
tap_check "--rows, --scope and -b -e -f choose" sh -c \
    "[ \"\$(sed -n 's/^alltoall[.]stream[.]\\([0-9]*\\)[.].*/\\1/p' '$out' | tr '\\n' ' ')\" = '64 256 1024 ' ]"
for bad in --nonsense '--scope all4' '-s block' '-r 3' '-b 0' '-b 1k -e 8' '-t 100' '-n x' '--pes 0' '--rows nothing'; do
    # shellcheck disable=SC2086
    run_job 20 "$program" $bad
    tap_check "$bad: exit status 2, one line" sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ]"
done
run_job 20 "$top_builddir/perftest/device/alltoall_latency" --list
tap_check "alltoall_latency: the rows of alltoall alone" sh -c \
    "grep -q '^alltoall[.]' '$out' && ! grep -v '^alltoall' '$out'"

if [ ! -e /dev/nvidiactl ]; then
    run_job 60 "$oshrun" -n 2 "$program"
    tap_check "without a GPU: exit status 77" test "$status" = 77
    tap_check "without a GPU: one clear line a PE" sh -c "grep -q 'collectives: skip: no GPU' '$err'"
    tap_skip "rows between two PEs" "no NVIDIA GPU on this machine"
    tap_done
fi
rows='*.512.*,*.65536.*,*_all*,puts_barrier,barrier_loaded'
run_job 200 "$oshrun" -n 2 "$program" --rows "$rows" -k 20 -n 3 --csv "$tap_dir/csv" --json "$tap_dir/json"
tap_check "rows between two PEs: exit status 0" test "$status" = 0
tap_check "all data is right" sh -c "! grep -q WRONG '$out'"
lines=$("$program" --list --rows "$rows" | wc -l)
lacks=$(grep -c lacks "$out")
tap_check "a line a row" test "$(grep -vc '^#' "$out")" = "$lines"
tap_check "CSV has them all" test "$(grep -c '^collectives,2,.*,yes,' "$tap_dir/csv")" = $((lines - lacks))
tap_check "JSON has them all" test "$(grep -c '"right": true' "$tap_dir/json")" = $((lines - lacks))
run_job 120 "$oshrun" -n 2 "$program" --rows barrier_all --table -k 50 -n 3
tap_check "a boxed table" grep -q '| latency (us)' "$out"
tap_done
