#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libfabric's own tools find the emulated devices, and talk through them: 2 to 8 processes.
# timeout: 200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/emulator/tests/lib.sh"
command -v fi_info >/dev/null || tap_skip_all "no fi_info (apt-get install libfabric-bin)"

for profile in p4d p5 p5en p6 minimal; do
    sed -n "s/^EMU_NIC($profile, \(0x[0-9a-f]*\), \(0x[0-9a-f]*\))/\1 \2/p" "$top_srcdir/emulator/nic_defs.h" |
        while read -r bus device; do echo "rdmap$((bus))s$((device))"; done | sort >"$tap_dir/wanted"
    over --profile "$profile" -- fi_info -p efa
    sed -n 's/^ *domain: \(.*\)-.*/\1/p' "$out" | sort -u >"$tap_dir/found"
    if [ "$status" = 0 ] && [ -z "$left" ] && [ -s "$tap_dir/wanted" ] && cmp -s "$tap_dir/wanted" "$tap_dir/found"; then
        tap_ok "fi_info -p efa lists the $(wc -l <"$tap_dir/found") devices of $profile"
    else
        tap_fail "fi_info -p efa lists the devices of $profile" "$left wanted $(tr '\n' ' ' <"$tap_dir/wanted")"
    fi
done

for profile in p5 p4d minimal; do
    over --profile $profile -- sh "$top_srcdir/emulator/tests/pingpong" 1 -I 20
    judge "fi_pingpong -p efa, 2 processes on $profile"
done
for pairs in 2 4; do
    over -- sh "$top_srcdir/emulator/tests/pingpong" $pairs -I 20
    judge "fi_pingpong -p efa, $((2 * pairs)) processes"
done
tap_done
