#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs whose PEs connect at their first use (SHMEM_PEERS_AT_START=0), on two and on four emulated hosts, over tcp and
# emulated efa; a PE that talks to its neighbours alone connects to no other.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
SHMEM_PEERS_AT_START=0
SHMEM_SYMMETRIC_SIZE=64M
SHMEM_NICS_PER_PE=1
EFA_EMULATOR_QUIET=1
export SHMEM_PEERS_AT_START SHMEM_SYMMETRIC_SIZE SHMEM_NICS_PER_PE EFA_EMULATOR_QUIET
efa=
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] && [ "${WSH_TEST_VARIANT:-clang}" = clang ] && efa=--emulate-efa

# first_use HOSTS PES PROGRAM
first_use()
{
    for network in "" ${efa:+"$efa"}; do
        provider=tcp
        [ -z "$network" ] || provider=efa
        # shellcheck disable=SC2086
        run_job 100 env SHMEM_LIBFABRIC_PROVIDER=$provider WSH_TEST_PATH=mixed "$oshrun" $network \
            --nodes-emulated "$1" -n "$2" "$(test_program "test/mp/$3")"
        tap_check "$3, $2 PEs on $1 hosts by $provider" test "$status" = 0
    done
}

first_use 2 4 random_rma
first_use 4 8 hello
first_use 2 4 put_signal_orders
first_use 4 8 ring
SHMEM_DEBUG=info
export SHMEM_DEBUG
run_job 60 env SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" --nodes-emulated 16 -n 16 "$(test_program test/mp/helper/neighbours)"
tap_check "neighbours, 16 PEs on 16 hosts" test "$status" = 0
connected=$(sed -n 's/.* PE 3 .*: \([0-9]*\) of 16 PEs were connected.*/\1/p' "$err")
tap_check "a PE is connected to few: $connected of 16" test "${connected:-0}" -gt 0 -a "${connected:-16}" -lt 16
tap_done
