#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# When oshrun itself is killed, nothing of the job is left within 3 s: no process, folder, socket or shared memory.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

# killed NAME SIGNAL COURSE…
killed()
{
    name=$1
    sig=$2
    shift 2
    for round in $(seq "$rounds"); do
        start_job 4 -n 4 "$@"
        began=$(now_ms)
        kill "-$sig" "$job"
        end_job 3000 2>/dev/null
        why=
        in_time || why="took $took ms"
        [ ! -s "$left_file" ] || why="left behind: $(cat "$left_file")"
        [ -z "$why" ] || break
    done
    if [ -n "$why" ]; then tap_fail "$name" "in round $round of $rounds: $why"; else tap_ok "$name, $rounds times"; fi
}

killed "kill -9 of oshrun" KILL "$course" wait
killed "kill -9 of oshrun with PEs deaf to signals" KILL "$course" deaf
killed "kill -9 of oshrun, PEs behind a script" KILL sh -c "$course wait; true"
killed "kill -SEGV of oshrun" SEGV "$course" wait

# At an early moment, when not all PEs are there yet.
for delay in 0.001 0.004 0.01 0.02 0.03 0.05; do
    : >"$tap_dir/start"
    "$oshrun" -n 8 "$course" wait >"$out" 2>"$err" </dev/null &
    job=$!
    sleep $delay
    began=$(now_ms)
    kill -9 "$job"
    end_job 3000 2>/dev/null
    if [ -s "$left_file" ]; then tap_fail "kill -9 after $delay s" "left behind: $(cat "$left_file")"
    else tap_ok "kill -9 after $delay s"; fi
done

start_job 2 -n 2 "$course" wait
mapped=$(for pid in $(processes); do grep -l ' /dev/shm/' "/proc/$pid/maps" 2>/dev/null; done)
began=$(now_ms)
kill -9 "$job"
end_job 3000 2>/dev/null
tap_check "no PE maps a file of /dev/shm" test -z "$mapped"
tap_done
