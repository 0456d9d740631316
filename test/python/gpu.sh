#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package's tests with arrays of torch and cupy in memory of this machine's GPUs, all PEs on the first one;
# then what a call costs. Each line comes at once. On a machine with nothing but the built .libs, nvshmem/lib and oshrun:
#   top_srcdir=. top_builddir=build sh test/python/gpu.sh
# timeout: 900
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/python/lib.sh"
[ -e /dev/nvidiactl ] || tap_skip_all "no NVIDIA GPU on this machine"

export CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES:-0}" SHMEM_DEVICE_SYMMETRIC_SIZE="${SHMEM_DEVICE_SYMMETRIC_SIZE:-64M}"
export SHMEM_SYMMETRIC_SIZE="${SHMEM_SYMMETRIC_SIZE:-64M}" SHMEM_HANG_SECONDS="${SHMEM_HANG_SECONDS:-60}"
WSH_PY_LIMIT=${WSH_PY_LIMIT:-200}
for WSH_PY_KIND in torch cupy torch-host numpy; do
    module=${WSH_PY_KIND%-host}
    if ! $python -c "import $module" 2>/dev/null; then
        tap_skip "python, arrays of $WSH_PY_KIND" "no $module for python3"
        continue
    fi
    run_pytest uid 2 $pes_files
    case $WSH_PY_KIND in torch) run_pytest uid 4 $pes_files ;; esac
done

if env LD_LIBRARY_PATH="$LD_LIBRARY_PATH" "$oshrun" -n 1 true 2>/dev/null; then
    WSH_PY_KIND=torch run_pytest oshrun 2 test_pes_streams.py test_pes_rma.py
else
    tap_skip "python, arrays of torch, started by oshrun" "no PMIx on this machine"
fi
WSH_PY_KIND=torch
for like in numpy torch-host torch; do
    run_job 200 $python "$top_srcdir/perftest/python/overhead.py" --uid 2 --like $like
    tap_comment "$out"
    tap_check "python, a prepared call of $like costs 3 us more than C's or less" test "$status" = 0
done
tap_done
