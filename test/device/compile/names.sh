#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The device headers compile without a warning for sm_80, sm_90 and sm_100, whole-program and with -rdc=true, every name
# with every type (in the short form hardly optimized, which is a fifth of the time); sm_75 is refused with a line that says
# what to do. Needs nvcc, no GPU.
# timeout: 1800
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
command -v "$nvcc" >/dev/null || tap_skip_all "no nvcc"
folder=$top_srcdir/test/device/compile
quick=
[ "${WSH_TEST_LONG:-0}" = 1 ] || quick=$("$nvcc" --help | sed -n 's/^--Ofast-compile <.*/-Ofc=max/p')

# compile NAME FILE FLAGS…
compile()
{
    name=$1
    file=$2
    shift 2
    run_job 600 "$nvcc" -std=c++17 $quick -Xcompiler -Wall,-Wextra,-Wno-unused-value "-I$top_srcdir" "-I$top_srcdir/include" "$@" \
        -o "$tap_dir/unit.o" "$folder/$file"
    tap_check "$name" test "$status" = 0
    tap_check "$name: no warning" sh -c "! grep -q -i warning '$err' '$out'"
}

for arch in sm_80 sm_90 sm_100; do
    side compile "the headers alone, $arch" alone.cu "-arch=$arch" -c
done
side compile "the headers alone, -rdc=true" alone.cu -arch=sm_90 -rdc=true -c
side compile "every name and type, sm_90" every_name.cu -arch=sm_90 -ptx
side compile "every name and type on streams" every_stream.cu -arch=sm_90 -c
if tap_long "every name and type, sm_80"; then side compile "every name and type, sm_80" every_name.cu -arch=sm_80 -ptx; fi

# NVRTC, where the toolkit has it: no host compiler, no libc.
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")
if [ -e "$cuda/include/nvrtc.h" ] && [ -e "$cuda/lib64/libnvrtc.so" ]; then
    run_job 120 "${CC:-cc}" "-I$cuda/include" "$folder/nvrtc.c" "-L$cuda/lib64" "-Wl,-rpath,$cuda/lib64" -lnvrtc \
        -o "$tap_dir/nvrtc"
    tap_check "a program that calls NVRTC" test "$status" = 0
    run_job 120 "$tap_dir/nvrtc" "$top_srcdir/test/device/helper/module.cu" "-I$top_srcdir" "-I$top_srcdir/include"
    tap_check "NVRTC compiles device code" test "$status" = 0
else
    tap_skip "NVRTC compiles device code" "no NVRTC in $cuda"
fi

run_job 60 "$nvcc" -std=c++17 -arch=sm_75 "-I$top_srcdir" "-I$top_srcdir/include" -c -o "$tap_dir/unit.o" "$folder/alone.cu"
tap_check "sm_75 is refused" test "$status" != 0
tap_check "sm_75: the line says what to do" grep -q 'arch=sm_80' "$err"
tap_done
