#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A core dump holds the variables of the PE and what shmem_malloc has taken, and not the rest of its heap, the heaps of
# its peers, or large untouched arrays, behind which the dump would put memory. SHMEM_CORE_DUMP chooses.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
dumped=$(test_program test/mp/helper/dumped)
export SHMEM_SYMMETRIC_SIZE=512M
cd "$tap_dir" || exit 99

# between NAME LEAST MOST [WORD…]: MiB of the library's shared memory that a dump of one of four PEs holds.
between()
{
    name=$1 least=$2 most=$3
    shift 3
    run_job 60 env "$@" "$oshrun" -n 4 "$dumped"
    tap_comment "$out"
    kib=$(sed -n 's/^dumped \([0-9]*\) of .*/\1/p' "$out")
    tap_check "$name: between $least and $most MiB" \
        test "$status" = 0 -a "${kib:-0}" -ge $((least * 1024)) -a "${kib:-0}" -le $((most * 1024))
}

between "own, the default" 16 64 A=B
between own 16 64 SHMEM_CORE_DUMP=own
between none 0 2 SHMEM_CORE_DUMP=none
between all 2600 4000 SHMEM_CORE_DUMP=all
between "own, sockets" 16 64 SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp
if [ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] && [ "${WSH_TEST_VARIANT:-clang}" = clang ]; then
    run_job 60 env SHMEM_TRANSPORTS=efa EFA_EMULATOR_QUIET=1 "$oshrun" -n 4 --emulate-efa "$dumped"
    kib=$(sed -n 's/^dumped \([0-9]*\) of .*/\1/p' "$out")
    tap_comment "$out"
    tap_check "own, emulated EFA: at most 64 MiB" test "$status" = 0 -a "${kib:-0}" -ge 16384 -a "${kib:-0}" -le 65536
else
    tap_skip "own, emulated EFA" "the emulator is not built (libibverbs-dev), or does not go with ${WSH_TEST_VARIANT:-this build}"
fi

case $(cat /proc/sys/kernel/core_pattern) in
    core | core.%p) ;;
    *) tap_skip "the size of a core" "kernel.core_pattern is no plain name"; tap_done ;;
esac
[ -z "${WSH_TEST_VARIANT:-}" ] || { tap_skip "the size of a core" "$WSH_TEST_VARIANT has memory of its own"; tap_done; }
# shellcheck disable=SC3045
ulimit -c unlimited 2>/dev/null || { tap_skip "the size of a core" "ulimit -c is lower"; tap_done; }
run_job 60 "$oshrun" -n 4 "$dumped" crash
sync core* 2>/dev/null # before that a file may have no blocks yet
kib=$(du -k core* 2>/dev/null | awk '{ n += $1 } END { print n + 0 }')
tap_check "a core of $kib KiB: at most 64 MiB" test "$kib" -gt 16000 -a "$kib" -le 65536
if command -v gdb >/dev/null; then
    gdb -batch -ex 'print known' "$dumped" core* >"$out" 2>"$err" </dev/null
    tap_check "gdb finds the variables in it" grep -q '= 12345$' "$out"
else tap_skip "gdb finds the variables in it" "no gdb"; fi
tap_done
