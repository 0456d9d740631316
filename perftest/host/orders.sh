#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every order of puts, and both methods to wait, on every path: right data, and the ratios in the end. Then intranode:
# one table of the paths of one host; nics; and collectives beside the copies that they have to make.
# timeout: 400
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
orders=$(test_program perftest/orders)
short='-n 2 -w 1 -k 1 -W 8 -s 8,8k'
SHMEM_SYMMETRIC_SIZE=64M EFA_EMULATOR_QUIET=1
export SHMEM_SYMMETRIC_SIZE EFA_EMULATOR_QUIET
paths='local shm tcp'
why="a preloaded library does not go with ${WSH_TEST_VARIANT:-clang}"
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] || why="the emulator is not built (libibverbs-dev)"
case ${WSH_TEST_VARIANT:-clang}$why in
    clang"a preloaded"*) paths='local shm tcp efa' ;;
    *) tap_skip "efa" "$why" ;;
esac

for path in $paths; do
    case $path in
        local) words="" ;;
        efa) words=--emulate-efa ;;
        *) words="" SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=$path
            export SHMEM_TRANSPORTS SHMEM_LIBFABRIC_PROVIDER ;;
    esac
    # shellcheck disable=SC2086
    run_job 60 "$oshrun" $words -n 2 "$orders" $short
    unset SHMEM_TRANSPORTS SHMEM_LIBFABRIC_PROVIDER
    tap_check "$path: right data" sh -c "[ $status = 0 ] && ! grep -q WRONG '$out' && [ \$(grep -vc '^#' '$out') = 14 ]"
    tap_check "$path: ratios of 5 orders, 2 sizes" test "$(grep -c '^# put' "$out")" = 10
    tap_check "$path: 4 claims, 2 sizes" test "$(grep -cE '^# (a fence|a drain|a signal|polling) ' "$out")" = 8
done
run_job 60 "$oshrun" -n 2 "$orders" $short --json - -m put,put_fence
tap_check "JSON alone on stdout, with CPU time" sh -c "python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))[\"rows\"]
sys.exit(not (len(rows) == 4 and all(r[\"right\"] and r[\"cpu_ns\"] > 0 for r in rows)))' '$out'"

# The paths of one host, and NICs: by several programs each.
tables()
{
    paths=$(echo "$paths" | sed 's/tcp//; s/ *$//; s/  */,/g')
    run_job 200 "$top_srcdir/perftest/compare" intranode --dir "$top_builddir/perftest" --oshrun "$oshrun" --paths "$paths" \
        --options '-n 2 -k 1' --reps 1
    tap_check "intranode: 20 rows" sh -c "[ $status = 0 ] && [ \$(grep -vc '^#' '$out') = 20 ]"
    tap_check "intranode: every figure is there" sh -c "! grep -v '^#' '$out' | grep -q ' - '"
    case $paths in
        *efa*) run_job 100 "$top_srcdir/perftest/host/nics" --dir "$top_builddir/perftest" --oshrun "$oshrun" --match quiet \
                --samples 2 --reps 1
            tap_check "nics: 9 rows" sh -c "[ $status = 0 ] && [ \$(grep -vc '^#' '$out') = 9 ]" ;;
        *) tap_skip "nics" "$why" ;;
    esac
}
! tap_long "intranode and nics" || tables
for option in --paths --roads; do
    run_job 20 "$top_srcdir/perftest/compare" intranode --dir "$top_builddir/perftest" $option air
    tap_check "intranode: $option with an unknown path: one line" \
        sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ] && grep -q -- '--paths: .air' '$err'"
done
run_job 100 "$top_srcdir/perftest/compare" --ours-dir "$top_builddir/perftest" --ours-run "$oshrun" --limit memory --reps 1 \
    --rows '[af]*64Ki 4 PEs' --history "$tap_dir/history"
tap_check "compare: 2 rows beside memory" \
    sh -c "[ $status = 0 ] && [ \$(grep -cE '^[af].* (within|beyond)\$' '$out') = 2 ]"
tap_check "compare: the first run of a history" \
    sh -c "grep -q 'has no earlier run' '$out' && [ \$(wc -l <'$tap_dir/history') = 1 ]"
PYTHONDONTWRITEBYTECODE=1 python3 - "$top_srcdir/perftest" "$tap_dir/history" >"$out" 2>"$err" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import sides as history
run = history.load(sys.argv[2])[-1]
rows = [{"row": "a", "ours_us": [1.0, 1.1], "peer_us": [2.0, 2.0]},
        {"row": "b", "ours_us": [1.0, None], "peer_us": [1.0, 1.0]}]
slow = [dict(rows[0], ours_us=[2.0, 2.2]), dict(rows[1], ours_us=[1.02, 1.0])]
assert run["kind"][:2] == [history.machine(), "memory"], run["kind"]
assert history.last_of([run], run["kind"]) is run and history.last_of([run], ["other"]) is None
assert history.moved({"rows": rows}, {"rows": rows}) == []
assert [line.split()[0] for line in history.moved({"rows": rows}, {"rows": slow})] == ["a"]
assert history.moved({"rows": rows}, {"rows": slow})[0].endswith("worse")
assert history.moved({"rows": slow}, {"rows": rows})[0].endswith("better")
END
status=$?
tap_check "compare: what moved" test "$status" = 0
echo nonsense >>"$tap_dir/history"
run_job 20 "$top_srcdir/perftest/compare" --ours-dir "$top_builddir/perftest" --limit memory --history "$tap_dir/history"
tap_check "compare: a history that is none: one line" \
    sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ] && grep -q 'line 2 is no run of compare' '$err'"
tap_done
