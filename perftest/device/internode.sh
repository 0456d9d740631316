#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The performance test of kernels that reach other hosts, without a GPU: its help, its rows, bad options, and one line
# where there is no GPU. With one: every kind of row between emulated hosts over tcp, with right data, the tables of
# claims, and in each format that the hosts are emulated.
# timeout: 400
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
internode=$top_builddir/perftest/device/internode

run_job 20 "$internode" --help
tap_check "--help: exit status 0" test "$status" = 0
tap_check "--help names the rows" sh -c "grep -q '^  order_put_signal ' '$out' &&
    grep -q '^  alltoall_hostmem ' '$out'"
run_job 20 "$internode" --list
tap_check "--list prints the rows of every scope" sh -c "grep -q '^order_fence_each.warp.7408.1x512$' '$out' &&
    grep -q '^put_nbi.thread.8.1x256$' '$out' && grep -q '^put_blocking_hostmem.host.1048576.0x0$' '$out'"
tap_check "--list prints no row twice" sh -c "[ -z \"\$(sort '$out' | uniq -d)\" ]"
run_job 20 "$internode" --list --rows 'order_*,alltoall_put' -b 4k -e 64k -f 4
tap_check "--rows and -b -e -f choose; puts of an order have 16 KiB at most" sh -c \
    "[ \"\$(sed -n 's/^alltoall_put[.]block[.]\\([0-9]*\\)[.].*/\\1/p' '$out' | tr '\\n' ' ')\" = '4096 16384 65536 ' ] &&
    grep -q '^order_none.warp.16384' '$out' && ! grep -q '^order.*65536' '$out'"
for bad in --nonsense '--scope all4' '-s block' '-r 3' '-b 0' '-b 1k -e 8' '-t 100' '-n x' '-n 0' '--rows nothing' '--scope stream'; do
    # shellcheck disable=SC2086
    run_job 20 "$internode" $bad
    tap_check "$bad: exit status 2, one line" sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ]"
done

if [ ! -e /dev/nvidiactl ]; then
    run_job 60 "$oshrun" -n 2 "$internode"
    tap_check "without a GPU: exit status 77" test "$status" = 77
    tap_check "without a GPU: one clear line a PE" sh -c "grep -q 'internode: skip: no GPU' '$err'"
    tap_skip "rows between two PEs" "no NVIDIA GPU on this machine"
    tap_done
fi
SHMEM_LIBFABRIC_PROVIDER=tcp SHMEM_DEVICE_SYMMETRIC_SIZE=64M
export SHMEM_LIBFABRIC_PROVIDER SHMEM_DEVICE_SYMMETRIC_SIZE
rows='order_*.256.1x32,post*.65536.*,post_bare,put_*.8.*,put_*.65536.*,alltoall*.512.*,wait_until*,poll_fetch*,load_*.65536.*'
run_job 300 "$oshrun" -n 2 --nodes-emulated 2 "$internode" --rows "$rows" -k 2 -n 3 --csv "$tap_dir/csv" \
    --json "$tap_dir/json"
tap_check "rows between two emulated hosts: exit status 0" test "$status" = 0
lines=$("$internode" --list --rows "$rows" | wc -l)
tap_check "a line a row" test "$(grep -vc '^#' "$out")" = "$lines"
tap_check "CSV has them all" test "$(grep -c '^internode,2,.*,yes,.*emulated hosts' "$tap_dir/csv")" = "$lines"
tap_check "JSON has them all" sh -c "[ \$(grep -c '\"right\": true' '$tap_dir/json') = $lines ] &&
    grep -q '\"hosts\": \"between emulated hosts' '$tap_dir/json'"
tap_check "the lines say that the hosts are emulated" \
    grep -q '^# internode: .* between emulated hosts: shows protocol' "$out"
tap_check "the claims follow" sh -c "grep -q '^# a fence per put against one per batch ' '$out' &&
    grep -q '^# put_signal_nbi in a kernel .* against the host.s alltoall' '$out'"
tap_check "posts to and from host memory are zero-copy, others are copied" sh -c \
    "grep -q '^# post_hostmem  *thread  *65536 .* 65536  *0 ' '$out' && grep -q '^# post_copied_hostmem .* 65536  *65536 ' '$out'"
tap_check "fences wait for nobody" sh -c "grep -q '^# order_fence_each  *256 .* 0[.]0000 ' '$out'"
run_job 120 "$oshrun" -n 2 --nodes-emulated 2 "$internode" --rows wait_until --table -k 50 -n 3
tap_check "a boxed table" grep -q '| latency (us)' "$out"
tap_done
