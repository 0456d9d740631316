#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What all performance tests share: a letter is one option in all of them, JSON says what identifies a run,
# plot makes an image or fails, and a row that takes long is announced on a terminal.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
latency=$(test_program perftest/put_latency)

# Of every program that is built: `-x, --name` of its help.
for name in alltoall_latency barrier init memory_bare orders put_bw put_latency threads_rate; do
    run_job 30 "$oshrun" -n 1 "$(test_program "perftest/$name")" --help
    sed -n 's/^  \(-., --[a-z]*\) .*/\1/p' "$out" >>"$tap_dir/letters"
done
for name in ep/ep_host 'fabric/libfabric all2all' 'fabric/libfabric limit' 'fabric/libfabric sendrecv' 'fabric/libfabric write' proxy/queue device/p2p \
    device/collectives device/ep device/internode device/jacobi; do
    program=$(test_program "perftest/${name% *}")
    [ -x "$program" ] || continue
    # shellcheck disable=SC2046
    run_job 30 "$program" $(echo "$name" | sed -n 's/.* //p') --help
    sed -n 's/^  \(-., --[a-z]*\) .*/\1/p' "$out" >>"$tap_dir/letters"
done
twice=$(sort -u "$tap_dir/letters" | cut -c1-2 | uniq -d)
tap_check "a letter is one option in all programs: ${twice:-none is two}" \
    sh -c "[ -z '$twice' ] && [ \$(sort -u '$tap_dir/letters' | wc -l) -ge 11 ]"
for option in '-n 0' '-n' '-s 8,x' '-b 1k -e 8' '-m nothing' '-x' '--nonsense' '-f 1' 'more'; do
    # shellcheck disable=SC2086
    run_job 30 "$oshrun" -n 2 "$latency" $option
    tap_check "$option: exit status 2, one line" \
        sh -c "[ $status = 2 ] && [ \$(grep -c '^put_latency: ' '$err') = 1 ]"
done
run_job 30 "$oshrun" -n 2 "$latency" -s 8 -n 2 --mode 'put+*' --csv -
tap_check "rows by pattern, and by the option's other name" test "$(grep -c '^put_latency,2,put+quiet,8,.*,yes$' "$out")" = 1

SHMEM_HANG_SECONDS=77
export SHMEM_HANG_SECONDS
run_job 60 "$oshrun" -n 2 "$latency" -s 8 -n 2 -m put --json "$tap_dir/json"
tap_check "JSON says where, when and with what it ran" sh -c "python3 -c '
import json, socket, sys
head = json.load(open(sys.argv[1]))
sys.exit(not (head[\"host\"] == socket.gethostname() and head[\"date\"][:2] == \"20\" and head[\"warpshmem_version\"]
              and head[\"transport\"] == \"shared memory\" and head[\"settings\"][\"SHMEM_HANG_SECONDS\"] == \"77\"
              and head[\"command\"].endswith(\"-m put --json \" + sys.argv[1])))' '$tap_dir/json'"
run_job 20 "$top_srcdir/perftest/plot" --text "$tap_dir/json"
tap_check "plot --text prints it" sh -c "[ $status = 0 ] && grep -q '^# put_latency put ' '$out'"
run_job 60 "$top_srcdir/perftest/plot" "$tap_dir/json" -o "$tap_dir/plot.png"
tap_check "plot: exit status 0 and an image, or neither and one line" sh -c \
    "[ $status = 0 ] && [ -s '$tap_dir/plot.png' ] || { [ $status = 1 ] && grep -q 'no .*plot.png was written' '$err'; }"

# Of the same build twice, in a round that is too short to mean anything: that all rows come, and how it refuses.
rows=$("$top_srcdir/perftest/compare" builds "$top_builddir" "$top_builddir" --pes 2 --paths local --list | grep -c .)
run_job 90 "$top_srcdir/perftest/compare" builds "$top_builddir" "$top_builddir" -r 1 --pes 2 --paths local --limit 1e9 \
    --options '-n 2 -w 1 --seconds 0.05'
tap_check "regress runs every row with both builds" \
    sh -c "[ $status = 0 ] && [ $rows -ge 18 ] && [ \$(grep -c '^local .* 1$' '$out') = $rows ]"
run_job 90 "$top_srcdir/perftest/compare" builds "$top_builddir" "$top_builddir" -r 1 --pes 2 --paths local --limit 0 \
    --options '-n 2 -w 1 --seconds 0.05'
tap_check "regress says what is slower" \
    sh -c "[ $status = 1 ] && [ \$(grep -c ' slower$' '$out') = $rows ]"
run_job 20 "$top_srcdir/perftest/compare" builds "$tap_dir" "$top_builddir"
tap_check "regress names a folder without a build" sh -c "[ $status = 2 ] && grep -q 'no built oshrun' '$err'"

long='-n 1000000 --seconds 4 -s 8 -m put'
# On a busy machine the seconds of a row may be those of its calibration: thrice.
for _ in 1 2 3; do
    # shellcheck disable=SC2086
    run_job 60 python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$oshrun" -n 2 "$latency" $long
    grep -q '^# row 1 of 1, put, 8 bytes: [0-9]* s' "$out" && break
done
tap_check "a terminal sees a row that takes long" grep -q '^# row 1 of 1, put, 8 bytes: [0-9]* s' "$out"
# shellcheck disable=SC2086
run_job 60 "$oshrun" -n 2 "$latency" $long
tap_check "a file does not" sh -c "[ $status = 0 ] && ! grep -q '# row' '$out' '$err'"
for _ in 1 2 3; do
    # shellcheck disable=SC2086
    run_job 60 "$oshrun" -n 2 "$latency" $long --seconds 2 --progress
    grep -q '^# row 1 of 1, put, 8 bytes: [0-9]* s' "$err" && break
done
tap_check "but with --progress" grep -q '^# row 1 of 1, put, 8 bytes: [0-9]* s' "$err"
tap_done
