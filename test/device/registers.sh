#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kernels without launch bounds that call the library start with 1024 threads: none has more than 64 registers. Asks the
# assembler and the linker of device code, so needs no GPU. With -rdc=true that holds for every routine at each scope, as
# single unit for those of full_block.cu and lists of puts. make check-long asks of all routines: as single units none
# takes more than test/device/compile/above_64 says, where those stand that do not keep to 64. And loops that ask peers
# for values have several on their way, not one after the other; copies by 1024 threads spill nothing.
# timeout: 1200
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
nvcc_flags="-arch=sm_90 -std=c++17 -Xptxas -v -I$top_srcdir -I$top_srcdir/include"
command -v "$nvcc" >/dev/null || tap_skip_all "no nvcc"

# used: a line for each kernel that $out names, its registers first; most first
used()
{
    awk '/(Compiling entry function|Function properties for) \047/ { split($0, part, "\047"); name = part[2] }
        name && match($0, /[Uu]sed [0-9]+ registers/) { print substr($0, RSTART + 5, RLENGTH - 15), name; name = "" }' "$out" |
        sort -k 1,1nr >"$tap_dir/used"
}

# at_most_64 WHAT KERNELS: that many at least, and none has more
at_most_64()
{
    tap_check "$1: the registers of $(wc -l <"$tap_dir/used") kernels are said" test "$(wc -l <"$tap_dir/used")" -ge "$2"
    head -n 3 "$tap_dir/used" | tap_comment
    tap_check "$1: none has more than 64" awk '$1 > 64 { bad = 1 } END { exit bad }' "$tap_dir/used"
}

# single WHAT KERNELS PART…: each routine and scope in a kernel of a single unit; one that takes too many is named
single()
{
    what="a single unit, $1" least=$2
    shift 2
    # shellcheck disable=SC2086,SC2046
    run_job 600 "$nvcc" $nvcc_flags $(printf ' -DWSH_FULL_%s' "$@") -cubin -o "$tap_dir/cubin" \
        "$top_srcdir/test/device/compile/full_threads.cu"
    tap_check "$what: compiles" test "$status" = 0
    cat "$err" >>"$out"
    used
    tap_check "$what: the registers of $(wc -l <"$tap_dir/used") kernels are said" test "$(wc -l <"$tap_dir/used")" -ge "$least"
    awk 'NR == FNR { if (!/^#/) limit[$2] = $1; next }
        { sub(/^_Z[0-9]+/, "", $2); sub(/4args$/, "", $2); most = $2 in limit ? limit[$2] : 64 }
        $1 > most { print $2 ": " $1 " registers, at most " most }
        $1 <= 64 && $2 in limit { print "# " $2 ": " $1 " registers; above_64 need not name it" }' \
        "$top_srcdir/test/device/compile/above_64" "$tap_dir/used" >"$tap_dir/above"
    tap_comment "$tap_dir/above"
    tap_check "$what: none has more than 64, or what above_64 says" sh -c "! grep -qv '^#' '$tap_dir/above'"
}

# linked WHAT KERNELS PART…: with -rdc=true, of a kernel and all that it calls
linked()
{
    what="-rdc=true, $1" least=$2
    shift 2
    # shellcheck disable=SC2086
    run_job 600 "$nvcc" $nvcc_flags -rdc=true $(printf ' -DWSH_FULL_%s' "$@") -keep -keep-dir "$tap_dir" -c -o "$tap_dir/unit.o" \
        "$top_srcdir/test/device/compile/full_threads.cu"
    tap_check "$what: compiles" test "$status" = 0
    run_job 300 "$nvcc" -arch=sm_90 -dlink -Xnvlink -v -Xnvlink --ignore-host-info -o "$tap_dir/linked.o" "$tap_dir/unit.o"
    cat "$err" >>"$out"
    used
    at_most_64 "$what" "$least"
}

# overlap KERNEL INSTRUCTION: four of it at least in the kernel's loop without a branch or call between
overlap()
{
    tap_check "$1: several of $2 on their way" awk -v kernel="$1" -v word="$2" '
        /\.entry/ { inside = index($0, kernel) }
        inside && index($0, word) && ++row > most { most = row }
        /bra|call/ { row = 0 }
        END { exit most < 4 }' "$tap_dir/full_threads.ptx"
}

# shellcheck disable=SC2086
"$nvcc" $nvcc_flags -cubin -o "$tap_dir/cubin" "$top_srcdir/test/device/full_block.cu" >"$out" 2>&1
tap_check "kernels of block routines compile" test $? = 0
used
at_most_64 "a single unit" 20
# With __launch_bounds__(1024) ptxas leaves them 32 registers: of 16 bytes a lane, four at once.
tap_check "copies by 1024 threads spill no registers" awk '
    /Function properties for / { copies = /copy_alignedILj32ELj4E/ }
    copies && / bytes spill stores/ { if (/ 0 bytes spill stores, 0 bytes spill loads/) clean++; else bad++ }
    END { exit bad || clean < 2 }' "$out"

# Compilers before CUDA 13 do not limit functions.
printf '#ifndef __local_maxnreg__\n#error\n#endif\n' >"$tap_dir/limits.cu"
if ! "$nvcc" -std=c++17 -E "$tap_dir/limits.cu" >/dev/null 2>&1; then
    tap_skip "-rdc=true" "this nvcc cannot limit the registers of functions"
elif [ -z "${WSH_TEST_LONG:-}" ]; then
    linked "puts, gets, atomics, lists" 80 MOVES LISTS
    overlap g_again ld.volatile.global.u64
    overlap adds_unused atom.sys.add.u64
else
    linked "all routines" 190 MOVES LISTS WAITS COLLECTIVES REDUCTIONS TYPES
fi
single "lists of puts" 3 LISTS
if [ -n "${WSH_TEST_LONG:-}" ]; then
    single "puts, gets, atomics" 70 MOVES
    single "waits" 21 WAITS
    single "collectives" 30 COLLECTIVES
    # Reductions take up to 130: said, not asked.
    # shellcheck disable=SC2086
    "$nvcc" $nvcc_flags -DWSH_FULL_REDUCTIONS -cubin -o "$tap_dir/cubin" \
        "$top_srcdir/test/device/compile/full_threads.cu" >"$out" 2>&1
    used
    awk '$1 > 64' "$tap_dir/used" | tap_comment
fi
tap_done
