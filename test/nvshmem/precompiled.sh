#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# With -DSHMEMX_DEVICE_LIBRARY -rdc=true a unit calls collectives in libnvshmem_device.a instead of compiling them; make
# check-long measures what that saves, makes the libraries and links them into programs and modules, by CMake too. The
# programs need a GPU: test/device/run has test/nvshmem/precompiled and test/nvshmem/modules.
# timeout: 900
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
command -v "$nvcc" >/dev/null || tap_skip_all "no nvcc"
folders="-I$top_srcdir/include/nvshmem -I$top_srcdir/include -I$top_srcdir"
source=$top_srcdir/test/nvshmem/precompiled.cu

# compile OUT OPTION…: in $cpu the processor time in ms
compile()
{
    to=$1
    shift
    # shellcheck disable=SC2086
    run_job 300 bash -c 'TIMEFORMAT="%U %S"; time "$@" 2>&1' compile "$nvcc" -std=c++17 -arch=sm_90 -rdc=true \
        $folders "$@" -o "$to" "$source"
    cpu=$(tail -n 1 "$err" | awk '{ printf "%d", ($1 + $2) * 1000 }')
}

compile "$tap_dir/few.ptx" -DSHMEMX_DEVICE_LIBRARY -ptx
tap_check "compiles with the library" test "$status" = 0
few=$cpu
bodies=$(grep -c '^\.weak .*wsh_dev_\(reduce\|exchange\|barrier\)' "$tap_dir/few.ptx")
calls=$(grep -c '^\.extern .*wsh_dev_reduce_all' "$tap_dir/few.ptx")
tap_check "$calls kinds of reductions called there, $bodies compiled" test "$bodies" = 0 -a "$calls" = 24

# The pass of the host, which has no kernels' headers, and so none of their macros.
toolkit=$(dirname "$(command -v "$nvcc")")/../include
of=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\.\([0-9]*\),.*/-D__CUDACC_VER_MAJOR__=\1 -D__CUDACC_VER_MINOR__=\2/p')
if [ -f "$toolkit/cuda_runtime.h" ]; then
    # shellcheck disable=SC2086
    run_job 60 "${CXX:-g++}" -E -x c++ -std=c++17 -D__CUDACC__ -D__NVCC__ -D__CUDACC_RDC__ -D__CUDA_ARCH_LIST__=900 $of \
        $folders "-I$toolkit" "-I$toolkit/cccl" -include cuda_runtime.h -DSHMEMX_DEVICE_LIBRARY "$top_srcdir/device/library/names.cu"
    tap_check "the host's pass of names.cu uses no macro of kernels" sh -c "[ $status = 0 ] && [ -s '$out' ] && ! grep -qw WSH_DEV '$out'"
else
    tap_skip "the host's pass of names.cu" "no cuda_runtime.h in $toolkit"
fi

if [ -z "${WSH_TEST_LONG:-}" ]; then
    tap_skip "time, archive, LTO-IR, modules, CMake" "some minutes; make check-long has them"
    tap_done
    exit
fi

compile "$tap_dir/all.o" -c
all=$cpu
compile "$tap_dir/few.o" -c -DSHMEMX_DEVICE_LIBRARY
few=$cpu
echo "# twenty typed collectives at three scopes, processor time: $all ms from headers, $few ms with the library"
tap_check "a quarter of the time at most" test $((few * 4)) -le "$all"

run_job 800 make -C "$top_builddir" device-library-tests
tap_check "archive, LTO-IR and their programs" test "$status" = 0
archs=$(sed -n 's/^WSH_CUDA_ARCHS = //p' "$top_builddir/Makefile")
run_job 300 make -C "$top_builddir" device-library
tap_check "LTO-IR by architecture: $archs" test "$status" = 0
for arch in $archs; do
    tap_check "LTO-IR for $arch" test -s "$top_builddir/libnvshmem_device_sm_$arch.ltoir"
done
tap_check "LTO-IR of all in one file" test -s "$top_builddir/libnvshmem_device.ltoir.fatbin"
nm -C "$top_builddir/test/nvshmem/precompiled" >"$tap_dir/symbols" 2>/dev/null
units=$(grep -c ' wsh_device_fill' "$tap_dir/symbols")
tap_check "its unit and the library register: $units" test "$units" = 2
for module in units archive ltoir nvrtc; do
    tap_check "$module: a view" sh -c "readelf -sW '$top_builddir/test/nvshmem/module_$module.cubin' |
        grep -q 'OBJECT.*wsh_device_view'"
done
tap_check "archive: one view, under the common name" sh -c "readelf -sW '$top_builddir/test/nvshmem/module_archive.cubin' |
    grep 'OBJECT.*wsh_device_view' | grep -c . | grep -qx 1"
tap_check "units: a mark for each view" sh -c "readelf -sW '$top_builddir/test/nvshmem/module_units.cubin' |
    grep -c 'FUNC.*wsh_device_unit_mark' | grep -qx 2"

# The same without the define: the archive is not needed.
run_job 300 "$nvcc" -std=c++17 -arch=sm_90 -rdc=true $folders "$top_srcdir/test/nvshmem/streams.cu" \
    "$top_srcdir/test/nvshmem/kernels.cu" -o "$tap_dir/streams" "-L$top_builddir" -lnvshmem_device \
    "-L$top_builddir/.libs" -lwarpshmem
tap_check "-lnvshmem_device without the define" test "$status" = 0

if command -v cmake >/dev/null; then
    prefix=$tap_dir/prefix
    home=$prefix/lib/warpshmem/nvshmem
    run_job 200 make -C "$top_builddir" install-nvshmem install-nvshmem-lib install-dist_nvshmemcmakeDATA install-includeHEADERS \
        install-shmemincludeHEADERS install-nobase_shmemincludeHEADERS \
        prefix="$prefix" exec_prefix="$prefix" libdir="$prefix/lib" includedir="$prefix/include"
    cp -P "$top_builddir"/.libs/libwarpshmem.so* "$prefix/lib/"
    mkdir "$tap_dir/project"
    cp "$source" "$top_srcdir/test/nvshmem/check.h" "$tap_dir/project"
    cat >"$tap_dir/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(program CXX CUDA)
find_package(NVSHMEM REQUIRED)
add_executable(program precompiled.cu)
set_target_properties(program PROPERTIES CUDA_STANDARD 17 CUDA_SEPARABLE_COMPILATION ON CUDA_ARCHITECTURES 90-real)
target_link_libraries(program PRIVATE nvshmem::nvshmem_device)
END
    run_job 120 env CUDACXX="$nvcc" cmake -S "$tap_dir/project" -B "$tap_dir/built" "-DCMAKE_PREFIX_PATH=$home"
    tap_check "CMake: found" test "$status" = 0
    run_job 300 cmake --build "$tap_dir/built" --verbose
    tap_check "CMake: builds" test "$status" = 0
    tap_check "CMake: with the library" grep -q DSHMEMX_DEVICE_LIBRARY "$out"
    nm -C "$tap_dir/built/program" >"$tap_dir/symbols" 2>/dev/null
    tap_check "CMake: the library registers" test "$(grep -c ' wsh_device_fill' "$tap_dir/symbols")" = 2
else
    tap_skip "CMake" "no cmake"
fi
tap_done
