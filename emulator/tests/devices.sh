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

# A server and a client each, in one fabric; ports of their own, and again with others where one is taken.
cat >"$tap_dir/pairs" <<'END'
pids=
for pair in $(seq "$1"); do
    port=$((20000 + ($$ * 13 + $2 * 97 + pair) % 20000))
    fi_pingpong -p efa -e rdm -c -I 20 -B $port &
    pids="$pids $!"
    (for try in 1 2 3 4 5 6 7 8; do
        sleep 0.5
        fi_pingpong -p efa -e rdm -c -I 20 -P $port 127.0.0.1 && exit 0
    done
    exit 1) &
    pids="$pids $!"
done
failed=0
for pid in $pids; do wait "$pid" || failed=1; done
exit $failed
END
for profile in p5 p4d minimal; do
    over --profile $profile -- sh "$tap_dir/pairs" 1 1
    judge "fi_pingpong -p efa, 2 processes on $profile"
done
for pairs in 2 4; do
    over -- sh "$tap_dir/pairs" $pairs 2
    judge "fi_pingpong -p efa, $((2 * pairs)) processes"
done
tap_done
