#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs whose PEs connect at their first use (SHMEM_PEERS_AT_START=0), on two and on four emulated hosts, over tcp and
# emulated efa, with one and several endpoint sets and NICs; a PE that talks to its neighbours alone connects to no other.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
SHMEM_PEERS_AT_START=0
SHMEM_SYMMETRIC_SIZE=64M
SHMEM_NICS_PER_PE=1
EFA_EMULATOR_QUIET=1
export SHMEM_PEERS_AT_START SHMEM_SYMMETRIC_SIZE SHMEM_NICS_PER_PE EFA_EMULATOR_QUIET
efa=
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] && [ "${WSH_TEST_VARIANT:-clang}" = clang ] && efa=--emulate-efa

# first_use HOSTS PES PROGRAM [SETTING…]
first_use()
{
    hosts=$1 pes=$2 program=$3
    shift 3
    for network in "" ${efa:+"$efa"}; do
        provider=tcp
        [ -z "$network" ] || provider=efa
        # shellcheck disable=SC2086
        run_job 100 env "$@" SHMEM_LIBFABRIC_PROVIDER=$provider WSH_TEST_PATH=mixed "$oshrun" $network \
            --nodes-emulated "$hosts" -n "$pes" "$(test_program "test/mp/$program")"
        tap_check "$program, $pes PEs on $hosts hosts by $provider${*:+, $*}" test "$status" = 0
    done
}

first_use 2 4 random_rma
first_use 4 8 hello
first_use 2 4 put_signal_orders
first_use 4 8 ring
WSH_TEST_ROUNDS=${WSH_TEST_ROUNDS:-50}
export WSH_TEST_ROUNDS
first_use 2 4 random_rma_any_ctx SHMEM_ENDPOINT_SETS=2
first_use 2 3 random_rma_any_ctx SHMEM_ENDPOINT_SETS=3 SHMEM_PROGRESS=thread
first_use 2 3 random_rma_any_ctx SHMEM_PROXY_THREADS=2 SHMEM_NICS_PER_PE=2
if tap_long "four NICs with several endpoint sets, and large jobs"; then
    first_use 2 4 random_rma_any_ctx SHMEM_ENDPOINT_SETS=4 SHMEM_NICS_PER_PE=4
    first_use 2 4 counted_puts_unlike_sets
    efa=
    first_use 2 66 random_rma_any_ctx SHMEM_PEERS_AT_START=64 SHMEM_ENDPOINT_SETS=2
    first_use 5 130 random_rma_any_ctx SHMEM_PEERS_AT_START=64 SHMEM_ENDPOINT_SETS=2
fi
SHMEM_DEBUG=info
export SHMEM_DEBUG
run_job 60 env SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" --nodes-emulated 16 -n 16 "$(test_program test/mp/helper/neighbours)"
tap_check "neighbours, 16 PEs on 16 hosts" test "$status" = 0
connected=$(sed -n 's/.* PE 3 .*: \([0-9]*\) of 16 PEs were connected.*/\1/p' "$err")
tap_check "a PE is connected to few: $connected of 16" test "${connected:-0}" -gt 0 -a "${connected:-16}" -lt 16
tap_done
