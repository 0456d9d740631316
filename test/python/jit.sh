#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kernels in Python without a GPU: the table of routines is that of libnvshmem_device.bc, and the example of torch holds
# in memory of the host. make check-long has Triton 3.6.0, the newest Triton and numba-cuda, of PyPI, compile kernels.
# timeout: 2400
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
tests=$top_srcdir/test/python
PYTHONPATH=$top_srcdir/python${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
WARPSHMEM_LIBRARY_DIR=$top_builddir/.libs TRITON_CACHE_DIR=$tap_dir/cache
export PYTHONPATH PYTHONDONTWRITEBYTECODE WARPSHMEM_LIBRARY_DIR TRITON_CACHE_DIR

# Lines of TAP of a program in $out become results of this script.
adopt()
{
    grep '^#' "$out"
    while read -r line; do
        case $line in
        "ok "*) tap_ok "${line#ok * - }" ;;
        "not ok "*) tap_fail "${line#not ok * - }" "see above" ;;
        esac
    done <"$out.tap"
}

# run_tap LIMIT NAME COMMAND…: it says what holds, and ends well.
run_tap()
{
    run_tap_limit=$1
    run_tap_name=$2
    shift 2
    run_job "$run_tap_limit" "$@"
    grep '^ok\|^not ok' "$out" >"$out.tap"
    adopt
    tap_check "$run_tap_name ends well" test "$status" = 0
}

version=$(clang --version 2>/dev/null | sed -n 's/.* version \([0-9]*\).*/\1/p')
nm=$(command -v "llvm-nm-$version" || command -v llvm-nm || echo "/usr/lib/llvm-$version/bin/llvm-nm")
if ! command -v python3 >/dev/null; then
    tap_skip_all "no python3"
elif [ ! -f "$top_builddir/libnvshmem_device.bc" ] || [ ! -x "$nm" ]; then
    tap_skip "the table of routines" "no libnvshmem_device.bc, or no llvm-nm"
else
    "$nm" "$top_builddir/libnvshmem_device.bc" | grep ' T ' >"$tap_dir/names"
    run_tap 60 "the table" sh -c "python3 '$tests/jit_table.py' '$top_srcdir/include/nvshmem' <'$tap_dir/names'"
fi

python=$(for each in python3 /usr/bin/python3; do
    "$each" -c 'import torch' 2>/dev/null && echo "$each" && break
done)
if [ -n "$python" ] && [ -x "$oshrun" ]; then
    run_job 100 env CUDA_VISIBLE_DEVICES= "$oshrun" -n 3 "$python" "$top_srcdir/examples/python/torch_exchange.py"
    tap_check "torch_exchange.py, 3 PEs" test "$(grep -c 'of the host: 0 of .* wrong, 0 of' "$out")" = 3
else
    tap_skip "torch_exchange.py" "no torch in python3 or /usr/bin/python3, or no oshrun"
fi

# from_pypi NAME PACKAGE…: a virtual environment with them.
from_pypi()
{
    from_pypi_name=$1
    shift
    python3 -m venv "$tap_dir/$from_pypi_name" >"$out" 2>"$err" &&
        timeout 300 "$tap_dir/$from_pypi_name/bin/pip" install -q "$@" >"$out" 2>"$err"
}

if [ -z "${WSH_TEST_LONG:-}" ]; then
    tap_skip "Triton and numba-cuda compile kernels" "minutes, and packages of PyPI; make check-long does"
elif [ ! -f "$top_builddir/libnvshmem_device.bc" ]; then
    tap_skip "Triton and numba-cuda compile kernels" "no libnvshmem_device.bc"
else
    for packages in "triton==3.6.0" triton; do
        if from_pypi "venv-$packages" "$packages"; then
            run_tap 800 "$packages" "$tap_dir/venv-$packages/bin/python" "$tests/jit_triton.py"
        else
            tap_skip "$packages" "pip did not install it: $(tail -n 1 "$err")"
        fi
    done
    if [ ! -f "$top_builddir/libnvshmem_device.ltoir" ]; then
        tap_skip "numba-cuda" "no libnvshmem_device.ltoir: make device-library"
    elif from_pypi venv-numba numba-cuda "numpy<2.5"; then
        run_tap 800 numba-cuda "$tap_dir/venv-numba/bin/python" "$tests/jit_numba.py"
    else
        tap_skip "numba-cuda" "pip did not install it: $(tail -n 1 "$err")"
    fi
fi
tap_done
