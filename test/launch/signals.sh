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
