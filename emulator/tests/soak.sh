#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Four processes under load, with drops, stalls and random seeds, and a killed process in half of the runs: no hang, no
# lost or double completion, nothing left. 20 runs of 60 s with WSH_TEST_LONG=1, else two short ones a fabric.
# timeout: 3000
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/emulator/tests/lib.sh"
program=$(test_program emulator/tests/soak)
runs=4 seconds=2.5
[ "${WSH_TEST_LONG:-0}" != 1 ] || { runs=20 seconds=60; }
limit=120

for run in $(seq "$runs"); do
    case $((run % 4)) in 0 | 1) fabric=efa ;; *) fabric=efa-direct ;; esac
    death=
    [ $((run % 2)) = 1 ] || death='kill'
    seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
    over --seed "$seed" --faults 'drop 2%; duplicate 2% late 1ms; stall 20ms every 300ms' -- "$program" $fabric $seconds "$seed" $death
    if [ "$status" = 77 ] && [ $fabric = efa-direct ]; then
        fabric=efa
        over --seed "$seed" --faults 'drop 2%; duplicate 2%; stall 20ms every 300ms' -- "$program" $fabric $seconds "$seed" $death
    fi
    judge "run $run, $fabric, seed $seed, $seconds s${death:+, one process killed}"
done
tap_done
