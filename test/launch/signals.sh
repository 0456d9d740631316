#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun passes signals on to the PEs, stops and continues with them, and kills at the second Ctrl-C.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

# await COUNT TEXT: until that many lines of the output have TEXT.
await()
{
    for _ in $(seq 250); do
        [ "$(grep -c "$2" "$out")" -ge "$1" ] && return 0
        sleep 0.02
    done
    return 1
}

start_job 2 -n 2 "$course" catch
for sig in USR1 USR2 INT; do
    kill "-$sig" "$job"
    tap_check "SIG$sig reaches the PEs" await 2 "got $sig"
done
kill -TSTP "$job"
sleep 0.3
tap_check "SIGTSTP stops oshrun" grep -q '^State:.*stopped' "/proc/$job/status"
kill -CONT "$job"
tap_check "and has reached the PEs" await 2 "got TSTP"
tap_check "SIGCONT reaches the PEs" await 2 "got CONT"
began=$(now_ms)
kill -HUP "$job"
end_job 3000
ended "SIGHUP reaches the PEs, which end well" 0 ''

start_job 2 -n 2 "$course" wait
began=$(now_ms)
kill -INT "$job"
end_job 3000
ended "PEs that take no SIGINT die of it" 130 'PE [01] .* killed by signal 2 \(Interrupt\), which oshrun was sent'

start_job 2 -n 2 "$course" wait
began=$(now_ms)
kill -TERM "$job"
end_job 3000
ended "and of SIGTERM" 143 'killed by signal 15 \(Terminated\), which oshrun was sent'

start_job 2 -n 2 "$course" deaf
began=$(now_ms)
kill -INT "$job"
sleep 0.5
tap_check "PEs deaf to SIGINT go on" kill -0 "$job"
kill -INT "$job"
end_job 3000
ended "a second SIGINT kills them" 130 'second signal 2'

start_job 2 -n 2 --kill-wait 1.5 "$course" deaf
began=$(now_ms)
kill -TERM "$job"
sleep 0.7
tap_check "PEs deaf to SIGTERM go on" kill -0 "$job"
end_job 4000
ended "until --kill-wait" 143 'PEs still run 1.5 s after SIGTERM; killing all PEs \(--kill-wait'
tap_check "and not before" test "$took" -ge 1500

start_job 2 -n 2 --kill-wait 0 "$course" deaf
began=$(now_ms)
kill -TERM "$job"
end_job 2000
ended "--kill-wait 0 kills at once" 143 'PEs still run 0 s after SIGTERM'

# shellcheck disable=SC2016
start_job 2 -n 2 --kill-wait 1.5 sh -c '[ "$PMIX_RANK" = 1 ] || trap "" TERM; exec "$0" wait' "$course"
began=$(now_ms)
kill -TERM "$job"
end_job 4000
tap_check "a PE that dies of the SIGTERM leaves the other its time" test "$status" = 143 -a "$took" -ge 1500
tap_check "and two lines say so" test "$(grep -cE 'PE 1 .*, which oshrun was sent|PEs still run 1.5 s' "$err")" = 2

start_job 2 -n 2 --kill-wait 1 "$course" deaf
kill -INT "$job"
sleep 2.5
tap_check "after a SIGINT nothing is killed" kill -0 "$job"
began=$(now_ms)
kill -KILL "$job"
end_job 3000

# In shmem_init, which PE 1 never calls, deaf PEs have 2 s; a PE that has finished it has all of --kill-wait.
# shellcheck disable=SC2016
start_job 2 -n 2 sh -c 'trap "" TERM; echo ready; [ "$PMIX_RANK" = 1 ] && exec sleep 20; exec "$0" hello' "$course"
began=$(now_ms)
kill -TERM "$job"
end_job 6000
ended "in shmem_init they have 2 s" 143 'no PE has finished shmem_init 2 s after SIGTERM; killing all PEs'
tap_check "and no less" test "$took" -ge 2000

start_job 2 -n 2 --kill-wait 4 "$course" deaf
began=$(now_ms)
kill -TERM "$job"
end_job 8000
ended "after shmem_init more" 143 'PEs still run 4 s after SIGTERM'

start_job 1 -n 1 --kill-wait 4 "$course" deaf
began=$(now_ms)
kill -TERM "$job"
end_job 8000
ended "a single PE too" 143 'PEs still run 4 s after SIGTERM'

start_job 1 -n 2 sh -c "trap '' TERM; $course wait"
kill -TSTP "$job"
sleep 0.2
kill -CONT "$job"
began=$(now_ms)
pe=$(for pid in $(processes); do readlink "/proc/$pid/exe" | grep -q course && echo "$pid"; done | head -n 1)
kill -9 "$pe"
end_job 3000
ended "stopped, continued, and a PE killed" 137 'PE [01] .* exited with status 137|killed by signal 9|is gone'

: >"$out"
(
    trap '' HUP
    exec "$oshrun" -n 2 "$course" catch >"$out" 2>"$err" </dev/null
) &
job=$!
await 2 ready
kill -HUP "$job"
sleep 0.3
tap_check "under nohup SIGHUP ends nothing" kill -0 "$job"
began=$(now_ms)
kill -TERM "$job"
sleep 0.3
kill -TERM "$job"
end_job 3000
ended "but a second SIGTERM does" 143 'second signal 15'
tap_done
