#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What including shmemx.h costs nvcc: seconds for header_cost.cu less those for an empty unit, as a user waits for them
# and as the processors spend them, the least of several runs each. WSH_HEADER_COST=1.5 makes a longer wait than that an
# error (on a quiet machine). WSH_HEADER_NVSHMEM=DIR prints NVSHMEM's cost beside it, from DIR/include.
# timeout: 900
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
limit=${WSH_HEADER_COST:-}
unit=$top_srcdir/test/device/header_cost.cu

command -v "$nvcc" >/dev/null || tap_skip_all "no nvcc"
echo >"$tap_dir/empty.cu"

# seconds FILE FLAGS…: the least wait for nvcc, and its least processor time, over five runs; nothing if it fails. The
# times of children are those of the shell that waits for them: not of one inside $(…).
seconds()
{
    for _ in 1 2 3 4 5; do
        times >"$tap_dir/before"
        began=$(date +%s.%N)
        "$nvcc" -arch=sm_90 -std=c++17 -c -o "$tap_dir/unit.o" "$@" >"$err" 2>&1 || continue
        ended=$(date +%s.%N)
        times >"$tap_dir/after"
        echo "$began $ended $(tail -n 1 "$tap_dir/before") $(tail -n 1 "$tap_dir/after")"
    done | awk '
    function value(t, part) { split(t, part, "m"); sub("s", "", part[2]); return part[1] * 60 + part[2] }
    {
        wait = $2 - $1
        spent = value($5) + value($6) - value($3) - value($4)
        if (!n || wait < least) least = wait
        if (!n++ || spent < work) work = spent
    }
    END { if (n) printf "%.2f %.2f\n", least, work }'
}

base=$(seconds "$tap_dir/empty.cu")

# cost NAME FILE FLAGS…: sets $cost, and says it.
cost()
{
    name=$1
    shift
    with=$(seconds "$@")
    cost=$(echo "${with:-0 0} ${base:-0 0}" | awk '{ printf "%.2f", $1 - $3 }')
    spent=$(echo "${with:-0 0} ${base:-0 0}" | awk '{ printf "%.2f", $2 - $4 }')
    echo "# $name: nvcc takes ${with% *} s for ten routines at three scopes, ${base% *} s for an empty unit:" \
        "costs $cost s ($spent s of processor time)"
}

cost warpshmem "-I$top_srcdir" "-I$top_srcdir/include" "$unit"
tap_check "ten device routines at three scopes compile" test -n "$with"
[ -z "$limit" ] || tap_check "they cost at most $limit s of nvcc's time" awk "BEGIN { exit !($cost <= $limit) }"
[ -z "${WSH_HEADER_NVSHMEM:-}" ] || cost NVSHMEM -rdc=true -DNVSHMEM_NAMES "-I$WSH_HEADER_NVSHMEM/include" "$unit"
tap_done
