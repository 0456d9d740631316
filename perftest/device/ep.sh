#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Expert parallelism on GPUs, without one: help, rows, and one line. With one: a reduced shape of every row, in one host
# and between emulated ones, with right rows.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
program=$top_builddir/perftest/device/ep
small='--tokens 16 --hidden 512 --experts 32 --topk 4 -n 3 -w 1 --compute 100 -c 8'

run_job 20 "$program" --help
tap_check "--help names the rows" sh -c "[ $status = 0 ] && grep -q '^  overlap  ' '$out'"
run_job 20 "$program" --list -m '*.256.*.both'
tap_check "--list prints the rows" sh -c "[ \"\$(tr '\\n' ' ' <'$out')\" = 'decode.fp8.256.128.both decode.bf16.256.128.both \
prefill.fp8.256.4096.both prefill.bf16.256.4096.both ' ]"
run_job 20 "$top_srcdir/perftest/gpu/ep" --pes x "$top_builddir" "$tap_dir/out"
tap_check "gpu/ep: bad options are one line" sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ]"
for bad in '--sets more' '--before /'; do
    # shellcheck disable=SC2086
    run_job 20 "$top_srcdir/perftest/gpu/ep" $bad "$top_builddir" "$tap_dir/out"
    tap_check "gpu/ep $bad: one line" sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ]"
done
for bad in '--tokens x' '--rounds 0' '--theirs /' '--before /'; do
    # shellcheck disable=SC2086
    run_job 20 "$top_srcdir/perftest/gpu/deep_ep" $bad "$top_builddir" "$tap_dir/out"
    tap_check "gpu/deep_ep $bad: one line" sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ]"
done
run_job 20 "$program" --best -c 8
tap_check "--best and -c: one line" sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ]"
if [ ! -e /dev/nvidiactl ]; then
    run_job 60 "$oshrun" -n 2 "$program"
    tap_check "without a GPU: exit status 77, one clear line a PE" sh -c "[ $status = 77 ] && grep -q 'ep: skip: no GPU' '$err'"
    run_job 20 "$top_srcdir/perftest/gpu/ep" "$top_builddir" "$tap_dir/out"
    tap_check "gpu/ep: exit status 77" test "$status" = 77
    tap_skip "rows of two PEs" "no NVIDIA GPU on this machine"
    tap_done
fi
SHMEM_LIBFABRIC_PROVIDER=tcp SHMEM_DEVICE_SYMMETRIC_SIZE=320M
export SHMEM_LIBFABRIC_PROVIDER SHMEM_DEVICE_SYMMETRIC_SIZE
for hosts in 1 2; do
    # shellcheck disable=SC2086
    run_job 200 "$oshrun" -n 2 --nodes-emulated $hosts "$program" $small --check --json "$tap_dir/json"
    tap_check "2 PEs on $hosts host: a line a row, none wrong" \
        sh -c "[ $status = 0 ] && [ \$(grep -vc '^#' '$out') = 14 ] && ! grep -q WRONG '$out'"
    tap_check "… and JSON has them all, with the links' limit in one host" sh -c "python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))[\"rows\"]
one = all((r[\"limit_us\"] is not None) == (sys.argv[2] == \"1\") for r in rows)
sys.exit(not (len(rows) == 14 and one and all(r[\"right\"] for r in rows)))' '$tap_dir/json' $hosts"
done
# shellcheck disable=SC2086
run_job 100 "$oshrun" -n 2 "$program" $small --graph -k 3 -m both
tap_check "by graphs of three calls each" sh -c "[ $status = 0 ] && [ \$(grep -vc '^#' '$out') = 4 ] && ! grep -q WRONG '$out'"
# shellcheck disable=SC2086
run_job 100 "$oshrun" -n 2 "$program" ${small% -c 8} --graph --best -m decode.fp8.32.16.both
tap_check "by the best number of SMs" sh -c "[ $status = 0 ] && [ \$(grep -vc '^#' '$out') = 1 ] && ! grep -q WRONG '$out'"
tap_done
