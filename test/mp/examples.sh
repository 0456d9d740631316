#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The programs of examples/ and of docs/guide/expert-parallelism.md compile without a warning by the commands in their
# heads, and by CMake; each prints one line which says that nothing is wrong: in one host, and between emulated hosts. The
# page's table of memory is what a program prints. Programs for GPUs: test/device/examples.sh.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
need_plain "a program without sanitizers does not go with the library of"
. "$top_srcdir/test/common/examples.sh"
SHMEM_SYMMETRIC_SIZE=64M SHMEM_LIBFABRIC_PROVIDER=tcp
export SHMEM_SYMMETRIC_SIZE SHMEM_LIBFABRIC_PROVIDER

for source in hello.c pi.c transpose.c mandelbrot.c gups.c hash_table.c sample_sort.c bucket_sort.c pipeline.c survive.c heat/heat.c \
    ring_attention/ring_attention.c moe/moe.c; do
    build "$source" -Wall -Wextra -Werror -std=c11 -pedantic
    case $source in gups.c) updates=5000 ;; *) updates= ;; esac
    case $source in heat* | ring* | moe*) far=4 ;; *) far=2 ;; esac
    right "${source%.c}" 4 1 $updates
    right "${source%.c}" $far 2 $updates
done
right hello 1 1

awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$top_srcdir/docs/guide/expert-parallelism.md" >"$tap_dir/first.c"
run_job 60 "$top_builddir/oshcc" -Wall -Wextra -Werror -o "$tap_dir/first" "$tap_dir/first.c" -lwarpshmem-ep
tap_check "the guide's program compiles" test "$status" = 0
run_job 60 "$oshrun" -n 2 "$tap_dir/first"
sort "$out" >"$tap_dir/found"
printf 'PE %d: token %d is %d\n' 0 0 0 0 1 3 0 2 10 1 0 30 1 1 55 1 2 36 >"$tap_dir/wanted"
tap_check "and prints what it should" cmp -s "$tap_dir/wanted" "$tap_dir/found"
run_job 20 "$(test_program perftest/ep/ep_host)" --memory --experts 256
tap_check "the guide's table of memory is what ep_host --memory prints" \
    sh -c "[ $status = 0 ] && [ \$(wc -l <'$out') = 22 ] && ! grep -vxFf '$top_srcdir/docs/guide/expert-parallelism.md' '$out'"

# by_cmake OPTION…: against the parts of an installation that they need; ctest runs them.
by_cmake()
{
    prefix=$tap_dir/prefix
    run_job 100 make -C "$top_builddir" install-includeHEADERS install-shmemincludeHEADERS \
        install-nobase_shmemincludeHEADERS prefix="$prefix" exec_prefix="$prefix" includedir="$prefix/include"
    tap_check "the headers are installed" test "$status" = 0
    mkdir -p "$prefix/pc"
    for file in warpshmem.pc warpshmem-ep.pc; do
        sed "s|^prefix=.*|prefix=$prefix|; s|^libdir=.*|libdir=$top_builddir/.libs|" "$top_builddir/$file" >"$prefix/pc/$file"
    done
    run_job 100 env "PKG_CONFIG_PATH=$prefix/pc" cmake -S "$tap_dir/examples" -B "$tap_dir/built" "-DOSHRUN=$oshrun" -DPES=2 "$@"
    tap_check "CMake finds the library" test "$status" = 0
    run_job 300 cmake --build "$tap_dir/built" -j 2
    tap_check "CMake builds the programs" test "$status" = 0
    run_job 100 ctest --test-dir "$tap_dir/built"
    tap_check "ctest runs them" sh -c "[ $status = 0 ] && grep -q '^100% tests passed' '$out'"
}

if ! command -v cmake >/dev/null || ! command -v pkg-config >/dev/null; then
    tap_skip "by CMake" "no cmake, or no pkg-config"
elif [ -n "${WSH_TEST_LONG:-}" ]; then
    by_cmake
else
    by_cmake -DGPU=OFF
fi

tap_done
