#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An installation has a folder as NVSHMEM's: find_package(NVSHMEM) finds it by CMAKE_PREFIX_PATH and not without, a
# program built with its targets runs; pkg-config nvshmem says the same; one -I is enough; the tree may be moved.
# timeout: 300
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
command -v cmake >/dev/null || tap_skip_all "no cmake"

# The same rules as make install's, for these parts alone.
prefix=$tap_dir/first
home=$tap_dir/moved/lib/warpshmem/nvshmem
run_job 200 make -C "$top_builddir" install-nvshmem install-nvshmem-lib install-dist_nvshmemcmakeDATA install-dist_nvshmempkgconfigDATA \
    install-includeHEADERS install-shmemincludeHEADERS install-nobase_shmemincludeHEADERS \
    prefix="$prefix" exec_prefix="$prefix" libdir="$prefix/lib" includedir="$prefix/include"
tap_check "make install of the folder" test "$status" = 0
mv "$prefix" "$tap_dir/moved"
cp -P "$top_builddir"/.libs/libwarpshmem.so* "$tap_dir/moved/lib/"

# Bitcode by the names that packages look for: nvshmem4py, and those of NVSHMEM's wheel from 8.0 on.
if [ -f "$top_builddir/libnvshmem_device.bc" ]; then
    run_job 200 make -C "$top_builddir" install-nvshmemlibDATA prefix="$prefix" exec_prefix="$prefix" libdir="$prefix/lib"
    mkdir -p "$tap_dir/moved/lib" && cp -P "$prefix"/lib/warpshmem/nvshmem/lib/* "$home/lib/"
    for arch in 80 86 89 90 100 120; do
        tap_check "libnvshmem_device_sm_$arch.bc" test -s "$home/lib/libnvshmem_device_sm_$arch.bc"
    done
    [ ! -f "$top_builddir/libnvshmem_device_sm_90.bc" ] || tap_check "9.0 and newer have their own" \
        sh -c "! cmp -s '$home/lib/libnvshmem_device_sm_100.bc' '$home/lib/libnvshmem_device.bc'"
else
    tap_skip "bitcode by architecture" "no libnvshmem_device.bc"
fi

mkdir "$tap_dir/project"
cp "$top_srcdir/test/nvshmem/host.cc" "$top_srcdir/test/nvshmem/check.h" "$tap_dir/project"
cat >"$tap_dir/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(program CXX)
find_package(NVSHMEM 3.4 REQUIRED)
foreach(target nvshmem nvshmem_host nvshmem_device)
    add_executable(with_${target} host.cc)
    set_target_properties(with_${target} PROPERTIES CXX_STANDARD 17)
    target_link_libraries(with_${target} PRIVATE nvshmem::${target})
endforeach()
END

run_job 60 cmake -S "$tap_dir/project" -B "$tap_dir/none"
tap_check "not found without a path" test "$status" != 0
run_job 60 cmake -S "$tap_dir/project" -B "$tap_dir/built" "-DCMAKE_PREFIX_PATH=$home"
tap_check "found by CMAKE_PREFIX_PATH" test "$status" = 0
run_job 120 cmake --build "$tap_dir/built"
tap_check "builds" test "$status" = 0
for target in nvshmem nvshmem_host nvshmem_device; do
    run_job 60 "$oshrun" -n 2 "$tap_dir/built/with_$target"
    tap_check "nvshmem::$target: runs" test "$status" = 0
done

if command -v pkg-config >/dev/null; then
    words=$(PKG_CONFIG_PATH=$home/lib/pkgconfig pkg-config --cflags --libs nvshmem)
    # shellcheck disable=SC2086
    run_job 60 "${CXX:-g++}" -std=c++17 "$tap_dir/project/host.cc" $words -o "$tap_dir/by_pc"
    tap_check "pkg-config nvshmem: builds" test "$status" = 0
    run_job 60 "$oshrun" -n 2 "$tap_dir/by_pc"
    tap_check "pkg-config nvshmem: runs" test "$status" = 0
else
    tap_skip "pkg-config nvshmem" "no pkg-config"
fi
tap_done
