#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What shmemx.h costs nvcc: seconds for the units of header_cost.cu less those for an empty unit, as a user waits for
# them and as the processors spend them, medians of WSH_HEADER_ROUNDS rounds (1; in make check-long 3) in which the units
# take turns.
# WSH_HEADER_COST=1.5 makes a longer wait than that for the ten routines an error (on a quiet machine).
# WSH_HEADER_NVSHMEM=DIR prints NVSHMEM's cost, from DIR/include, and the ratio beside it; its twenty collectives alone
# take minutes a round. WSH_HEADER_UNITS="ONE_PUT TEN_ROUTINES" measures some units only.
# timeout: 900
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
limit=${WSH_HEADER_COST:-}
rounds=${WSH_HEADER_ROUNDS:-$([ -n "${WSH_TEST_LONG:-}" ] && echo 3 || echo 1)}
most="NOTHING ONE_PUT"
{ [ "${WSH_TEST_LONG:-0}" = 0 ] && [ -z "$limit" ]; } || most="$most ONE_REDUCTION ONE_ON_STREAM TEN_ROUTINES TWENTY_COLLECTIVES"
units=${WSH_HEADER_UNITS:-$most}
unit=$top_srcdir/test/device/header_cost.cu
failed=

command -v "$nvcc" >/dev/null || tap_skip_all "no nvcc"
echo >"$tap_dir/empty.cu"

# compile NAME FLAGS…: one line in the file of that name: when it began and ended, and the processor time of this
# shell's children before and after. They are children of a shell that waits for them: not of one inside $(…).
compile()
{
    name=$1
    shift
    times >"$tap_dir/before"
    began=$(date +%s.%N)
    if ! "$nvcc" -arch=sm_90 -std=c++17 -c -o "$tap_dir/unit.o" "$@" >"$err" 2>&1; then
        tap_comment "$err"
        failed="$failed $name"
        return
    fi
    ended=$(date +%s.%N)
    times >"$tap_dir/after"
    echo "$began $ended $(tail -n 1 "$tap_dir/before") $(tail -n 1 "$tap_dir/after")" >>"$tap_dir/$name"
}

# medians NAME: of the wait and of the processor time.
medians()
{
    awk '
    function value(t, part) { split(t, part, "m"); sub("s", "", part[2]); return part[1] * 60 + part[2] }
    { print $2 - $1, value($5) + value($6) - value($3) - value($4) }' "$tap_dir/$1" >"$tap_dir/spent"
    for column in 1 2; do
        sort -n -k $column,$column "$tap_dir/spent" | awk -v c=$column '
            { v[NR] = $c } END { printf "%.2f ", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
    done
}

round=0
while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    compile empty "$tap_dir/empty.cu"
    for names in $units; do
        compile "$names" "-D$names" "-I$top_srcdir" "-I$top_srcdir/include" "$unit"
        [ -z "${WSH_HEADER_NVSHMEM:-}" ] ||
            compile "nvshmem_$names" "-D$names" -rdc=true -DNVSHMEM_NAMES "-I$WSH_HEADER_NVSHMEM/include" "$unit"
    done
done
tap_check "units that name device routines compile" test -z "$failed"
[ -z "$failed" ] || tap_done

base=$(medians empty)
echo "# nvcc takes $(echo "$base" | awk '{ print $1 " s (" $2 " s of processor time)" }') for an empty unit. Added by:"
for names in $units; do
    line="$(medians "$names") $base"
    [ -z "${WSH_HEADER_NVSHMEM:-}" ] || line="$line $(medians "nvshmem_$names")"
    echo "$names $line" | awk '
    {
        printf "# %s: %.2f s (%.2f s)", $1, $2 - $4, $3 - $5
        if (NF > 5)
            printf "; NVSHMEM %.2f s (%.2f s): ratio %.2f (%.2f)", $6 - $4, $7 - $5, ($2 - $4) / ($6 - $4),
                   ($3 - $5) / ($7 - $5)
        printf "\n"
    }'
    [ "$names" != TEN_ROUTINES ] || cost=$(echo "$line" | awk '{ printf "%.2f", $1 - $3 }')
done
[ -z "$limit" ] ||
    tap_check "ten routines cost at most $limit s of nvcc's time" awk "BEGIN { exit !(${cost:-9999} <= $limit) }"
tap_done
