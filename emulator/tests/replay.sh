#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In replay mode a seed gives the same schedule again, and another seed another one. Every run says its seed.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/emulator/tests/lib.sh"
program=$(test_program emulator/tests/schedule)

# schedule SEED SCRIPT: the orders seen, in $tap_dir/schedule. On fabric efa those of the target alone: its software may
# send receipts, at a time of its own.
schedule()
{
    over --replay --seed "$1" --faults "$2" -- "$program" "$fabric"
    seen='^[st]'
    [ $fabric = efa-direct ] || seen='^target'
    grep "$seen" "$out" | sort >"$tap_dir/schedule"
}

again=1
[ "${WSH_TEST_LONG:-0}" = 1 ] && again=4
for fabric in $fabrics; do
    for script in 'reorder 20us' 'reorder 50us; drop 5% late 1ms; duplicate 5%'; do
        name="$fabric, $script"
        schedule 7 "$script"
        [ "$status" = 0 ] || { judge "$name"; continue; }
        cp "$tap_dir/schedule" "$tap_dir/first"
        same=0
        for _ in $(seq $again); do
            schedule 7 "$script"
            [ "$status" = 0 ] || break
            cmp -s "$tap_dir/schedule" "$tap_dir/first" && same=$((same + 1))
        done
        [ "$status" = 0 ] || { judge "$name"; continue; }
        : >"$out"
        if [ $same = $again ]; then tap_ok "$name: seed 7 gives $(sed -n 's/^target schedule/schedule/p' "$tap_dir/first"), $((again + 1)) times"
        else tap_fail "$name: seed 7 gives the same schedule" "in $same of $again further runs only"; fi
        schedule 8 "$script"
        if cmp -s "$tap_dir/schedule" "$tap_dir/first"; then tap_fail "$name: seed 8" "the schedule of seed 7"
        else tap_ok "$name: seed 8 gives another"; fi
    done
done

fabric=efa
for how in "--seed 4711" ""; do
    # shellcheck disable=SC2086
    over $how -- "$program" $fabric
    tap_check "a run says its seed ($how)" grep -qiE "seed[ =]*${how#--seed }" "$err"
done
tap_done
