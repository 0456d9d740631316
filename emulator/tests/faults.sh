#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every fault that can be asked for is met by the provider, and reported by it with the device's code and text.
# timeout: 400
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/emulator/tests/lib.sh"
program=$(test_program emulator/tests/faults)

# fault CASE [SCRIPT]: over every fabric that libfabric has; one that it has not is asked for once.
absent=
fault()
{
    for fabric in $fabrics; do
        if [ "$fabric" = "$absent" ]; then
            tap_skip "$fabric: $1${2:+ ($2)}" "$why_absent"
            continue
        fi
        if [ -n "${2:-}" ]; then over --faults "$2" -- "$program" "$fabric" "$1"
        else over -- "$program" "$fabric" "$1"; fi
        judge "$fabric: $1${2:+ ($2)}"
        grep -q "skip: .* has no $fabric\$" "$out" "$err" && absent=$fabric why_absent=$(sed -n "s/^.*skip: .*\(libfabric .* has no .*\)/\1/p" "$out" "$err" | head -n 1)
    done
}

fault drop 'drop 20% late 20ms'
fault duplicate 'duplicate 60%; reorder 3ms'
fault stall 'during 5s..5.7s stall'
fault stall 'stall 500ms every 1s'
# A link goes down only when the first write has surely been answered: the provider waits forever for a lost greeting.
fault down 'during 6s..7s down'
fault down 'during 6s..7s from 0 to 1 down; timeout 100ms'
fault down 'at 6s down; at 7s up'
fault removed 'at 3s from 0.0 remove'
fault removed-peer 'at 3s from 1.0 remove'
fault killed
fault closed
fault unreachable
fault unknown
fault bad-key
fault full
fault refused 'full 50%'
fault rnr
fault overrun

# A wrong script is one line that says what and where.
over --faults 'drop 2%; during 1s..2s dance' -- fi_info -p efa
if [ "$status" != 0 ] && [ "$(grep -c . "$err")" -ge 1 ] && grep -q "'dance'.*in statement 2" "$err"; then
    tap_ok "a wrong script is reported"
else
    tap_fail "a wrong script is reported" "wanted a line with 'dance' and its statement"
fi
tap_done
