#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No kernel of full_block.cu, which calls block routines, has more registers than 1024 threads can have: 64. Asks
# the assembler, so needs no GPU.
# timeout: 300
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}

command -v "$nvcc" >/dev/null || tap_skip_all "no nvcc"
"$nvcc" -arch=sm_90 -std=c++17 -Xptxas -v "-I$top_srcdir" "-I$top_srcdir/include" -cubin -o "$tap_dir/cubin" \
    "$top_srcdir/test/device/full_block.cu" >"$out" 2>&1
tap_check "kernels of block routines compile" test $? = 0
awk '/Compiling entry function/ { split($0, part, "\047"); name = part[2] }
    name && match($0, /Used [0-9]+ registers/) { print substr($0, RSTART + 5, RLENGTH - 15), name; name = "" }' \
    "$out" >"$tap_dir/used"
tap_check "the assembler says how many registers each has" test "$(wc -l <"$tap_dir/used")" -ge 13
sed 's/^/# /' "$tap_dir/used"
tap_check "none has more than 64" awk '$1 > 64 { bad = 1 } END { exit bad }' "$tap_dir/used"
tap_done
