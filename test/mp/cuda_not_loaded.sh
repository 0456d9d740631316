#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program that asks for no device memory does not load the CUDA driver, though there is one.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
maps=$(test_program test/mp/helper/maps)
fake=$top_builddir/test/fake_cuda

run_job 20 env "LD_LIBRARY_PATH=$fake:${LD_LIBRARY_PATH:-}" "$oshrun" -n 2 "$maps"
if [ ! -f "$fake/libcuda.so.1" ]; then tap_fail "2 PEs" "there is no $fake/libcuda.so.1 to be loaded"
elif [ "$status" != 0 ]; then tap_fail "2 PEs" "the job failed"
elif grep libcuda "$out"; then tap_fail "2 PEs" "the driver is loaded"
elif ! grep -q libc "$out"; then tap_fail "2 PEs" "no maps were printed"
else tap_ok "2 PEs without device memory do not load the CUDA driver"
fi
tap_done
