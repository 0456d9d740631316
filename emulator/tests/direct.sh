#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libfabric of 2026-08, unmodified, over queues in memory: with its direct data path and without
# (FI_EFA_USE_DATA_PATH_DIRECT), the transport's contract, all programs of several PEs, and a million requests under faults.
# Needs root, debootstrap, mounts and a Debian mirror, for a root of Debian forky (rdma-core 65), and libfabric's source,
# an archive named by WSH_LIBFABRIC_SOURCE. The root, with libfabric built, is kept: WSH_FORKY_ROOT, or in the cache.
# WSH_TEST_BUILD=only makes it and runs nothing. For `make check-long` alone.
# timeout: 7200
# shellcheck disable=SC2034,SC2154
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
suite=forky
packages="autoconf automake binutils gcc ibverbs-providers libc6-dev libcunit1 libhwloc15 libibverbs-dev libpmix2t64
    libtool make procps"
root=${WSH_FORKY_ROOT:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/warpshmem/forky}
source=${WSH_LIBFABRIC_SOURCE:-}
log=$tap_dir/log
harsh="drop 1% late 500us; duplicate 2% late 1ms; reorder 100us"

skip()
{
    tap_skip_all "$*"
}

. "$top_srcdir/emulator/tests/root.sh"

build_libfabric()
{
    [ ! -x "$root/opt/libfabric/bin/fi_info" ] || return 0
    rm -rf "$root/libfabric"
    mkdir "$root/libfabric"
    tar -C "$root/libfabric" --strip-components=1 -xf "$source" || skip "cannot unpack $source"
    chroot "$root" sh -c 'cd /libfabric && autoreconf -fi &&
        ./configure --prefix=/opt/libfabric --enable-only --enable-efa --enable-shm --enable-tcp &&
        make -s -j2 && make -s install' >"$log" 2>&1 </dev/null
    status=$?
    rm -rf "$root/libfabric"
    [ $status = 0 ] && return
    tail -n 40 "$log" >"$out"
    tap_fail "libfabric is built" "see above"
    tap_done
}

# requests HOW: of all queue pairs of the last command that were posted to so.
requests()
{
    cat "$out" "$err" | sed -n "s/.*: \([0-9]*\) requests $1by .*/\1/p" | awk '{ n += $1 } END { print n + 0 }'
}

# over DIRECT LIMIT COMMAND…: in the root, with the direct data path or without.
over()
{
    direct=$1 seconds=$2
    shift 2
    in_root env -i PATH=/opt/libfabric/bin:/usr/bin:/bin HOME=/root LANG=C LD_LIBRARY_PATH=/opt/libfabric/lib \
        top_srcdir="$top_srcdir" top_builddir="$top_builddir" EFA_EMULATOR_PROFILE=p5en EFA_EMULATOR_COUNT=1 \
        EFA_EMULATOR_FAULTS="$faults" WSH_TEST_EFA_PROFILE=p5en WSH_TEST_PATHS=efa WSH_TEST_EFA=all \
        WSH_TEST_PES_MAX=4 WSH_TEST_SLOW="${WSH_TEST_SLOW:-1}" FI_EFA_USE_DATA_PATH_DIRECT="$direct" \
        timeout -k 10 $((seconds * ${WSH_TEST_SLOW:-1})) "$@" >"$out" 2>"$err" </dev/null
    status=$?
    through=$(requests 'through a queue in memory ')
    by_calls=$(requests '')
    wrong=$(cat "$out" "$err" | sed -n 's/.*\(efa-emulator: .*\(queue pair\|completion queue\) [0-9]*: .*\)/\1/p')
}

# judge NAME: it ended well, no rule was broken, and requests went by the way that was asked for.
judge()
{
    if [ "$direct" = 1 ]; then name="$1, direct"; else name="$1, by verbs calls"; fi
    if [ $status != 0 ] || [ -n "$wrong" ]; then
        tap_fail "$name" "${wrong:-see above}"
    elif [ "$direct" = 1 ] && [ "$through" = 0 ] && ! grep -q '^ok .*# SKIP' "$out"; then
        tap_fail "$name" "no request came through a queue in memory"
    elif [ "$direct" = 0 ] && [ "$through" != 0 ]; then
        tap_fail "$name" "$through requests came through queues in memory"
    else
        sed -n 's/^ok .*# SKIP/# skipped:/p' "$out"
        echo "# $through requests through queues in memory, $by_calls by verbs calls"
        tap_ok "$name"
    fi
}

[ "${WSH_TEST_LONG:-0}" = 1 ] || [ "${WSH_TEST_BUILD:-}" = only ] || skip "takes half an hour (make check-long)"
[ "$(id -u)" = 0 ] || skip "needs root"
[ -x "$root/opt/libfabric/bin/fi_info" ] || [ -f "$source" ] ||
    skip "libfabric's source of 2026-08 is absent (WSH_LIBFABRIC_SOURCE=archive)"
mkdir -p "$(dirname "$root")" || skip "cannot make $root"
make_root
install_packages
build_libfabric
[ "${WSH_TEST_BUILD:-}" != only ] || exit 0
in_root true 2>"$log" || skip "no mounts here: $(tail -n 1 "$log")"
emulate=$top_srcdir/emulator/efa-emulate
faults=

over 1 60 sh "$top_srcdir/emulator/tests/stubs" /opt/libfabric/lib/libfabric.so.1 /tmp/stubs
through=1
judge "the device has all that the provider asks for"
over 1 60 "$emulate" -- env LD_LIBRARY_PATH=/tmp/stubs:/opt/libfabric/lib fi_info -p efa -f efa-direct
through=1
judge "the provider is loaded without rdma-core"

for direct in 1 0; do
    over "$direct" 60 "$emulate" -- fi_info -p efa -f efa-direct
    through=$direct
    judge "fi_info"
    over "$direct" 300 "$emulate" -- sh "$top_srcdir/emulator/tests/pingpong" 1 -I 100 -S all
    judge "fi_pingpong, all sizes"
    for program in $(network_programs); do
        over "$direct" 600 sh "$top_srcdir/test/run" "$top_builddir/$program"
        judge "$program"
    done
    faults=$harsh
    over "$direct" 1800 env WSH_TEST_ROUNDS=5 sh "$top_srcdir/test/run" "$top_builddir/test/mp/nbi_many"
    [ $((through + by_calls)) -gt 1000000 ] || wrong="$((through + by_calls)) requests only"
    judge "a million requests under faults"
    for program in order_litmus random_rma; do
        over "$direct" 600 sh "$top_srcdir/test/run" "$top_builddir/test/mp/$program"
        judge "$program under faults"
    done
    faults=
done
tap_done
