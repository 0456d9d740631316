#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Requests that are started together leave by one doorbell where the device is told of each (fabric efa-direct), and
# nothing is lost or stays without one: whatever is sent, with one NIC and several, and while queues are full.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/emulator/tests/lib.sh"
for name in $(env | sed -n 's/^\(\(SHMEM\|SMA\|NVSHMEM\|FI\|EFA_EMULATOR\)_[A-Z_0-9]*\)=.*/\1/p'); do unset "$name"; done
EFA_EMULATOR_COUNT=1 EFA_EMULATOR_QUIET=1 SHMEM_SYMMETRIC_SIZE=64M SHMEM_HANG_SECONDS=20 SHMEM_NICS_PER_PE=1
SHMEM_DEBUG=info,TRANSPORT
export EFA_EMULATOR_COUNT EFA_EMULATOR_QUIET SHMEM_SYMMETRIC_SIZE SHMEM_HANG_SECONDS SHMEM_NICS_PER_PE SHMEM_DEBUG

# job NAME [NAME=value…]: the program with that name, by 4 PEs; sets $requests and $doorbells of all.
job()
{
    program=$(test_program "test/mp/$1")
    shift
    run_job $((90 * ${WSH_TEST_SLOW:-1})) env "$@" "$oshrun" --emulate-efa -n 4 "$program"
    requests=$(sed -n 's/.*: \([0-9]*\) requests by .*/\1/p' "$err" | awk '{ n += $1 } END { print n + 0 }')
    doorbells=$(sed -n 's/.* requests by \([0-9]*\) doorbells.*/\1/p' "$err" | awk '{ n += $1 } END { print n + 0 }')
    echo "# $requests requests by $doorbells doorbells"
}

# counted NAME: it ended well, with fewer doorbells than requests.
counted()
{
    if [ "$status" = 0 ] && [ "$doorbells" -lt "$requests" ]; then tap_ok "$1"
    else tap_fail "$1" "wanted status 0, and fewer doorbells than $requests requests, not $doorbells"; fi
}

job finalized_at_exit
tap_check "queue pairs that are open when their process ends are counted" test "$status" = 0 -a "$requests" -gt 0
job nbi_many
fabric=$(sed -n 's/.*network: efa .*fabric \([a-z-]*\),.*/\1/p' "$err" | head -n 1)
if [ "$fabric" = efa ] && [ "$status" = 0 ]; then
    tap_check "fabric efa: one doorbell for each request" test "$doorbells" = "$requests"
    tap_skip "the rest" "fabric efa-direct is new in libfabric 2.1"
    tap_done
fi
counted "many operations at a time"
tap_check "immediate data take no receive" test "$(grep -c 'immediate data take no receive' "$err")" -gt 0
tap_check "… of no endpoint" sh -c "! grep -q 'immediate data take a receive' '$err'"
tap_check "runs are short" grep -q 'at most 16 at a time' "$err"
faults='EFA_EMULATOR_FAULTS=drop 1% late 500us; duplicate 2%; reorder 100us; full 10%'
job nbi_many SHMEM_NICS_PER_PE=4 "$faults"
counted "four NICs"
job order_litmus "$faults"
counted "what order promises"
for program in nbi_many order_litmus amo_all_ops; do
    job $program EFA_EMULATOR_QUEUE=32 "$faults"
    counted "queues of 32 requests: $program"
done
tap_done
