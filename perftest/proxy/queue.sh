#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The queue benchmark: right bytes in every row with one and several proxy threads, its CSV, bad options. The program
# with a kernel for producers: the same with a GPU, one line without.
# timeout: 200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
queue=$(test_program perftest/proxy/queue)

run_job 20 "$queue" --help
tap_check "--help names the rows" sh -c "[ $status = 0 ] && grep -q '^  drain ' '$out' && grep -q '^  quiet ' '$out'"
for bad in --nonsense '--threads 0' '--threads 9' '-s 12' '-s 8,x' '-n' '--rows nothing' '--threads 4 --rings 8' \
    '-t 1' '-n 20000' '-r 2' '--nics 5' '-s 3M' '-s 16M' '--queue paged'; do
    # shellcheck disable=SC2086
    run_job 20 "$queue" $bad
    tap_check "$bad: exit status 2, one line" sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ]"
done
small='-k 20000 --trips 50 -n 2 -s 8,264,65536 --producers 1,3 --threads 1,2 --outstanding 1,64'
# shellcheck disable=SC2086
run_job 100 "$queue" $small --csv "$tap_dir/csv"
tap_check "CPU threads: exit status 0" test "$status" = 0
tap_check "a line a row" test "$(grep -vc '^#' "$out")" = 72
tap_check "CSV has them all" test "$(grep -c ',yes,' "$tap_dir/csv")" = 72
run_job 60 "$queue" --rows efa,drain_efa -k 20000 -n 2 -s 7168 --pes 2 --producers 4 --threads 1,2 --nics 2
tap_check "through the efa transport with two NICs: each record is one write, of its own bytes to their place" \
    sh -c "[ $status = 0 ] && [ \$(grep -c 'writes a doorbell' '$out') = 3 ]"
run_job 60 "$queue" --rows 'efa*,push' -k 20000 --trips 50 -n 2 -s 8,8M --producers 1 --nics 1,4 --queue all
tap_check "blocking and not, 8 bytes and 8 MiB, one NIC and four; no payload of 8 MiB; memory that is not here has a line" \
    sh -c "[ $status = 0 ] && [ \$(grep -c '^efa_blocking .* 4 NICs' '$out') = 2 ] && [ \$(grep -vc '^#' '$out') = 9 ] &&
        [ \$(grep -c '^# rings in .* lacks: ' '$out') = 2 ]"
run_job 20 "$queue" --rows flag -k 2 --trips 50
tap_check "a letter with a new meaning: a line says so" sh -c "[ $status = 0 ] && grep -q 'samples are -n' '$err'"
run_job 60 "$(test_program perftest/proxy/watcher)"
tap_check "the watcher of kernels' queues: one line" \
    sh -c "[ $status = 0 ] && [ \$(wc -l <'$out') = 1 ] && grep -q '^watcher: [0-9.]* ns a completion' '$out'"
tap_comment "$out"

gpu=$top_builddir/perftest/proxy/queue_gpu
if [ ! -x "$gpu" ]; then
    tap_skip "a kernel for producers" "no nvcc at configure"
elif [ ! -e /dev/nvidiactl ]; then
    run_job 60 "$gpu"
    tap_check "without a GPU: exit status 77, one line" sh -c "[ $status = 77 ] && grep -q 'skip: no GPU' '$err'"
else
    # shellcheck disable=SC2086
    run_job 100 "$gpu" $small --producers 1,1024 --block 32
    tap_check "a kernel for producers: a line a row" sh -c "[ $status = 0 ] && [ \$(grep -vc '^#' '$out') = 72 ]"
    run_job 100 "$gpu" --rows 'push,flag' -k 1000 --trips 20 -n 2 -s 8 --queue all
    tap_check "rings in each memory, or a line that says what is missing" \
        sh -c "[ $status = 0 ] && [ \$(($(grep -c '^push ' "$out") + $(grep -c ' lacks: ' "$out"))) = 3 ]"
fi
tap_done
