#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# All kernels of the library, and the device library, compile without a warning for each architecture that configure takes without
# --with-cuda-archs (.ci/run builds one of them). Long form alone. Needs nvcc, no GPU.
# timeout: 7200
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
need_plain "kernels are the same in a build for"
tap_long "kernels for every architecture" || tap_done
mkdir "$tap_dir/build"
run_job 300 sh -c "cd '$tap_dir/build' && '$top_srcdir/configure' ${NVCC:+NVCC='$NVCC'}"
tap_check "configure without --with-cuda-archs" test "$status" = 0
archs=$(sed -n 's/^WSH_CUDA_ARCHS = //p' "$tap_dir/build/Makefile")
echo "# for $archs"
tap_check "it takes more than one" test "$(echo "$archs" | wc -w)" -gt 1
for goal in all device-library; do
    run_job 5400 make -C "$tap_dir/build" "-j$(nproc)" $goal
    tap_check "make $goal" test "$status" = 0
    tap_check "make $goal: no warning" sh -c "! grep -i 'warning' '$err' '$out'"
done
tap_done
