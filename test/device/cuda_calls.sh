#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Calls of CUDA by another host thread while a kernel waits for a put of another PE: the job completes, or ends with the
# one line that names the call of the driver which does not return. Each kind of call, under lazy and eager loading, with
# one connection and with launches that block, on one host and on two emulated ones.
# timeout: 700
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
[ -e /dev/nvidiactl ] || tap_skip_all "no NVIDIA GPU on this machine"
SHMEM_DEVICE_SYMMETRIC_SIZE=${SHMEM_DEVICE_SYMMETRIC_SIZE:-64M}
SHMEM_LIBFABRIC_PROVIDER=tcp SHMEM_HANG_SECONDS=3
export SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_LIBFABRIC_PROVIDER SHMEM_HANG_SECONDS

# judge NAME: it completed, or was told why not
judge()
{
    said=$(sed -n 's/^warpshmem: \(PE .* is in cu[A-Z].*; the job ends; .*\)/\1/p' "$err" | head -n 1)
    if [ "$status" = 77 ]; then
        tap_skip "$1" "no GPU that CUDA can use"
    elif [ "$status" = 0 ] && grep -q '^completes$' "$out"; then
        tap_ok "$1: completes"
    elif [ "$status" = 1 ] && [ -n "$said" ]; then
        tap_ok "$1: $said"
    else
        tap_fail "$1" "neither completed nor ended with a line that names a call of the driver"
    fi
}

for hosts in 1 2; do
    for setting in CUDA_MODULE_LOADING=LAZY CUDA_MODULE_LOADING=EAGER CUDA_DEVICE_MAX_CONNECTIONS=1 CUDA_LAUNCH_BLOCKING=1; do
        for kind in malloc free hostalloc launch sync; do
            words=
            [ $hosts = 1 ] || words="--nodes-emulated $hosts"
            # shellcheck disable=SC2086
            run_job 15 env "$setting" "$oshrun" $words -n 2 "$top_builddir/test/device/helper/cuda_calls" $kind
            judge "$kind, $setting, hosts: $hosts"
        done
    done
done
tap_done
