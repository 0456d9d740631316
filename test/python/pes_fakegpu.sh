#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package's tests on 2 PEs with arrays in device memory, by a CUDA driver without a GPU (test/fake_cuda).
# timeout: 200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/python/lib.sh"
driver=$(cd "$top_builddir" && pwd)/test/fake_cuda
[ -f "$driver/libcuda.so.1" ] || tap_skip_all "test/fake_cuda is not built"

export LD_LIBRARY_PATH="$driver:$LD_LIBRARY_PATH" FAKE_CUDA_GPUS=1 SHMEM_DEVICE_SYMMETRIC_SIZE=64M
# shellcheck disable=SC2086
WSH_PY_KIND=fake run_pytest uid 2 $pes_memory_files
tap_done
