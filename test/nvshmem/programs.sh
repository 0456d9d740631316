#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The programs of programs/ build against an installed tree as their users build them: by nvcc's line with -rdc=true and
# NVSHMEM's libraries, and by find_package(NVSHMEM) in a CMake project with CUDA; some start by MPI and PMI. make check
# builds one each way, make check-long all; where there is a GPU they run.
# timeout: 600
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
[ -z "${WSH_TEST_VARIANT:-}" ] || tap_skip_all "the programs are built without the sanitizer"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
command -v "$nvcc" >/dev/null || tap_skip_all "no nvcc"
folder=$top_srcdir/test/nvshmem/programs
export SHMEM_SYMMETRIC_SIZE="${SHMEM_SYMMETRIC_SIZE:-64M}" SHMEM_HANG_SECONDS="${SHMEM_HANG_SECONDS:-20}"

if [ -z "${WSH_TEST_PREFIX:-}" ]; then
    prefix=$tap_dir
    run_job 300 make -C "$top_builddir" install-nvshmem install-dist_nvshmemcmakeDATA \
        install-dist_nvshmempkgconfigDATA install-includeHEADERS install-shmemincludeHEADERS \
        install-nobase_shmemincludeHEADERS prefix="$prefix" exec_prefix="$prefix" libdir="$prefix/lib" \
        includedir="$prefix/include"
    tap_check "make install of the folder" test "$status" = 0
    cp -P "$top_builddir"/.libs/libwarpshmem.so* "$prefix/lib/"
    # NVSHMEM's libraries where they are built, else ours alone.
    cp -P "$top_builddir"/nvshmem/lib/libnvshmem*.so* "$top_builddir/libnvshmem_device.a" \
        "$prefix/lib/warpshmem/nvshmem/lib/" 2>/dev/null
else
    prefix=$WSH_TEST_PREFIX
fi
home=$prefix/lib/warpshmem/nvshmem
jobs=$(nproc)
libs=
for name in nvshmem_host nvshmem_device; do
    for file in "$home/lib/lib$name".so "$home/lib/lib$name".a; do
        [ ! -e "$file" ] || libs="$libs -l$name"
    done
done
libs="${libs# } -lwarpshmem"

# sources NAME: of one unit, or of two
sources()
{
    for unit in "$folder/$1.cc" "$folder/$1.cu" "$folder/$1_second.cu" "$folder/$1_kernels.cu"; do
        [ ! -e "$unit" ] || echo "$unit"
    done
}

# run_program WAY NAME PROGRAM
run_program()
{
    if [ ! -e /dev/nvidiactl ]; then
        tap_skip "$1: $2 runs" "no NVIDIA GPU on this machine"
        return
    fi
    run_job 120 env WSH_TEST_PES=2 NVSHMEM_HOME="$home" "$oshrun" -n 2 "$3"
    tap_check "$1: $2 runs" test "$status" = 0
}

nvcc_build()
{
    # shellcheck disable=SC2046,SC2086
    timeout 200 "$nvcc" -rdc=true -arch=sm_90 -std=c++17 "-I$home/include" -o "$tap_dir/$1" $(sources "$1") \
        "-L$home/lib" "-L$prefix/lib" "-Xlinker=-rpath,$home/lib:$prefix/lib" $libs \
        "-L$(dirname "$nvcc")/../lib64/stubs" -lcuda -lnvrtc >"$tap_dir/$1.log" 2>&1
    echo $? >"$tap_dir/$1.status"
}

by_nvcc()
{
    begun=0
    for name in $1; do
        nvcc_build "$name" &
        begun=$((begun + 1))
        [ $((begun % jobs)) != 0 ] || wait
    done
    wait
    for name in $1; do
        status=$(cat "$tap_dir/$name.status")
        cp "$tap_dir/$name.log" "$out"
        tap_check "nvcc -rdc=true $libs: $name" test "$status" = 0
        tap_check "nvlink warns of nothing: $name" sh -c "! grep -q 'nvlink warning' '$out'"
        [ "$status" != 0 ] || run_program nvcc "$name" "$tap_dir/$name"
    done
}

# by_cmake NAMES: one project
by_cmake()
{
    mkdir "$tap_dir/project"
    cat >"$tap_dir/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(programs LANGUAGES CXX CUDA)
find_package(NVSHMEM 3.4 REQUIRED)
find_package(CUDAToolkit REQUIRED)
foreach(program ${PROGRAMS})
    file(GLOB units ${FOLDER}/${program}.cu ${FOLDER}/${program}.cc ${FOLDER}/${program}_second.cu
        ${FOLDER}/${program}_kernels.cu)
    add_executable(${program} ${units})
    set_target_properties(${program} PROPERTIES CXX_STANDARD 17 CUDA_STANDARD 17 CUDA_SEPARABLE_COMPILATION ON)
    target_link_libraries(${program} PRIVATE nvshmem::nvshmem_host nvshmem::nvshmem_device CUDA::cuda_driver
        CUDA::nvrtc)
endforeach()
END
    run_job 120 cmake -S "$tap_dir/project" -B "$tap_dir/built" "-DCMAKE_PREFIX_PATH=$home" "-DFOLDER=$folder" \
        "-DPROGRAMS=$(echo "$1" | tr ' ' ';')" "-DCMAKE_CUDA_COMPILER=$nvcc" -DCMAKE_CUDA_ARCHITECTURES=90
    tap_check "cmake finds NVSHMEM in a project with CUDA" test "$status" = 0
    run_job "$((60 * $(echo "$1" | wc -w)))" cmake --build "$tap_dir/built" -j "$jobs"
    tap_check "cmake builds $1" test "$status" = 0
    for name in $1; do
        [ ! -x "$tap_dir/built/$name" ] || run_program cmake "$name" "$tap_dir/built/$name"
    done
}

names=$(cd "$folder" && ls ./*.cu mixed.cc | sed 's,^\./,,; s/\.c[cu]$//; /_second$/d; /_kernels$/d' | tr '\n' ' ')
nvcc_names=two_units cmake_names=mixed
if [ -n "${WSH_TEST_LONG:-}" ]; then nvcc_names=$names cmake_names=${names% }; fi
by_nvcc "$nvcc_names"
if command -v cmake >/dev/null; then by_cmake "$cmake_names"; else tap_skip "cmake" "no cmake"; fi

if command -v mpicxx >/dev/null && [ -e "$top_builddir/.libs/libwarpshmem_bootstrap_mpi.so" ]; then
    [ -n "${WSH_TEST_PREFIX:-}" ] || cp "$top_builddir/.libs/libwarpshmem_bootstrap_mpi.so" "$prefix/lib/"
    run_job 60 mpicxx -std=c++17 -isystem "$(dirname "$nvcc")/../include" "-I$home/include" -o "$tap_dir/init_mpi" \
        "$folder/init_mpi.cc" "-L$prefix/lib" "-Wl,-rpath,$prefix/lib" -lwarpshmem
    tap_check "mpicxx builds init_mpi" test "$status" = 0
    mpi="mpirun --oversubscribe"
    [ "$(id -u)" != 0 ] || mpi="$mpi --allow-run-as-root"
    # shellcheck disable=SC2086
    run_job 60 $mpi -n 4 "$tap_dir/init_mpi"
    tap_check "two worlds of 2 by communicators of MPI" test "$status" = 0
else
    tap_skip "by communicators of MPI" "no MPI that builds C++ programs (Debian: libopenmpi-dev)"
fi

# By PMI, as hydra and Slurm speak it, under the tests' own server, with device memory of the driver without a GPU.
program=$top_builddir/test/nvshmem/programs/host_moves
if [ -x "$program" ] && [ -e "$top_builddir/test/fake_cuda/libcuda.so.1" ] && command -v python3 >/dev/null; then
    for version in 1 2; do
        run_job 60 env SHMEM_DEVICE_SYMMETRIC_SIZE=64M \
            "LD_LIBRARY_PATH=$top_builddir/test/fake_cuda:$LD_LIBRARY_PATH" \
            python3 "$top_srcdir/test/launch/helper/pmi_server.py" -n 2 --version "$version" --mode good "$program"
        tap_check "host_moves starts by PMI-$version" test "$status" = 0
    done
else
    tap_skip "by PMI" "host_moves or the driver without a GPU is not built, or there is no python3"
fi
tap_done
