#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The settings of public recipes for EFA, as docs/guide/efa.md lists them: a job with all of them, over the emulated device,
# over TCP and by NVSHMEM's interface; what the page says is taken, not read or not needed is said so; with each alone
# (make check-long). Where there is no EFA device, or one without RDMA, a line says what to unset.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
page=$top_srcdir/docs/guide/efa.md
hello=$(test_program test/mp/hello)
for name in $(env | sed -n 's/^\(\(SHMEM\|SMA\|NVSHMEM\|FI\|NCCL\|EFA_EMULATOR\)_[A-Z_0-9]*\)=.*/\1/p'); do unset "$name"; done
SHMEM_SYMMETRIC_SIZE=16M SHMEM_HANG_SECONDS=20
export SHMEM_SYMMETRIC_SIZE SHMEM_HANG_SECONDS

# Rows of the table, setting and text; those that name a provider that TCP is not.
sed -n '/^## Settings of other recipes/,/^## What to run/s/^| `\([A-Z_a-z0-9]*=[^`]*\)` | \(.*\) |$/\1 \2/p' "$page" >"$tap_dir/rows"
all=$(cut -d ' ' -f 1 "$tap_dir/rows")
# shellcheck disable=SC2086
over_tcp=$(printf '%s\n' $all | grep -v '=efa$')
tap_check "the page has a table of thirty settings or more" test "$(wc -l <"$tap_dir/rows")" -ge 30

emulates=
if [ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ]; then
    case ${WSH_TEST_VARIANT:-clang} in clang) emulates=1 ;; esac
fi

# over NETWORK PROGRAM SETTING… ; what libfabric 1.17 says of each receive when it closes an endpoint is left out
over()
{
    network=$1 program=$2
    shift 2
    case $network in
        efa) run_job 60 env EFA_EMULATOR_QUIET=1 "$@" "$oshrun" --emulate-efa -n 2 "$program" ;;
        tcp) run_job 60 env SHMEM_TRANSPORTS=efa "$@" "$oshrun" -n 2 "$program" ;;
    esac
    sed -i '/Closing ep with unreleased/d' "$err"
}

# What the library says of a row is what the page says.
said()
{
    missing=
    while read -r setting text; do
        name=${setting%%=*}
        case $setting-$text in
            NVSHMEM_DEBUG=*) ;; # SHMEM_DEBUG itself is set
            *-Taken*) grep -q " $name is taken as SHMEM_" "$err" || missing="$missing $name" ;;
            NVSHMEM*-Not*) grep -q " $name is not read: " "$err" || missing="$missing $name" ;;
            FI_EFA_USE_DEVICE_RDMA=*) grep -q " $setting is not needed: " "$err" || missing="$missing $name" ;;
        esac
    done <"$tap_dir/rows"
    tap_check "each that is taken, or not read, has its line" test -z "$missing"
    [ -z "$missing" ] || tap_comment "$err"
}

if [ "$emulates" ]; then
    # shellcheck disable=SC2086
    over efa "$hello" $all SHMEM_DEBUG=info
    tap_check "all together over emulated EFA" test "$status" = 0
    tap_check "by provider efa" grep -q 'network: efa (rdmap' "$err"
    said
    # shellcheck disable=SC2086
    over efa "$(test_program test/nvshmem/host)" $all
    tap_check "all together, NVSHMEM's interface" test "$status" = 0
    over efa "$hello" SHMEM_NICS_PER_PE=1 FI_EFA_ENABLE_SHM_TRANSFER=1 SHMEM_DEBUG=info
    tap_check "shared memory of the provider's is not needed" grep -q 'FI_EFA_ENABLE_SHM_TRANSFER=1 is not needed' "$err"
    run_job 60 env EFA_EMULATOR_QUIET=1 FI_EFA_USE_DEVICE_RDMA=1 "$oshrun" --emulate-efa=minimal -n 2 "$hello"
    tap_check "a device without RDMA: libfabric says which setting, and the job ends" \
        sh -c "[ $status != 0 ] && cat '$out' '$err' | grep -q '^FI_EFA_USE_DEVICE_RDMA=1 was set by users, but EFA device has no'"
else
    tap_skip "over emulated EFA" "the emulator is not built (libibverbs-dev), or does not go with this variant"
fi
# shellcheck disable=SC2086
over tcp "$hello" $over_tcp
tap_check "all together over TCP" test "$status" = 0
if [ ! -e /dev/infiniband ]; then
    over tcp "$hello" FI_PROVIDER=efa
    tap_check "FI_PROVIDER=efa and no EFA: a line says so" \
        sh -c "[ $status != 0 ] && grep -q \"FI_PROVIDER='efa' is set, and leaves libfabric no provider\" '$err'"
    over tcp "$hello" NVSHMEM_LIBFABRIC_PROVIDER=efa
    tap_check "NVSHMEM_LIBFABRIC_PROVIDER=efa and no EFA: a line says so" \
        sh -c "[ $status != 0 ] && grep -q \"SHMEM_LIBFABRIC_PROVIDER='efa': libfabric has none here\" '$err'"
fi

tap_long "each alone" || tap_done
for setting in $all; do
    [ -z "$emulates" ] || over efa "$hello" SHMEM_NICS_PER_PE=1 "$setting"
    tap_check "$setting alone over emulated EFA" test "$status" = 0
    case $setting in *=efa) continue ;; esac
    over tcp "$hello" "$setting"
    tap_check "$setting alone over TCP" test "$status" = 0
done
tap_done
