#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whatever goes wrong in a job that a unique id has started, every process that is left ends soon, with one line that says
# what, and nothing stays behind.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/uid_lib.sh"

# ready N: so many PEs are in the middle of the job.
ready()
{
    for _ in $(seq 500); do
        [ "$(cat "$tap_dir"/out.* 2>/dev/null | grep -c ready)" -ge "$1" ] && return
        sleep 0.02
    done
    echo "# only $(cat "$tap_dir"/out.* | grep -c ready) of $1 PEs are ready"
}

# in_time STATUSES N TEXT: they ended so (in the order of starting), soon, and N said it.
in_time()
{
    [ "$(echo $statuses)" = "$1" ] && soon 4000 && one_line_each "$2" "$3"
}

# Ends in the middle. Ranks start from the highest on.
uid_start 4 kill 0 2
uid_wait
uid_ended "a PE is killed" in_time "1 137 1 1" 3 "PE 2 .*, [0-9]+\) has ended without shmem_finalize, and so does the job"
uid_start 4 exit 3 3
uid_wait
uid_ended "a PE exits" in_time "3 1 1 1" 3 "PE 3 .* has ended without shmem_finalize"
uid_start 4 kill 0 0
uid_wait
uid_ended "the PE that made the id is killed" in_time "1 1 1 137" 3 "lost the connection to the process that made the unique id"
uid_start 4 child 0 1
uid_wait
uid_ended "a PE is killed, and a child of it lives" in_time "1 1 137 1" 3 "PE 1 .* has ended without shmem_finalize"

for who in 0 1 2; do
    for code in 0 7; do
        uid_start 3 global $code $who
        uid_wait
        uid_ended "shmem_global_exit($code) of PE $who" in_time "$code $code $code" 0 ""
    done
done

make_root
for rank in 2 1 0; do uid_pe $rank 3 wait 0; done
ready 3
began=$(now_ms)
kill -9 $root
uid_wait
end_root
uid_ended "the process that made the id, no PE, is killed" in_time "1 1 1" 3 "lost the connection to the process that made"

# Before all have come.
SHMEM_BOOTSTRAP_UID_SECONDS=$((2 * ${WSH_TEST_SLOW:-1}))
make_root
end_root
carried=+
for rank in 1 0; do uid_pe $rank 2 hello; done
uid_wait
carried=
uid_ended "it is killed before any has come" in_time "96 96" 2 \
    "root of the unique id at .* \(by interface .*\) does not answer within .* s: Connection refused; does the process"

make_root
for rank in 1 0; do uid_pe $rank 3 hello; done
sleep 0.5
kill -9 $root
uid_wait
end_root
uid_ended "it is killed before all have come" in_time "96 96" 2 "has ended before all ranks had come"

make_root
for rank in 3 0; do uid_pe $rank 6 hello; done
uid_wait
end_root
uid_ended "four never come" in_time "96 96" 2 "4 of 6 ranks have not come within .* s: 1 to 2, 4 to 5; start them"

make_root
for rank in 0 1; do uid_pe $rank 3 hello; done
sleep 0.5
kill -9 "$(pid_of 1)"
uid_wait
end_root
uid_ended "one that has come is killed" in_time "96 137" 1 "rank 1 .* has ended before all 3 ranks had come"

SHMEM_BOOTSTRAP_UID_SECONDS=$((15 * ${WSH_TEST_SLOW:-1}))
make_root
SHMEM_HANG_SECONDS=0.3 uid_pe 0 2 hello
missing="warning: start by a unique id: waiting for other PEs since .* s; PEs that have not come: 1 "
for _ in $(seq 500); do grep -q "$missing" "$tap_dir/err.0" && break; sleep 0.02; done
uid_pe 1 2 hello
uid_wait
end_root
uid_ended "one comes late, and the other says so" sh -c "grep -q '$missing' '$err' && [ '$statuses' = ' 0 0' ]"

make_root
uid_pe 0 3 hello
sleep 0.3
uid_pe 1 3 hello
sleep 0.3
"$uid" "$id+" 1 3 hello >"$tap_dir/out.again" 2>"$tap_dir/err.again" </dev/null &
pids="$pids again:$!"
uid_wait
end_root
uid_ended "two have the same rank" in_time "96 96 96" 3 "two processes say that they are rank 1, \(.*\) and \(.*\); give each"

make_root
uid_pe 0 3 hello
sleep 0.3
uid_pe 1 4 hello
uid_wait
end_root
uid_ended "two numbers of ranks" in_time "96 96" 2 "rank 0 .* says that there are 3 ranks, rank 1 .* says 4; give all the same"

# One that comes too late is refused, and the job goes on.
make_root
for rank in 1 0; do uid_pe $rank 2 wait 0; done
ready 2
timeout 20 "$uid" "$id+" 0 2 hello >"$out" 2>"$err"
status=$?
if [ "$status" = 96 ] && grep -q "have come already; make a new one" "$err"; then tap_ok "one too many is refused"
else tap_fail "one too many is refused" "no such line"; fi
tap_check "… and the job goes on" kill -0 "$(pid_of 0)" "$(pid_of 1)"
began=$(now_ms)
kill -9 "$(pid_of 1)"
uid_wait
end_root
uid_ended "… until a PE is killed" in_time "137 1" 1 "PE 1 .* has ended without"

# A start that fails on one PE fails on all.
uid_clear
uid_pe 2 3 hello
SHMEM_TRANSPORTS=nosuch uid_pe 1 3 hello
uid_pe 0 3 hello
uid_wait
uid_ended "shmem_init fails on one" each 96
tap_check "… which says why, and the others whose it is" sh -c "grep -q nosuch '$tap_dir/err.1' && grep -q 'PE 1 .* has ended' '$tap_dir/err.0' &&
    grep -q 'PE 1 .* has ended' '$tap_dir/err.2' && [ \$(cat '$tap_dir'/err.* | wc -l) = 3 ]"

uid_clear
(ulimit -n 80; exec "$uid" "$id" make) >/dev/null 2>&1 &
root=$!
carried=+
uid_pe 1 100 hello
uid_pe 0 100 hello
uid_wait
end_root
uid_ended "too few descriptors" in_time "96 96" 2 "may have 80 open files and needs about 164 for 100 ranks; raise the limit"

# Bytes that are no id, or another version's.
uid_clear
head -c 128 /dev/zero >"$id"
carried=+
uid_pe 0 1 hello
uid_wait
uid_ended "what is no id" in_time "96" 1 "pass on all 128 bytes"
make_root
printf '\002' | dd of="$id" bs=1 seek=4 conv=notrunc 2>/dev/null
uid_pe 0 1 hello
uid_wait
end_root
uid_ended "an id of another version" in_time "96" 1 "made by another version of warpshmem \(ids 2, ours 1\)"
tap_done
