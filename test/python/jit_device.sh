#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kernels of Triton and numba-cuda put, signal, wait, add and reduce, and the examples in Python hold, with 2 and 4 PEs
# on one GPU. WSH_JIT_PYTHON is the interpreter that has torch, triton and numba-cuda (python3).
# timeout: 300
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
[ -e /dev/nvidiactl ] || tap_skip_all "no NVIDIA GPU on this machine"
need_oshrun
python=${WSH_JIT_PYTHON:-python3}
PYTHONPATH=$top_srcdir/python${PYTHONPATH:+:$PYTHONPATH}
WARPSHMEM_LIBRARY_DIR=$top_builddir/.libs
SHMEM_DEVICE_SYMMETRIC_SIZE=64M
TRITON_CACHE_DIR=$tap_dir/cache
export PYTHONPATH WARPSHMEM_LIBRARY_DIR SHMEM_DEVICE_SYMMETRIC_SIZE TRITON_CACHE_DIR

. "$top_srcdir/test/common/one_gpu.sh"

# run_python NAME MODULE LINE FILE: with 2 and 4 PEs, each of which prints the line.
run_python()
{
    if ! "$python" -c "import $2" >"$out" 2>"$err"; then
        tap_skip "$1" "$python cannot import $2: $(tail -n 1 "$err")"
        return
    fi
    for pes in 2 4; do
        run_job 100 "$oshrun" -n "$pes" "$python" "$4"
        tap_check "$1, $pes PEs: exit status 0" test "$status" = 0
        tap_check "$1, $pes PEs: $3" test "$(grep -c "$3" "$out")" = "$pes"
    done
}

examples=$top_srcdir/examples/python
run_python "a kernel of Triton" triton "^PE [0-9]*: Triton" "$top_srcdir/test/python/jit_device_triton.py"
run_python "triton_ring.py" triton ": 0 of 20004 values" "$examples/triton_ring.py"
if [ -f "$top_builddir/libnvshmem_device.ltoir" ]; then
    run_python "a kernel of numba" numba_cuda "^PE [0-9]*: numba-cuda" "$top_srcdir/test/python/jit_device_numba.py"
    run_python "numba_ring.py" numba_cuda ": 0 of 20004 values" "$examples/numba_ring.py"
else
    tap_skip "a kernel of numba" "no libnvshmem_device.ltoir: make device-library"
fi
run_python "torch_exchange.py" torch "tensors of the gpu: 0 of .* wrong, 0 of" "$examples/torch_exchange.py"
tap_done
