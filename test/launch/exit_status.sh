#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# However a PE ends, the job ends within 3 s with the right exit status, one line that says why, and nothing left behind.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"
limit=3000
# A sanitizer would turn the signal into an exit status of its own.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0
TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}handle_segv=0
export ASAN_OPTIONS TSAN_OPTIONS

# repeat NAME STATUS TEXT COURSE…
repeat()
{
    name=$1
    wanted=$2
    text=$3
    shift 3
    for round in $(seq "$rounds"); do
        job $limit -n 4 "$course" "$@"
        judge "$wanted" "$text"
        [ -z "$why" ] || break
    done
    if [ -n "$why" ]; then tap_fail "$name" "in round $round of $rounds: $why"; else tap_ok "$name, $rounds times"; fi
}

repeat "all well" 0 '' hello
repeat "shmem_init and shmem_finalize 5 times" 0 '' again 5
repeat "kill -9 of a PE" 137 'PE 3 \(.*, pid [0-9]+\) killed by signal 9 \(Killed\); ending job' raise 9
repeat "segmentation fault" 139 'PE 2 .* killed by signal 11 \(Segmentation fault' raise 11 2
repeat "abort" 134 'PE 0 .* killed by signal 6 \(Aborted' abort 0 0
repeat "exit(3) without finalize" 3 'PE 3 .* exited with status 3; ending job' exit 3
repeat "return 0 without finalize, all PEs" 0 '' leave
tap_check "and PE 0 says so once" test "$(grep -c 'PE 0 (.*ended without shmem_finalize' "$err")" = 1 -a "$(wc -l <"$err")" = 1
repeat "exit status 5 after finalize" 5 'PE 3 .* exited with status 5; ending job' late 5
repeat "shmem_global_exit(7)" 7 'PE 3 .* ended the job with status 7' global 7
repeat "shmem_global_exit(0)" 0 '' global 0
repeat "a child that outlives its PE" 0 '' child
repeat "shmem_global_exit(5) in a handler of a signal that the first thread blocks" 5 'PE 3 .* ended the job with status 5' handler 5

job $limit -n 1 "$course" hello
ended "one PE: all well" 0 ''
job $limit -n 1 "$course" raise 9
ended "one PE: kill -9" 137 'PE 0 .* killed by signal 9'
job $limit -n 1 "$course" global 7
ended "one PE: shmem_global_exit(7)" 7 'PE 0 .* status 7'
job $limit -n 3 hostname
ended "a program without SHMEM" 0 ''
job $limit -n 2 false
ended "a program without SHMEM that fails" 1 'PE [01] .* exited with status 1; ending job'
job $limit -n 2 sh -c "[ \$PMIX_RANK = 0 ] || exit 0; exec $course hello"
ended "a PE that never comes to shmem_init" 1 'PE 1 .* without shmem_init, in which others wait'
job $limit -n 2 sh -c "$course raise 9; true"
ended "a PE dies inside a script that hides it" 1 'PE 1 .* exited with status 0, and the PE that it had started ended without'
job $limit -n 2 sh -c "$course raise 9; sleep 20"
ended "and goes on" 1 'PE 1 .* is gone without shmem_finalize'
after="$course hello; [ \$PMIX_RANK = 1 ] || exit 5"
job $limit -n 2 sh -c "$after; sleep 0.3; echo last words"
grep -q "^last words" "$out" || echo "the other PE's last words are lost" >>"$left_file"
ended "a PE fails after finalize while the other goes on for a moment" 5 'PE 0 .* exited with status 5; ending job'
job $limit -n 2 sh -c "$after; sleep 20"
ended "or for long" 5 'PE 0 .* exited with status 5; ending job'
job $limit -n 2 sh -c "case \$PMIX_RANK in 1) sleep 0.3; exit 4;; esac; exec $course hello"
ended "a PE fails while the other waits in shmem_init" 4 'PE 1 .* exited with status 4'
job $limit -n 2 sh -c 'echo $$ >>"$1.pids"; : >"/dev/shm/$$:$(id -u):0"; kill -9 $$' sh "$course"
ended "a PE dies before the shm provider's file has lost its name" 137 'PE [01] .* killed by signal 9'
kept=$(while read -r pid; do ls "/dev/shm/$pid:$(id -u):0"; done <"$course.pids" 2>/dev/null)
tap_check "and the file is gone" test -s "$course.pids" -a -z "$kept"
job 3000 -n 2 sh -c "case \$PMIX_RANK in 1) exit 4;; esac; trap '' TERM; while :; do sleep 0.2; done"
ended "PEs deaf to SIGTERM are killed" 4 'PE 1 .* exited with status 4'
tap_check "within 3 s" in_time

# The reader of standard output has stopped, and a thread of the PE waits for it in printf: the PEs end all the same.
(timeout -k 2 30 "$oshrun" -n 2 "$course" stuck 5 2>"$err"; echo $? >"$tap_dir/stuck") | {
    for _ in $(seq 300); do
        grep -q 'ended the job with status 5' "$err" && [ "$(pgrep -fc "^$course stuck")" = 0 ] && : >"$tap_dir/gone" && break
        sleep 0.1
    done
    head -c 100 >/dev/null
}
status=$(cat "$tap_dir/stuck")
tap_check "shmem_global_exit(5) while a thread waits for a stopped reader" test "$status" = 5 -a -e "$tap_dir/gone"
tap_done
