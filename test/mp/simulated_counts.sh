#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Small collectives over the emulated EFA device, on several hosts, give the network the messages and the payload
# that the simulator counts for the same PEs. Acknowledgements depend on time, here and there: one is 40 bytes, a message
# has a head of 80. So 40 bytes for each operation are taken off, which leaves 40 for each message and the payload; from
# two sizes, the second with a payload eight times as large, both follow.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] && [ "${WSH_TEST_VARIANT:-clang}" = clang ] || \
    tap_skip_all "the emulated EFA device is not built, or built with sanitizers"
SHMEM_SYMMETRIC_SIZE=2M EFA_EMULATOR_QUIET=1
export SHMEM_SYMMETRIC_SIZE EFA_EMULATOR_QUIET
sim=$(test_program sim/sim)
calls=$(test_program test/mp/helper/net_calls)

# simulated PES HOSTS LEN: "NAME LEN MESSAGES ACKNOWLEDGEMENTS BYTES" of a call and of the sync that ends each round
simulated()
{
    "$sim" --pes "$1" --per-host $(($1 / $2)) --nics $(($1 / $2)) --cores "$(nproc)" --len "$3" --rounds 10 --json \
        --run sync,barrier,broadcast,fcollect,alltoall,reduce |
        sed 's/.*"what": "\([a-z]*\)".*"network_messages": \([0-9.]*\), "network_acks": \([0-9.]*\),.*"network_bytes": \([0-9.]*\).*/\1 '"$3"' \2 \3 \4/'
}

# Says what a call of each name takes, counted and simulated, and "equal NAME" or "differ NAME".
awk_compare='
    function part(bytes, ops) { return bytes - 40 * ops }
    FILENAME == real && $1 == "calls" { n = $2 }
    FILENAME == real && NF == 4 { ops[$1, $2] = $3 / n; d[$1, $2] = part($4 / n, $3 / n) }
    FILENAME != real && $1 == "sync" { sync_m = $3 / 2; sync_a = $4 / 2; sync_b = $5 / 2 }
    FILENAME != real && $1 == "barrier" { $2 = 0 }
    FILENAME != real && $1 != "sync" {
        m[$1, $2] = $3 - sync_m; a[$1, $2] = $4 - sync_a
        s[$1, $2] = part($5 - sync_b, m[$1, $2] + a[$1, $2])
    }
    function say(name, len, d8, d64, acks, of) {
        messages = len ? (8 * d8 - d64) / 280 : d8 / 40
        printf "# %s: %s %.2f messages, %.1f bytes, %.1f acknowledgements\n", name, of, messages, d8 - 40 * messages, acks
        return messages
    }
    function near(one, two, most) { return one - two <= most && two - one <= most }
    function judge(name, len, more) {
        mine = say(name, len, d[name, len], d[name, more], ops[name, len] - m[name, len], "counted")
        other = say(name, len, s[name, len], s[name, more], a[name, len], "simulated")
        right = near(mine, other, 0.05) && near(other, m[name, len], 0.05) && near(d[name, len], s[name, len], 2)
        print (right && mine >= 1 && ops[name, len] >= mine - 0.05 && ops[name, len] <= 2 * mine + 1 ? "equal " : "differ ") name
    }
    END { judge("barrier", 0, 0); for (i = 1; i <= split("broadcast fcollect alltoall reduce", names, " "); i++) judge(names[i], 8, 64) }'

# compared PES HOSTS
compared()
{
    run_job 60 "$oshrun" --emulate-efa --nodes-emulated "$2" -n "$1" "$calls"
    tap_check "$1 PEs on $2 hosts run" test "$status" = 0
    { simulated "$1" "$2" 8; simulated "$1" "$2" 64; } >"$tap_dir/simulated"
    awk -v real="$out" "$awk_compare" "$out" "$tap_dir/simulated" >"$tap_dir/said"
    grep '^#' "$tap_dir/said"
    for name in barrier broadcast fcollect alltoall reduce; do
        tap_check "$1 PEs on $2 hosts, $name: the simulator's messages" grep -q "^equal $name" "$tap_dir/said"
    done
}

compared 6 3
if tap_long "2 to 16 PEs on 2 and 4 hosts"; then
    compared 2 2
    compared 4 2
    compared 8 2
    compared 8 4
    compared 16 4
fi
tap_done
