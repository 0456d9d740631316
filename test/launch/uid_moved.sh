#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The PE that made the unique id has exited with 0, and in the very moment in which the others move to another root one of them
# is killed, the new root or another one: the rest end soon, each with one line.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/uid_lib.sh"
ends=$uid # under its name leftovers are found
cp "$(test_program test/launch/helper/ends)" "$ends" || exit 99

# ended RANK: the PEs, from 3 to 0, with the statuses that follow from the death of RANK.
ended()
{
    wanted=
    for rank in 3 2 1 0; do
        one=1
        [ $rank != 0 ] || one=0
        [ $rank != "$1" ] || one=137
        wanted="$wanted $one"
        [ $one != 1 ] || [ "$(wc -l <"$tap_dir/err.$rank")" = 1 ] || return 1
    done
    [ "$statuses" = "$wanted" ] && soon 6000
}

for victim in 1 2 3; do
    uid_clear
    for rank in 3 2 1 0; do
        DIES_IN_MOVE=$victim UID_FILE=$id RANK=$rank WORLD_SIZE=4 timeout -k 2 60 "$ends" exit 0 45 \
            >"$tap_dir/out.$rank" 2>"$tap_dir/err.$rank" </dev/null &
        pids="$pids $rank:$!"
    done
    uid_wait
    uid_ended "PE 0 has left, and PE $victim is killed while the others move to another root" ended $victim
done
tap_done
