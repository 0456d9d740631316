#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE has at most 8 MiB of memory of its own beside its heap; over tcp, with what libfabric's ofi_rxm takes, 16 MiB (the
# line of net shows what it is without ofi_rxm). WSH_TEST_LONG=1: 64 PEs too, and after long traffic.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
memory=$(test_program test/mp/helper/memory)
[ "${WSH_TEST_VARIANT:-}" != asan ] || { tap_skip "memory of a PE" "the sanitizer has memory of its own"; tap_done; }

rounds=
# most NAME MIB PES [VAR=value…]: the PE with the most has no more after those rounds of traffic.
most()
{
    name=$1 limit=$2 pes=$3
    shift 3
    run_job 100 env SHMEM_SYMMETRIC_SIZE=16M "$@" "$oshrun" -n "$pes" "$memory" ${rounds:+"$rounds"}
    kib=$(sort -n "$out" | tail -n 1)
    tap_check "$name, $pes PEs: $kib KiB, at most $limit MiB" \
        test "$status:$(wc -l <"$out")" = "0:$pes" -a "${kib:-0}" -gt 0 -a "${kib:-0}" -le $((limit * 1024))
}

sizes='2 16'
[ "${WSH_TEST_LONG:-0}" = 0 ] || sizes='2 16 64'
for pes in $sizes; do
    most local 8 "$pes"
    most "sockets by net" 8 "$pes" SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=net
    most "sockets by tcp;ofi_rxm" 16 "$pes" SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp
done
rounds=20000
if tap_long "after $rounds rounds"; then
    most "sockets by net, $rounds rounds" 20 2 SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=net
    most "sockets by tcp;ofi_rxm, $rounds rounds" 16 2 SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp
fi
tap_done
