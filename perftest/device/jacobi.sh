#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Jacobi program without a GPU: its help, its rows, bad options, and one line where there is no GPU. With GPUs: every
# variant right on grids of all kinds, and every format.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
program=$top_builddir/perftest/device/jacobi

run_job 20 "$program" --help
tap_check "--help: exit status 0" test "$status" = 0
tap_check "--help names the variants" grep -q '^  persistent ' "$out"
run_job 20 "$program" --list
tap_check "--list prints every variant at both sizes" sh -c "[ \$(wc -l <'$out') = 14 ] &&
    grep -q '^nbi.graph.16384.16384x1000$' '$out' && grep -q '^persistent.block.4096.4096x1000$' '$out'"
run_job 20 "$program" --list --variants 'p,stream.graph.*' --nx 100 --ny 50 --iterations 7
tap_check "--variants, --nx, --ny, --iterations choose" sh -c \
    "[ \"\$(tr '\\n' ' ' <'$out')\" = 'p.stream.100.50x7 p.graph.100.50x7 stream.graph.100.50x7 ' ]"
for bad in --nonsense '--nx 2' '--ny 0' '-n x' '--norm 0' '-n 0' '-n 1000' '-r 3' '--pes 0' '--variants nothing' 'more'; do
    # shellcheck disable=SC2086
    run_job 20 "$program" $bad
    tap_check "$bad: exit status 2, one line" sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ]"
done

if [ ! -e /dev/nvidiactl ]; then
    run_job 60 "$oshrun" -n 2 "$program"
    tap_check "without a GPU: exit status 77" test "$status" = 77
    tap_check "without a GPU: one clear line a PE" sh -c "grep -q 'jacobi: skip: no GPU' '$err'"
    tap_skip "runs of two PEs" "no NVIDIA GPU on this machine"
    tap_done
fi
for grid in '--nx 1000 --ny 301' '--nx 3 --ny 2' '--nx 130 --ny 17 --norm 3' '--nx 2049 --ny 16'; do
    # shellcheck disable=SC2086
    run_job 120 "$oshrun" -n 2 "$program" $grid -k 50 -n 2
    tap_check "$grid: exit status 0" test "$status" = 0
    tap_check "$grid: all variants, none lacks, none wrong" sh -c \
        "[ \$(grep -c ' us\$' '$out') = 7 ] && ! grep -q 'WRONG\\|lacks' '$out'"
done
run_job 60 "$oshrun" -n 2 "$program" --nx 256 --ny 1
tap_check "fewer rows than PEs: one clear line" sh -c "[ $status != 0 ] && grep -q 'give --ny more' '$err'"
run_job 120 "$oshrun" -n 2 "$program" --nx 512 -k 20 -n 2 --csv "$tap_dir/csv" --json "$tap_dir/json"
tap_check "CSV has all variants" test "$(grep -c '^warpshmem_[a-z]*_[a-z]*,512,512,20,2,[0-9.]*,[0-9.]*$' "$tap_dir/csv")" = 7
tap_check "JSON has all variants" test "$(grep -c '"right": true' "$tap_dir/json")" = 7
tap_done
