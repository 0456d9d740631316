#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The simulator runs the library's collectives: right results with many seeds, shapes and windows, no deadlock; it
# notices a lost message, a signal before its data, and a window that nobody opens again; a seed gives the same run
# again. WSH_TEST_LONG: 1,000 seeds of 1,000 PEs and 10 of 100,000 (9 GiB of memory).
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
sim=$(test_program sim/sim)
case ${WSH_TEST_VARIANT:-} in
    *asan* | *tsan* | valgrind) tap_skip_all "fibers do not go with ${WSH_TEST_VARIANT}" ;;
esac
command -v python3 >/dev/null || tap_skip_all "no python3"

# soak NAME LIMIT PES SEEDS OPTIONS…
soak()
{
    name=$1 limit=$2 pes=$3 seeds=$4
    shift 4
    run_job "$limit" "$top_srcdir/sim/soak" --sim "$sim" --pes "$pes" --seeds "$seeds" -- "$@"
    tap_check "$name" sh -c "[ $status = 0 ] && grep -q '^simulated: .* no deadlock' '$out'"
    tap_comment "$out" | tail -n 2
}

# found NAME OPTIONS…: the run must end by itself and say what is wrong.
found()
{
    name=$1
    shift
    run_job 60 "$sim" "$@"
    tap_check "$name" sh -c "[ $status = 1 ] && grep -q '^VIOLATION' '$out'"
    tap_comment "$out" | head -n 1
}

found "a lost message" --pes 256 --mutant lost
found "a signal before its data" --pes 256 --len 4096 --mutant early --run broadcast
found "a lost message of a nonblocking collective" --pes 64 --mutant lost --run requests
found "a signal of one before its data" --pes 64 --len 4096 --mutant early --run requests
found "a window that nobody opens" --pes 256 --mutant window --run fcollect --len 4096

run_job 60 "$sim" --pes 512 --seed 7 --json --run reduce
sed 's/, "took_s.*//' "$out" >"$tap_dir/first"
run_job 60 "$sim" --pes 512 --seed 7 --json --run reduce
sed 's/, "took_s.*//' "$out" >"$tap_dir/second"
tap_check "a seed gives the same run again" cmp "$tap_dir/first" "$tap_dir/second"

run_job 100 "$sim" --pes 64 --run decode,prefill --rounds 2
lines=$(grep -cE '^ +(decode|prefill)' "$out")
tap_check "expert parallelism: 64 PEs on 8 hosts" test "$status $lines" = "0 2"

# goals LIMIT OPTIONS…: barriers and alltoalls against what they may take.
goals()
{
    limit=$1
    shift
    run_job "$limit" "$top_srcdir/sim/table" goals --sim "$sim" "$@"
    tap_check "goals of barrier and alltoall" test "$status" = 0
    tap_comment "$out"
}

# few LIMIT OPTIONS…: with few hosts in full calls take what they take with all of them.
few()
{
    limit=$1
    shift
    run_job "$limit" "$top_srcdir/sim/table" hosts --sim "$sim" --rounds 1 "$@"
    tap_check "4 hosts in full, the others by their rates" test "$status" = 0
    tap_comment "$out"
}

all=barrier,broadcast,reduce,put,fcollect,alltoall,collect,scan
some=barrier,broadcast,reduce,put
if [ "${WSH_TEST_LONG:-0}" = 1 ]; then
    goals 1800 --rounds 1
    few 1800 --run barrier,alltoall,fcollect,decode
    soak "1,000 seeds of 1,000 PEs" 7200 1000 1000 --rounds 2 --run $some
    soak "300 seeds of 200 PEs, all collectives" 7200 200 300 --rounds 3 --run $all
    soak "60 seeds of 1,000 PEs, collects" 7200 1000 60 --rounds 2 --len 16 --run fcollect,collect
    soak "10 seeds of 100,000 PEs" 7200 100000 10 --rounds 1 --run barrier,broadcast,reduce
    soak "100 seeds of 1,000 PEs, alltoall in two steps" 7200 1000 100 --rounds 2 --run alltoall --algo grid
    soak "300 seeds of 1,000 PEs, nonblocking" 7200 1000 300 --rounds 2 --skew 3000 --run requests
    soak "10 seeds of 1,000 PEs, nonblocking exchanges" 7200 1000 10 --rounds 1 --len 128 --run exchanges
    soak "20,000 seeds of 12 PEs, nonblocking" 7200 12 20000 --rounds 5 --skew 2000 --run requests,exchanges
else
    goals 60 --rounds 1 --pes 8,64,256 --barrier 64,8192
    few 60 --run barrier,alltoall,fcollect,decode,prefill --pes 128
    few 120 --run alltoall --pes 1536
    soak "8 seeds of 1,000 PEs" 120 1000 8 --rounds 2 --run $some
    soak "3 seeds of 1,000 PEs, collects" 120 1000 3 --rounds 2 --len 16 --run fcollect,collect
    soak "40 seeds of 40 PEs, all collectives" 120 40 40 --rounds 3 --run $all
    soak "40 seeds of 40 PEs, alltoall in two steps" 120 40 40 --rounds 3 --run alltoall --algo grid
    soak "2 seeds of 1,000 PEs, nonblocking" 120 1000 2 --rounds 1 --run requests
    soak "200 seeds of 12 PEs, nonblocking" 120 12 200 --rounds 3 --skew 2000 --run requests,exchanges
fi
run_job 60 "$sim" --seeds 8 --pes 12 --len 16384 --rounds 2 --threads 1 --run requests,exchanges
tap_check "nonblocking ones of 64 KiB and more, which threads begin" \
    sh -c "[ $status = 0 ] && grep -q ' [1-9][0-9]* requests begun by threads: no early' '$out'"
tap_comment "$out"
run_job 20 "$sim" --seeds 1 --pes 8 --tokens 16 --run decode,dispatch
tap_check "two programs that keep something: one line, exit status 2" \
    sh -c "[ $status = 2 ] && [ \$(wc -l <'$err') = 1 ] && grep -q 'one of decode, dispatch, combine and prefill' '$err'"
# Rows that the simulator made itself with a latency of 5 us are found again from 10, and the rest predicted.
costs="--per-host 1 --cores 4 --send 2000 --receive 2000 --turn 2000 --complete 300 --gap 200 --byte 0.3 --jitter 300 --nics 1 --sockets 1"
for pes in 2 4; do
    echo "{\"pes\": $pes, \"per_host\": 1, \"provider\": \"tcp\", \"cores\": 4, \"us\": {"
    for call in sync reduce; do
        # shellcheck disable=SC2086
        "$sim" --json --run "$call" --pes "$pes" --latency 5000 --rounds 51 $costs |
            sed "s/.*\"median_us\": \([0-9.]*\).*/\"$call\": \1,/"
    done
    echo '"barrier": 1000}}'
done | tr -d '\n' | sed 's/}}/}}\n/g' >"$tap_dir/measured"
run_job 60 "$top_srcdir/sim/fit" compare "$tap_dir/measured" --sim "$sim" --fit sync:2,4 --vary latency
tap_check "fit: costs are found, other rows predicted" \
    test "$(grep -cE '^\| (sync|reduce) (\| [0-9. /]+\([+-][0-3] %\) ){2}\|' "$out")" = 2
tap_comment "$out"
run_job 60 "$top_srcdir/sim/fit" measure "$tap_dir/real" --build "$top_builddir" --pes 2 --rounds 1 --run sync --seconds 0.05
tap_check "fit: a line for each number of PEs" grep -q '^{"pes": 2, .*"us": {"sync": [0-9.]*}' "$tap_dir/real"
run_job 60 "$top_srcdir/sim/fit" measure "$tap_dir/real" --build "$top_builddir" --pes 2
tap_check "fit: a line that is there is not measured again" test "$status:$(wc -l <"$tap_dir/real")" = 0:1
tap_done
