#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libnvshmem_device.bc has the functions that compilers for Python call, in IR that names no processor and no file of
# the build; linked into a kernel it keeps the view under its name and assembles. make check-long assembles all of it,
# and has newer LLVM (llvmlite, Triton) read it.
# timeout: 300
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
library=$top_builddir/libnvshmem_device.bc
[ -f "$library" ] || tap_skip_all "no libnvshmem_device.bc: there was no clang for NVPTX when this was configured"
version=$(clang --version 2>/dev/null | sed -n 's/.* version \([0-9]*\).*/\1/p')

# The LLVM tool of that name, beside the clang.
tool()
{
    command -v "$1-$version" || command -v "$1" || echo "/usr/lib/llvm-$version/bin/$1"
}
have()
{
    command -v "$(tool "$1")" >/dev/null
}

# Names of Triton-distributed's, numba's and nvshmem4py's bindings.
expected()
{
    for name in my_pe n_pes team_my_pe team_n_pes team_translate_pe ptr barrier_all sync_all barrier sync team_sync \
        fence quiet signal_fetch signal_wait_until putmem getmem putmem_nbi getmem_nbi putmem_signal \
        putmem_signal_nbi broadcastmem fcollectmem alltoallmem; do
        echo "nvshmem_$name"
    done
    for scope in warp block; do
        for name in putmem getmem putmem_nbi getmem_nbi putmem_signal putmem_signal_nbi barrier_all sync_all barrier \
            sync team_sync broadcastmem fcollectmem alltoallmem int_sum_reduce float_max_reduce half_sum_reduce \
            bfloat16_min_reduce int32_broadcast float_fcollect double_alltoall put32 get64_nbi int8_put_nbi; do
            echo "nvshmemx_${name}_$scope"
        done
    done
    for type in int long longlong uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff; do
        for name in p g atomic_fetch atomic_set atomic_swap atomic_compare_swap atomic_fetch_add atomic_fetch_inc \
            atomic_add atomic_inc wait_until wait_until_all wait_until_any test; do
            echo "nvshmem_${type}_$name"
        done
    done
    for type in float double char schar short int long longlong uchar ushort uint ulong ulonglong int8 int16 int32 \
        int64 uint8 uint16 uint32 uint64 size ptrdiff half bfloat16; do
        for name in put put_nbi get get_nbi put_signal put_signal_nbi; do
            echo "nvshmemx_qp_${type}_$name nvshmemx_qp_${type}_${name}_warp nvshmemx_qp_${type}_${name}_block"
        done
        echo "nvshmemx_qp_${type}_p nvshmemx_qp_${type}_g"
    done
    echo nvshmemx_qp_signal_op nvshmemx_qp_quiet nvshmemx_qp_fence_block nvshmemx_double2_maxloc_reduce_block
    echo nvshmemx_signal_op nvshmemx_mc_ptr nvshmem_half_p nvshmem_bfloat16_g nvshmem_uint64_atomic_fetch_xor
}

strings -a "$library" >"$tap_dir/strings"
tap_check "no path of the build" sh -c "! grep -q '$top_srcdir\|$top_builddir' '$tap_dir/strings'"
if have llvm-nm; then
    "$(tool llvm-nm)" "$library" | sed -n 's/.* T //p' | sort >"$tap_dir/names"
    expected | tr ' ' '\n' | sort -u | comm -23 - "$tap_dir/names" >"$tap_dir/missing"
    tap_check "$(expected | wc -w) names of $(wc -l <"$tap_dir/names")" test ! -s "$tap_dir/missing"
    tap_comment "$tap_dir/missing"
    if [ -f "${library%.bc}_sm_90.bc" ]; then
        "$(tool llvm-nm)" "${library%.bc}_sm_90.bc" | sed -n 's/.* T //p' | sort >"$tap_dir/names_90"
        tap_check "the same for 9.0 and newer" cmp -s "$tap_dir/names" "$tap_dir/names_90"
    else
        tap_skip "the same for 9.0 and newer" "configured for older GPUs alone"
    fi
else
    tap_skip "names" "no llvm-nm"
fi

# assemble NAME BITCODE: by llc, and by ptxas where it is.
assemble()
{
    run_job 120 "$(tool llc)" -march=nvptx64 -mcpu=sm_80 -mattr=+ptx75 "$2" -o "$tap_dir/code.ptx"
    tap_check "$1: PTX" test "$status" = 0
    if command -v ptxas >/dev/null; then
        run_job 200 ptxas -arch=sm_90 $3 "$tap_dir/code.ptx" -o "$tap_dir/code.cubin"
        tap_check "$1: assembled" test "$status" = 0
    else
        tap_skip "$1: assembled" "no ptxas"
    fi
}

if have llvm-link && have llvm-dis && have llc; then
    run_job 60 clang -x cuda --cuda-device-only -nocudainc -nocudalib -nostdlibinc -Wno-unknown-cuda-version \
        --cuda-gpu-arch=sm_80 -std=c++17 -O2 "-I$top_srcdir" -emit-llvm -c -o "$tap_dir/user.bc" \
        "$top_srcdir/test/nvshmem/user.cu"
    tap_check "a kernel in bitcode" test "$status" = 0
    run_job 60 "$(tool llvm-link)" -only-needed "$tap_dir/user.bc" "$library" -o "$tap_dir/linked.bc"
    tap_check "linked" test "$status" = 0
    "$(tool llvm-dis)" "$library" -o - | grep -c 'target-cpu\|target-features' >"$tap_dir/count"
    tap_check "no processor" test "$(cat "$tap_dir/count")" = 0
    "$(tool llvm-dis)" "$library" -o "$tap_dir/library.ll"
    grep '^!llvm.module.flags' "$tap_dir/library.ll" >"$out"
    tap_check "no flags, which a compiler's own would contradict" test ! -s "$out"
    grep '^define.* byval(' "$tap_dir/library.ll" | grep -v 'byval(%struct\.__\(half\|nv_bfloat16\))' >"$out"
    tap_check "no struct by value out of line: the LLVM of Triton 3.6 aborts" test ! -s "$out"
    assemble "the kernel" "$tap_dir/linked.bc" ""
    tap_check "the view keeps its name" grep -q '^\.weak \.const .* wsh_device_view\[' "$tap_dir/code.ptx"
else
    tap_skip "linked into a kernel" "no llvm-link, llvm-dis or llc"
fi

if [ -z "${WSH_TEST_LONG:-}" ]; then
    tap_skip "all of it assembled" "a minute; make check-long does"
elif have llc; then
    assemble "all of it" "$library" "-c -O1"
    [ ! -f "${library%.bc}_sm_90.bc" ] || assemble "all of it for 9.0" "${library%.bc}_sm_90.bc" "-c -O1"
fi
for module in llvmlite triton; do
    reader=$top_srcdir/test/nvshmem/read_bitcode.py
    if [ -z "${WSH_TEST_LONG:-}" ]; then
        tap_skip "$module reads it" "make check-long does"
    elif python3 -c "import $module" 2>/dev/null; then
        run_job 120 python3 "$reader" "$module" "$library"
        tap_check "$module reads it: $(cat "$out")" test "$status" = 0
    else
        tap_skip "$module reads it" "no $module in python3"
    fi
done
tap_done
