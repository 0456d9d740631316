#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which path device memory of other hosts takes, and that the info lines say why: NICs reach it themselves where libfabric
# takes such memory without calls of CUDA, and the GPU sees what they write; else it goes through host memory. What the
# programs do is right in each case.
# timeout: 200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
little=$(test_program test/mp/helper/device_hmem)
[ -f "$top_builddir/transports/nvlink/agent_image.lo" ] || tap_skip_all "built without nvcc: no device memory"
LD_LIBRARY_PATH=$top_builddir/test/fake_cuda:$top_builddir/test/fake_hmem:${LD_LIBRARY_PATH:-}
SHMEM_DEVICE_SYMMETRIC_SIZE=16M SHMEM_LIBFABRIC_PROVIDER=tcp SHMEM_DEBUG=info FAKE_HMEM_SAY=1
export LD_LIBRARY_PATH SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_LIBFABRIC_PROVIDER SHMEM_DEBUG FAKE_HMEM_SAY

# by PATH NAME PATTERN SETTING…: the job is right, goes by nics or host, and says so.
by()
{
    path=$1 name=$2 pattern=$3
    shift 3
    run_job 60 env "$@" "$oshrun" --nodes-emulated 2 -n 2 "$little"
    tap_check "$name: right" test "$status" = 0
    cat "$out" >>"$err"
    tap_check "$name: says so" grep -q "$pattern" "$err"
    if [ "$path" = nics ]; then
        tap_check "$name: NICs write and read" sh -c "[ \$(grep -c '[1-9][0-9]* writes and [1-9][0-9]* reads' '$err') = 2 ]"
    else
        tap_check "$name: NICs do not" sh -c "! grep -q '[1-9][0-9]* writes\|[1-9][0-9]* reads' '$err'"
    fi
}

by nics "on" "NICs put to and get from device memory (segment 2) of 1 of 1 PEs" SHMEM_HMEM=on
by nics "by descriptors" "device memory, [1-9][0-9]* descriptors" SHMEM_HMEM=on FAKE_HMEM=dmabuf
by host "off" "reached through host memory: SHMEM_HMEM=off" SHMEM_HMEM=off
by host "refused by the provider" "does not take device memory (FI_HMEM" SHMEM_HMEM=on FAKE_HMEM=none
by host "calls of CUDA needed" "not without calls of CUDA" SHMEM_HMEM=on FAKE_HMEM=cuda
by host "memory refused" "refuses [0-9]* bytes of device memory" SHMEM_HMEM=on FAKE_HMEM=memory
by host "the GPU does not see" "does not promise that the GPU sees" SHMEM_HMEM=on FAKE_CUDA_WRITES=0
[ -e /dev/nvidiactl ] ||
    by host "no driver in sight" "SHMEM_HMEM=on asks all the same" SHMEM_HMEM=auto
run_job 60 env SHMEM_HMEM=on FAKE_HMEM=memory SHMEM_STRICT=1 SHMEM_HUGE_PAGES=off "$oshrun" --nodes-emulated 2 -n 2 "$little"
tap_check "memory refused, SHMEM_STRICT=1: an error" sh -c "[ $status = 2 ] && grep -q 'refuses .*SHMEM_STRICT' '$err'"
tap_done
