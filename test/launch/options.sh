#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What oshrun's options do, in all their spellings.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

run_job 10 "$oshrun" --help
tap_check "--help" grep -q '^Usage: oshrun -n N' "$out"
for option in -np -x -H --hostfile --bind --tag-output --timestamp --output-filename --nodes-emulated --kill-wait -v --version; do
    tap_check "--help tells of $option" grep -q -- "$option" "$out"
done
run_job 10 "$oshrun" --version
tap_check "--version" grep -qE '^oshrun \(warpshmem\) [0-9]+\.[0-9]+' "$out"

for spelling in '-n 3' '-np 3' '--np 3' '--np=3' '-n 3 --'; do
    # shellcheck disable=SC2086
    run_job 20 "$oshrun" $spelling "$course" hello
    tap_check "$spelling" test "$(grep -c 'of 3$' "$out")" = 3
done
for n in 1 2 5 16; do
    job 20000 -n "$n" "$course" hello
    ended "$n PEs" 0 ''
    tap_check "$n PEs speak" test "$(grep -c "of $n\$" "$out")" = "$n"
done
run_job 20 "$oshrun" -n 2 echo -n 7 --help
tap_check "what follows the program is its own" test "$(cat "$out")" = "7 --help7 --help" -o "$(sort -u "$out")" = "7 --help"

WSH_GIVEN=here
export WSH_GIVEN
# shellcheck disable=SC2016
run_job 10 "$oshrun" -x WSH_A=1 -x WSH_B=a=b,c -x WSH_GIVEN -n 2 sh -c 'echo $WSH_A $WSH_B $WSH_GIVEN'
tap_check "-x" test "$(sort -u "$out")" = "1 a=b,c here"
run_job 10 "$oshrun" -H localhost -n 2 echo yes
tap_check "-H localhost stays here" test "$(wc -l <"$out")" = 2
run_job 10 "$oshrun" --host="$(uname -n):2" -n 2 echo yes
tap_check "--host=this machine stays here" test "$(wc -l <"$out")" = 2

run_job 20 "$oshrun" --nodes-emulated 2 -n 5 "$course" where
tap_check "--nodes-emulated 2" test "$(sort "$out" | tr '\n' ';')" = \
    "0 of 5 node 0;1 of 5 node 0;2 of 5 node 0;3 of 5 node 1;4 of 5 node 1;"
run_job 20 "$oshrun" --nodes-emulated 2 -n 5 env SHMEM_DEBUG=info,BOOTSTRAP "$course" hello
tap_check "and what a PE is told of it" grep -q 'PE 3 of 5 (local 0 of 2) through oshrun' "$err"
run_job 20 "$oshrun" -n 2 env SHMEM_DEBUG=info,BOOTSTRAP "$course" hello
tap_check "without it" grep -q 'PE 1 of 2 (local 1 of 2) through oshrun' "$err"

for how in none hwthread core numa socket; do
    run_job 10 "$oshrun" --bind $how -n 2 grep Cpus_allowed_list /proc/self/status
    tap_comment "$out"
    tap_check "--bind $how" test "$status:$(wc -l <"$out")" = 0:2
done
if [ "$(nproc)" -gt 1 ]; then
    run_job 10 "$oshrun" --tag-output --bind=hwthread -n 2 grep Cpus_allowed_list /proc/self/status
    tap_check "--bind hwthread gives each PE its own" test "$(sed 's/^[^:]*://' "$out" | sort -u | wc -l)" = 2
else
    tap_skip "--bind hwthread gives each PE its own" "one processor"
fi
run_job 10 "$oshrun" --bind core -n 9 true
tap_check "--bind core with more PEs than cores" test "$status" = 0

run_job 10 "$oshrun" -v -n 2 true
tap_check "-v" test "$(grep -cE '^oshrun: PE [01] is pid [0-9]+ on ' "$err")" = 2
run_job 10 "$oshrun" -n 2 sh -c 'ulimit -n; trap'
# shellcheck disable=SC3045
tap_check "the limit of open files is the user's" test "$(sort -u "$out")" = "$(ulimit -n)"
# Signals 1 to 28: glibc itself changes 32 and 33.
signals()
{
    sed -nE 's/^(Sig(Blk|Ign):).*(.{7})$/\1 \3/p' "$1" | sort -u
}
run_job 10 "$oshrun" -n 3 cat /proc/self/status
tap_check "so are blocked and ignored signals" test "$(signals "$out")" = "$(signals /proc/self/status)"
tap_done
