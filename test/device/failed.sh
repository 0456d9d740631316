#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE dies while others wait in kernels: waits with a limit say so, collectives end, and those without it are right; on
# one host and between emulated ones.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
[ -e /dev/nvidiactl ] || tap_skip_all "no NVIDIA GPU on this machine"
SHMEM_DEVICE_SYMMETRIC_SIZE=${SHMEM_DEVICE_SYMMETRIC_SIZE:-64M} SHMEM_LIBFABRIC_PROVIDER=tcp
export SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_LIBFABRIC_PROVIDER

# goes_on PES HOSTS
goes_on()
{
    run_job 90 "$oshrun" -n "$1" --nodes-emulated "$2" --on-pe-failure continue "$top_builddir/test/device/failed"
    [ "$status" != 77 ] || tap_skip_all "no GPU that CUDA can use"
    tap_check "$1 PEs, $2 hosts: the others go on" sh -c "[ $status = 0 ] && [ \$(grep -c 'went on' '$out') = $(($1 - 1)) ]"
}
goes_on 3 1
goes_on 4 2
tap_done
