#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The programs of examples/ for GPUs compile without a warning by the commands in their heads; on a GPU each prints one line
# which says that nothing is wrong, in one host and as two.
# timeout: 900
# shares: GPUs
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
. "$top_srcdir/test/common/examples.sh"
nvcc=$(sed -n "s/^ *\*nvcc) compiler=\${SHMEM_NVCC:-'\(.*\)'} ;;/\1/p" "$top_builddir/oshnvcc")
command -v "${SHMEM_NVCC:-${nvcc:-nvcc}}" >/dev/null || tap_skip_all "no nvcc"
SHMEM_SYMMETRIC_SIZE=64M SHMEM_DEVICE_SYMMETRIC_SIZE=64M SHMEM_LIBFABRIC_PROVIDER=tcp
export SHMEM_SYMMETRIC_SIZE SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_LIBFABRIC_PROVIDER

for source in heat/heat.cu ring_attention/ring_attention.cu moe/moe.cu; do
    build "$source" -Xcompiler -Wall,-Wextra,-Werror
    if [ ! -e /dev/nvidiactl ]; then
        tap_skip "${source%.cu}_gpu" "no NVIDIA GPU on this machine"
        continue
    fi
    for pes in 1 2 4; do right "${source%.cu}_gpu" "$pes" 1; done
    for pes in 2 4; do right "${source%.cu}_gpu" "$pes" 2; done
done
tap_done
