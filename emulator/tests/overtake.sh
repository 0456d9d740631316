#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What an unordered network does, at the default profile: data are overtaken by their flag unless somebody waits, and the
# segments of one write land out of order.
# timeout: 400
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/emulator/tests/lib.sh"
program=$(test_program emulator/tests/overtake)
tries=10000

# What is overtaken must be seen within microseconds too: a busy machine hides some of it.
over_seen()
{
    for _ in 1 2 3; do
        over "$@"
        if [ "$status" != 1 ] || [ -n "$left" ]; then break; fi
    done
}

for fabric in $fabrics; do
    over_seen -- "$program" "$fabric" overtaken $tries
    judge "$fabric: overtaken, $tries tries"
    for claim in waited segments immediate; do
        over -- "$program" "$fabric" "$claim" $tries
        judge "$fabric: $claim, $tries tries"
    done
done
over --faults 'reorder 0us' -- "$program" efa-direct ordered $tries
judge "efa-direct without reordering: none overtaken"
over_seen --faults 'reorder 200us' -- "$program" efa-direct overtaken 2000
judge "efa-direct with more of it: overtaken"
for fabric in $fabrics; do
    over --faults 'drop 5% late 1ms; duplicate 5%' -- "$program" "$fabric" waited 1000
    judge "$fabric with drops and duplicates: none overtaken that was waited for"
    over --faults 'drop 5% late 1ms; duplicate 5%' -- "$program" "$fabric" immediate 1000
    judge "$fabric with drops and duplicates: immediate data after all segments"
done
EFA_EMULATOR_COPY=helper
export EFA_EMULATOR_COPY
for fabric in $fabrics; do
    for claim in waited segments immediate; do
        over -- "$program" "$fabric" "$claim" 1000
        judge "$fabric with payload moved by the target's thread: $claim"
    done
done
tap_done
