#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs of many PEs, 8 on each emulated host, over tcp and the emulated EFA device: start, barrier, broadcast, sum, all-to-all,
# a ring of puts with signal, end; what they take is printed, and nothing is left. 64 PEs; WSH_TEST_LONG=1: also 128 and 256
# over tcp, and 128 to 1,024 over EFA. WSH_TEST_SCALE="tcp:64 efa:1024" chooses. Memory without the heap and without the
# emulator's: as `warpshmem-info --estimate` says, and at most 12 MiB a PE over efa-direct; libfabric 1.17 has no such, and
# its provider takes 181 MiB a PE.
# timeout: 1200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
program=$(test_program test/mp/helper/scale)
need_plain "takes too long with"

SHMEM_SYMMETRIC_SIZE=1M
SHMEM_NICS_PER_PE=1
SHMEM_HANG_SECONDS=120
EFA_EMULATOR_QUIET=1
TMPDIR=$tap_dir/tmp
export SHMEM_SYMMETRIC_SIZE SHMEM_NICS_PER_PE SHMEM_HANG_SECONDS EFA_EMULATOR_QUIET TMPDIR
mkdir "$TMPDIR"

free_mib()
{
    awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo
}

# Why this machine cannot run PES by NETWORK, MIB a PE; nothing if it can.
impossible()
{
    [ "$2" -le "${WSH_TEST_PES_MAX:-$2}" ] || echo "more than WSH_TEST_PES_MAX=$WSH_TEST_PES_MAX"
    [ "$1" != efa ] || [ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] ||
        echo "the emulator is not built (libibverbs-dev)"
    [ $(($2 * $3)) -le "$(free_mib)" ] || echo "$2 PEs take $(($2 * $3)) MiB, $(free_mib) are free"
    [ $(($2 * 4 + 200)) -le "$(ulimit -n)" ] || echo "$2 PEs take $(($2 * 4)) descriptors, ulimit -n is $(ulimit -n)"
}

has_direct()
{
    SHMEM_DEBUG=info "$oshrun" --emulate-efa --nodes-emulated 2 -n 2 "$(test_program test/mp/hello)" 2>&1 |
        grep -q 'fabric efa-direct'
}

# scale NETWORK PES
scale()
{
    mib=16
    case $1 in
        efa) has_direct || mib=200 ;;
        tcp) mib=40 ;;
    esac
    why=$(impossible "$1" "$2" $mib | head -n 1)
    if [ -n "$why" ]; then
        tap_skip "$1, $2 PEs" "$why"
        return
    fi
    case $1 in
        efa) run_job 900 "$oshrun" --emulate-efa --nodes-emulated $(($2 / 8)) -n "$2" "$program" ;;
        *) run_job 900 env SHMEM_LIBFABRIC_PROVIDER="$1" "$oshrun" --nodes-emulated $(($2 / 8)) -n "$2" "$program" ;;
    esac
    tap_comment "$out"
    tap_check "$1, $2 PEs" test "$status" = 0
    tap_check "$1, $2 PEs: nothing is left" test -z "$(ls -A "$TMPDIR")"
    own=$(sed -n 's/.* own \([0-9]*\) KiB.*/\1/p' "$out")
    begun=$(sed -n 's/.* begun \([0-9]*\) KiB.*/\1/p' "$out")
    estimate=$("$top_builddir/warpshmem-info" -p --estimate "n_pes=$2,pes_per_host=8,transport=$1" |
        awk -F: '$2 == "sum" { print int($3 / 1024) }')
    # Buffers of receives, which a NIC has pinned, are counted in full; most are never touched here, the less the fewer PEs.
    if [ "$1$mib" = efa200 ]; then
        tap_skip "$1, $2 PEs: ${begun:-0} KiB after the start, and the estimate of $estimate" \
            "this libfabric has no efa-direct, which the estimate is of"
    else
        tap_check "$1, $2 PEs: ${begun:-0} KiB after the start, at most the estimate of $estimate" \
            test "${begun:-0}" -gt 0 -a "${begun:-0}" -le "$estimate"
        [ "$2" -le 64 ] || tap_check "$1, $2 PEs: and at least half of it" test $((2 * ${begun:-0})) -ge "$estimate"
    fi
    tap_check "$1, $2 PEs: at most $((mib - 4)) MiB a PE" test "${own:-0}" -gt 0 -a "${own:-0}" -le $(((mib - 4) * 1024))
}

jobs="tcp:64"
[ "${WSH_TEST_LONG:-0}" = 0 ] || jobs="tcp:64 tcp:128 tcp:256 efa:64 efa:128 efa:256 efa:512 efa:1024"
for job in ${WSH_TEST_SCALE:-$jobs}; do
    scale "${job%:*}" "${job#*:}"
done
tap_done
