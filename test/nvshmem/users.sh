#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Packages above NVSHMEM, unmodified, over libnvshmem_host and the bitcode, as far as they go without a GPU: the names
# that XLA looks up; make check-long has nvshmem4py, Triton and the plug-ins of JAX, of PyPI. users_gpu.sh runs them.
# timeout: 1500
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
users=$top_srcdir/test/nvshmem/users
library=$top_builddir/nvshmem/lib/libnvshmem_host.so.3
command -v python3 >/dev/null || tap_skip_all "no python3"
[ -z "${WSH_TEST_VARIANT:-}" ] || [ "$WSH_TEST_VARIANT" = clang ] || tap_skip_all "python3 loads no sanitizer"
PYTHONDONTWRITEBYTECODE=1 TRITON_CACHE_DIR=$tap_dir/cache
export PYTHONDONTWRITEBYTECODE TRITON_CACHE_DIR

run_job 30 python3 "$users/xla_names.py" "$library"
tap_check "XLA: $(cat "$out")" test "$status" = 0
if [ -z "${WSH_TEST_LONG:-}" ]; then
    tap_skip "nvshmem4py, Triton, plug-ins of JAX" "packages of PyPI, some minutes; make check-long has them"
    tap_done
    exit
fi

# NVSHMEM_HOME as make install makes it, without the examples and pages.
prefix=$tap_dir/prefix
home=$prefix/lib/warpshmem/nvshmem
bitcode=
[ ! -f "$top_builddir/libnvshmem_device.bc" ] || bitcode=install-nvshmemlibDATA
run_job 300 make -C "$top_builddir" install-nvshmem install-nvshmem-lib $bitcode install-includeHEADERS \
    install-shmemincludeHEADERS install-nobase_shmemincludeHEADERS \
    prefix="$prefix" exec_prefix="$prefix" libdir="$prefix/lib" includedir="$prefix/include"
tap_check "make install of the folder" test "$status" = 0
cp -P "$top_builddir"/.libs/libwarpshmem.so* "$prefix/lib/"

# from_pypi NAME PACKAGE…: a virtual environment with them, the first one without what it asks for.
from_pypi()
{
    from_pypi_pip=$tap_dir/$1/bin/pip
    from_pypi_first=$2
    python3 -m venv "$tap_dir/$1" >"$out" 2>"$err" || return 1
    shift 2
    timeout 300 "$from_pypi_pip" install -q --no-deps "$from_pypi_first" >"$out" 2>"$err" || return 1
    [ $# = 0 ] || timeout 300 "$from_pypi_pip" install -q "$@" >"$out" 2>"$err"
}

# pes N PROGRAM…: N processes of it that start by a unique id, with the driver without a GPU; SETTINGS for each.
pes()
{
    pes_n=$1
    shift
    rm -f "$tap_dir/id"
    pids=
    for rank in $(seq 0 $((pes_n - 1))); do
        # shellcheck disable=SC2086
        env SHMEM_DEVICE_SYMMETRIC_SIZE=64M SHMEM_HANG_SECONDS=20 "LD_LIBRARY_PATH=$top_builddir/test/fake_cuda" \
            $settings timeout 100 "$@" "$tap_dir/id" "$rank" "$pes_n" >"$tap_dir/out.$rank" 2>&1 &
        pids="$pids $!"
    done
    failed=0
    for pid in $pids; do wait "$pid" || failed=1; done
    cat "$tap_dir"/out.* >"$out"
    rm -f "$tap_dir"/out.*
    tap_comment "$out"
}

if [ ! -e "$top_builddir/test/fake_cuda/libcuda.so.1" ] || [ -e /dev/nvidiactl ]; then
    tap_skip "nvshmem4py" "test/fake_cuda is not built, or there is a GPU: users_gpu.sh"
elif from_pypi nvshmem4py nvshmem4py-cu13==0.4.1 "cuda-python<14,>=13.0" "cuda.core>=0.5.0" "cuda.pathfinder>=1.2.3" numpy; then
    python=$tap_dir/nvshmem4py/bin/python
    settings="LD_PRELOAD=$library"
    for n in 2 4; do
        pes $n "$python" "$users/nvshmem4py.py"
        tap_check "nvshmem4py, LD_PRELOAD, $n PEs" test "$failed $(grep -c "of $n, nvshmem4py" "$out")" = "0 $n"
    done
    # In place of NVIDIA's wheel.
    packages=$("$python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
    mkdir -p "$packages/nvidia" && ln -s "$home" "$packages/nvidia/nvshmem"
    settings=
    pes 2 "$python" "$users/nvshmem4py.py"
    tap_check "nvshmem4py, in place of NVIDIA's wheel" test "$failed $(grep -c "of 2, nvshmem4py" "$out")" = "0 2"
    if [ -n "$bitcode" ]; then
        run_job 60 env "LD_LIBRARY_PATH=$top_builddir/test/fake_cuda" "$python" -c \
            "from nvshmem.core import find_device_bitcode_library as find; print(find(arch=90), find(arch=80))"
        tap_check "nvshmem4py finds the bitcode" test "$status $(wc -w <"$out")" = "0 2"
    fi
else
    tap_skip "nvshmem4py" "pip did not install it: $(tail -n 1 "$err")"
fi

if [ ! -f "$top_builddir/libnvshmem_device_sm_90.bc" ]; then
    tap_skip "Triton" "no libnvshmem_device_sm_90.bc (clang, --with-cuda-archs=90)"
elif from_pypi triton triton==3.6.0; then
    run_job 600 "$tap_dir/triton/bin/python" "$users/triton_extern.py" "$home/lib"
    tap_check "Triton: $(grep -c 'kernels for sm_' "$out") architectures" test "$status" = 0
else
    tap_skip "Triton" "pip did not install it: $(tail -n 1 "$err")"
fi

for plugin in jax-cuda12-pjrt==0.7.2 jax-cuda13-pjrt==0.11.2; do
    rm -rf "$tap_dir/wheels"
    if timeout 300 python3 -m pip download -q --no-deps --only-binary=:all: --platform manylinux_2_27_x86_64 \
        --platform manylinux2014_x86_64 -d "$tap_dir/wheels" "$plugin" >"$out" 2>"$err"; then
        run_job 120 python3 "$users/xla_names.py" "$library" "$tap_dir"/wheels/*.whl
        tap_check "$(tail -n 1 "$out")" test "$status" = 0
    else
        tap_skip "$plugin" "pip did not fetch it: $(tail -n 1 "$err")"
    fi
done
tap_done
