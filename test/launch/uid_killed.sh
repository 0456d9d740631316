#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A process of a job that a unique id has started is killed at any time, before, while and after the job starts: the others
# end soon, each with one line. The seed is printed; WSH_TEST_SEED repeats it.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/uid_lib.sh"
SHMEM_BOOTSTRAP_UID_SECONDS=$((2 * ${WSH_TEST_SLOW:-1}))
rounds=8
[ "${WSH_TEST_LONG:-0}" = 1 ] && rounds=100
seed=${WSH_TEST_SEED:-$(date +%s)}
echo "# seed $seed"

# draw N: 0 to N - 1; $drawn.
draw()
{
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1))
}

# Rank 6 is the process that made the id.
ends_well()
{
    for rank in 0 1 2 3 4 5; do
        [ "$rank" != "$victim" ] || continue
        [ "$(wc -l <"$tap_dir/err.$rank")" = 1 ] || { echo "# PE $rank wrote more or less than a line"; return 1; }
    done
    for one in $statuses; do
        case $one in 1 | 96 | 137) ;; *) return 1 ;; esac
    done
    soon 8000
}

for round in $(seq $rounds); do
    make_root
    for rank in 5 4 3 2 1 0; do uid_pe $rank 6 wait 0; done
    pids="$pids 6:$root"
    draw 7
    victim=$drawn
    draw 150
    sleep "$(awk -v ms="$drawn" 'BEGIN { print ms / 1000 }')"
    kill -9 "$(pid_of "$victim")"
    began=$(now_ms)
    # The process that made the id serves until it is killed.
    pids=${pids% 6:*}
    uid_wait
    end_root
    uid_ended "round $round: process $victim is killed after $drawn ms" ends_well
done
tap_done
