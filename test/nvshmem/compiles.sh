#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The headers for NVSHMEM's programs compile without a warning: each alone in C++17; nvshmem.h in C11 and C++20 too,
# with and without CUDA's headers, and inside extern "C"; under nvcc in C++20 as a whole program (streams.cu is C++17
# with -rdc=true); and by NVRTC. A unit has the kernels of the host's routines that it calls.
# timeout: 300
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc" || echo /usr/local/cuda/bin/nvcc)")")")/include
folder=$top_srcdir/include/nvshmem
quick=
[ "${WSH_TEST_LONG:-0}" = 1 ] || quick=$("$nvcc" --help 2>/dev/null | sed -n 's/^--Ofast-compile <.*/-Ofc=max/p')
flags="-Wall -Wextra -Werror -I$folder -I$top_srcdir/include"

# compile NAME SOURCE COMMAND…
compile()
{
    name=$1
    shift
    run_job 200 "$@"
    tap_check "$name" test "$status" = 0
}

# Each alone; twice, for its guard.
for header in $(cd "$folder" && find . -name '*.h' -o -name '*.cuh' -o -name '*.hpp' | sort); do
    printf '#include <%s>\n#include <%s>\nextern int used;\n' "${header#./}" "${header#./}" >"$tap_dir/alone.cc"
    # shellcheck disable=SC2086
    compile "$header" g++ -std=c++17 $flags -fsyntax-only "$tap_dir/alone.cc"
done

for header in nvshmem.h nvshmem_host.h; do
    printf '#include <%s>\nextern int used;\n' "$header" >"$tap_dir/all.c"
    cp "$tap_dir/all.c" "$tap_dir/all.cc"
    # shellcheck disable=SC2086
    for system in "" "-isystem $cuda"; do
        [ -z "$system" ] || [ -f "$cuda/cuda_runtime.h" ] || continue
        compile "$header, C11 $system" gcc -std=c11 $system $flags -pedantic -fsyntax-only "$tap_dir/all.c"
        compile "$header, C++20 $system" g++ -std=c++20 $system $flags -pedantic -fsyntax-only "$tap_dir/all.cc"
    done
done

printf 'extern "C" {\n#include <nvshmem.h>\n#include <nvshmemx.h>\n}\nint (*pe)(void) = nvshmem_my_pe;\n' \
    >"$tap_dir/inside.cc"
# shellcheck disable=SC2086
compile "inside extern C" g++ -std=c++17 $flags -fsyntax-only "$tap_dir/inside.cc"

if command -v "$nvcc" >/dev/null; then
    # shellcheck disable=SC2086
    compile "nvcc -std=c++20" "$nvcc" $quick -std=c++20 -arch=sm_90 -Xcompiler -Wall,-Wextra,-Werror "-I$folder" \
        "-I$top_srcdir/include" "-I$top_srcdir" -c -o "$tap_dir/kernels.o" "$top_srcdir/test/nvshmem/kernels.cu"
    tap_check "nvcc -std=c++20: no warning" sh -c "! grep -q -i warning '$err' '$out'"
    # Of routines that kernels have too, and no other call of this unit makes the same kernel.
    cat >"$tap_dir/host.cu" <<'END'
#include <nvshmem.h>
#include <nvshmemx.h>
void calls(void *words, int *status)
{
    nvshmem_int_sum_reduce(NVSHMEM_TEAM_WORLD, (int *)words, (int *)words, 1);
    nvshmem_float_max_reducescatter(NVSHMEM_TEAM_WORLD, (float *)words, (float *)words, 1);
    nvshmem_int_wait_until((int *)words, NVSHMEM_CMP_EQ, 1);
    nvshmem_long_wait_until_all((long *)words, 1, status, NVSHMEM_CMP_EQ, 1);
    nvshmem_short_wait_until_all_vector((short *)words, 1, status, NVSHMEM_CMP_EQ, (short *)words);
    nvshmem_signal_wait_until((uint64_t *)words, NVSHMEM_CMP_EQ, 1);
}
END
    # shellcheck disable=SC2086
    compile "nvcc: the host's calls alone" "$nvcc" $quick -std=c++17 -arch=sm_90 "-I$folder" "-I$top_srcdir/include" \
        "-I$top_srcdir" -ptx -o "$tap_dir/host.ptx" "$tap_dir/host.cu"
    for kernel in reduceIi reduce_wideIi scatterIf scatter_wideIf waitIi waitIm wait_allIl wait_allIs; do
        tap_check "nvcc: the host's calls have wsh_stream_$kernel" \
            grep -q "\.entry _Z[0-9]*wsh_stream_${kernel}E" "$tap_dir/host.ptx"
    done
    # Of host code alone, for libnvshmem_host: no kernel, no view, nothing registered.
    (echo '#define NVSHMEM_HOSTLIB_ONLY' && cat "$tap_dir/host.cu") >"$tap_dir/hostlib.cu"
    for way in -ptx -c; do
        # shellcheck disable=SC2086
        compile "nvcc: NVSHMEM_HOSTLIB_ONLY $way" "$nvcc" $quick -std=c++17 -arch=sm_90 -Xcompiler -Wall,-Wextra,-Werror \
            "-I$folder" "-I$top_srcdir/include" $way -o "$tap_dir/hostlib$way" "$tap_dir/hostlib.cu"
    done
    tap_check "nvcc: NVSHMEM_HOSTLIB_ONLY compiles no kernel" sh -c "! grep -q 'entry\|func\|wsh' '$tap_dir/hostlib-ptx'"
    nm "$tap_dir/hostlib-c" >"$out"
    tap_check "nvcc: NVSHMEM_HOSTLIB_ONLY calls the library and registers nothing" \
        sh -c "grep -q 'U nvshmem_int_sum_reduce$' '$out' && ! grep -q wsh_device_register '$out'"
    # A type that is no tuple masks nothing.
    cat >"$tap_dir/tiles.cu" <<'END'
#include <nvshmem.h>
#include <nvshmemx.h>
struct empty {};
using Line = nvshmemx::Tensor<float, nvshmemx::Layout<nvshmemx::shape<int, int>, nvshmemx::stride<int, ConstInt<1>>>>;
using namespace nvshmemx;
__global__ void tiles(Line a, Line b, int *status)
{
    *status = tile_allgather_block<Line, Line, empty, tile_coll_algo_t::NVLS_ONE_SHOT_PUSH_NBI>(0, a, b, {}, {}, 0) +
              tile_sum_reduce_block<Line, Line, empty, tile_coll_algo_t::NVLS_ONE_SHOT_PULL_NBI>(0, a, b, {}, {}, 0, 0);
}
END
    # shellcheck disable=SC2086
    compile "nvcc: tiles without a mask" "$nvcc" $quick -std=c++17 -arch=sm_90 "-I$folder" "-I$top_srcdir/include" \
        "-I$top_srcdir" -ptx -o "$tap_dir/tiles.ptx" "$tap_dir/tiles.cu"
    # The bodies of all templates; -w: the unit does not say on which side they are.
    if [ -z "${WSH_TEST_LONG:-}" ]; then
        tap_skip "nvcc: every template" "half a minute; make check-long compiles them"
    elif python3 "$top_srcdir/test/nvshmem/signatures" --instantiate >"$tap_dir/every.cu"; then
        compile "nvcc: $(grep -c '^template' "$tap_dir/every.cu") templates" "$nvcc" -std=c++17 -arch=sm_90 -w \
            "-I$folder" "-I$top_srcdir/include" "-I$top_srcdir" -c -o "$tap_dir/every.o" "$tap_dir/every.cu"
    else
        tap_skip "nvcc: every template" "no python3"
    fi
else
    tap_skip "nvcc -std=c++20" "no nvcc"
fi

# At run time, with half where CUDA's headers are named and without it where not.
if [ -e "$cuda/nvrtc.h" ] && [ -e "$cuda/../lib64/libnvrtc.so" ]; then
    compile "a program that calls NVRTC" "${CC:-cc}" "-I$cuda" "$top_srcdir/test/device/compile/nvrtc.c" \
        "-L$cuda/../lib64" "-Wl,-rpath,$cuda/../lib64" -lnvrtc -o "$tap_dir/nvrtc"
    for system in "" "-I$cuda"; do
        # shellcheck disable=SC2086
        compile "NVRTC $system" "$tap_dir/nvrtc" "$top_srcdir/test/nvshmem/nvrtc.cu" "-I$folder" \
            "-I$top_srcdir/include" "-I$top_srcdir" $system
    done
else
    tap_skip "NVRTC" "no NVRTC in $cuda"
fi
tap_done
