#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two PEs as two hosts over the emulated EFA device: small collectives give the network the messages of their algorithm and
# no others, each with a head of 80 bytes. Acknowledgements that go by themselves, now or in the part that is subtracted, are
# no messages of theirs: up to 0.3 a call.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] && [ "${WSH_TEST_VARIANT:-clang}" = clang ] || \
    tap_skip_all "the emulated EFA device is not built, or built with sanitizers"
SHMEM_SYMMETRIC_SIZE=64M EFA_EMULATOR_QUIET=1
export SHMEM_SYMMETRIC_SIZE EFA_EMULATOR_QUIET

# counts PROGRAM SIZES: its table in $out
counts()
{
    [ -x "$top_builddir/perftest/$1" ] || { tap_skip "$1" "it is not built"; return 1; }
    # shellcheck disable=SC2086
    run_job 60 "$oshrun" --emulate-efa --nodes-emulated 2 -n 2 "$(test_program "perftest/$1")" ${2:+-s "$2"} \
        -w 1 -n 10 --seconds 0.02
    tap_check "$1" test "$status" = 0
}

# equal ROW BYTES MESSAGES PAYLOAD: of all PEs, one call
equal()
{
    line=$(awk -v row="$1" -v bytes="$2" '$1 == row && $2 == bytes { print $(NF - 3), $(NF - 2) }' "$out")
    tap_check "$1 of $2 bytes: $3 messages, $4 bytes and their heads (counted: $line)" \
        awk -v line="$line" -v ops="$3" -v payload="$4" 'BEGIN {
            n = split(line, seen, " "); bytes = 80 * ops + payload
            exit !(n == 2 && seen[1] >= ops - 0.3 && seen[1] <= ops + 0.3 && seen[2] >= bytes - 32 && seen[2] <= bytes + 32)
        }'
}

if counts barrier ""; then
    equal barrier_all 0 2 0
    equal sync_all 0 2 0
fi
if counts broadcast_latency 8; then
    equal broadcast 8 1 8
fi
if counts collect_latency 8,1k; then
    equal fcollect 8 2 16
    equal fcollect 1024 2 2048
    equal collect 8 4 32 # the sizes first
    equal collect 1024 4 2064
fi
if counts alltoall_latency 8,1k; then
    equal alltoall 8 2 16
    equal alltoall 1024 2 2048
fi
if counts reduce_latency 8,1k; then
    equal sum 8 2 16
    equal sum 1024 2 2048
fi
tap_done
