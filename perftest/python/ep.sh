#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The calls of Python's deep_ep, timed: options and rows; on the CPU lines of every row, beside the C interface; lines that
# are there are not run again; a table of several sides; processes that another launcher has started.
# timeout: 120
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
program=$(cd "$top_srcdir/perftest/python" && pwd)/ep
for python in "${WSH_TEST_PYTHON:-python3}" /usr/bin/python3 python3; do
    "$python" -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("torch"))' 2>/dev/null && break
done
WARPSHMEM_LIBRARY_DIR=$top_builddir/.libs SHMEM_SYMMETRIC_SIZE=64M PYTHONPATH=$top_srcdir/python GLOO_SOCKET_IFNAME=lo
export WARPSHMEM_LIBRARY_DIR SHMEM_SYMMETRIC_SIZE PYTHONPATH GLOO_SOCKET_IFNAME
small='--tokens 2,4 --prefill 8 --hidden 256 --experts 8 --topk 2 -n 4'

run_job 20 "$python" "$program" --help
tap_check "--help names the rows" sh -c "[ $status = 0 ] && grep -q '{dispatch,combine,both,chain}' '$out'"
run_job 20 "$python" "$program" --list
tap_check "--list prints each row once" sh -c "[ \$(sort -u '$out' | wc -l) = 133 ] && [ \$(wc -l <'$out') = 133 ] &&
    grep -qx decode.fp8.256.128.both.hook '$out' && grep -qx prefill.bf16.256.4096.first.event '$out'"
run_job 20 "$python" "$program" --list --tokens 8 -m 'hook,prefill.fp8.*.graph' --mode prefill
tap_check "-m and --mode choose" sh -c "[ \"\$(cat '$out')\" = prefill.fp8.256.4096.dispatch.graph ]"
for bad in --nonsense '--pes 0' '--tokens 1,x' '--hidden 100' '--topk 300' '--experts 3' '--most 4' '--name native' \
    '-m nothing' '--native /' '--mode both' '--round x'; do
    # shellcheck disable=SC2086
    run_job 20 "$python" "$program" $bad
    tap_check "$bad: exit status 2, one line" sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ]"
done
run_job 20 "$python" "$program" --module no_such_package
tap_check "no such package: exit status 77, one line" sh -c "[ $status = 77 ] && [ \$(wc -l <'$err') = 1 ] && [ ! -s '$out' ]"
# shellcheck disable=SC2086
run_job 60 "$python" "$program" --module none --native "$top_builddir" $small
tap_check "the C interface alone needs no torch" sh -c "[ $status = 0 ] && [ \$(grep -c '^native ' '$out') = 16 ]"
cp "$out" "$tap_dir/lines"
cat >>"$tap_dir/lines" <<'END'
theirs    1   2 decode.bf16.8.2.both.call                200.0     50.00     60.00     90.00    100.00         -
theirs    2   2 decode.bf16.8.2.both.call                220.0     50.00     60.00     90.00    100.00         -
# ours    1   2 decode.bf16.8.2.both.call                  1.0      1.00      1.00      1.00      1.00         -
END
run_job 20 "$python" "$program" --table "$tap_dir/lines"
tap_check "the table has medians of a side's rounds, beside the C interface" sh -c "[ $status = 0 ] &&
    [ \$(grep -vc '^#' '$out') = 1 ] && grep -q '^  2 decode.bf16.8.2.both.call  *[0-9.]* |    210.0    50.00 ' '$out'"

case ${WSH_TEST_VARIANT:-clang} in
    clang) ;;
    *) tap_skip "rows on the CPU" "Python without sanitizers does not load the library of $WSH_TEST_VARIANT"; tap_done ;;
esac
"$python" -c 'import torch' 2>/dev/null || { tap_skip "rows on the CPU" "no torch: apt-get install python3-torch"; tap_done; }
mkdir "$tap_dir/broken_ep"
echo 'raise RuntimeError("broken")' >"$tap_dir/broken_ep/__init__.py"
# shellcheck disable=SC2086
run_job 60 env PYTHONPATH="$tap_dir" "$python" "$program" $small --module broken_ep
tap_check "a package that does not load: exit status 1" sh -c "[ $status = 1 ] && grep -q 'RuntimeError' '$err' && grep -q 'broken\$' '$err'"
# shellcheck disable=SC2086
run_job 60 "$python" "$program" $small -m '*.bf16.*.2.both.call' -n 100000000 --minutes 0.03
tap_check "no end: exit status 1, with a line" sh -c "[ $status = 1 ] && grep -q '^ep: no end within 0.03 minutes' '$err'"
# shellcheck disable=SC2086
run_job 60 "$python" "$program" $small -m '*.bf16.*' --native "$top_builddir"
tap_check "2 PEs: a line a row, none wrong" sh -c "[ $status = 0 ] && [ \$(grep -c '^ours ' '$out') = 24 ] && ! grep -q WRONG '$out'"
grep -v 'ours .*hook' "$out" >"$tap_dir/lines"
# shellcheck disable=SC2086
run_job 60 "$python" "$program" $small -m '*.bf16.*' --native "$top_builddir" --done "$tap_dir/lines"
tap_check "--done: what is there is not run again" sh -c "[ $status = 0 ] && [ \$(grep -c '^ours .*hook' '$out') = 6 ] &&
    [ \$(grep -vc '^#' '$out') = 6 ]"
for rank in 0 1; do
    # shellcheck disable=SC2086
    RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + $$ % 12000)) \
        timeout 60 "$python" "$program" $small -m '*.bf16.*.both.call' >"$tap_dir/rank$rank" 2>&1 &
done
wait
tap_check "processes of another launcher: rank 0 has the lines" \
    sh -c "[ \$(grep -c '^ours .*both.call' '$tap_dir/rank0') = 2 ] && [ ! -s '$tap_dir/rank1' ]"
tap_done
