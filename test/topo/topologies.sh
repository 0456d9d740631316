#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The NIC map of every topology XML is the one expected, for any number of PEs, with all GPUs in sight, with one
# for each PE, and with none; the files are those of the table; bad input is answered with one line.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
topologies=$top_srcdir/test/topo
info=$top_builddir/warpshmem-info
[ -x "$info" ] || tap_skip_all "warpshmem-info is not built"
for name in $(env | sed -n 's/^\([A-Z]*SHMEM_[A-Z_]*\|SMA_[A-Z_]*\|CUDA_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done

# map TOPOLOGY PES SETTING…: the map in $out.
map()
{
    map_xml=$topologies/$1.xml
    map_pes=$2
    shift 2
    run_job 20 env "$@" "$info" --nics --parsable --topology "$map_xml" --pes "$map_pes"
}

# expected TOPOLOGY HEADER: the lines below that header.
expected()
{
    awk -v header="= $2" '/^=/ { on = $0 == header; next } /^#/ || !NF { next } on' "$topologies/$1.map"
}

agree()
{
    expected "$1" "$2" >"$tap_dir/expected"
    # shellcheck disable=SC2086
    map "$1" $2
    tap_check "$1: $2" diff "$tap_dir/expected" "$out"
}

# agree_hidden TOPOLOGY PES VARIABLE: each PE is given its own GPU alone; its line is that of the whole map.
agree_hidden()
{
    gpus=$(grep -c '10de:' "$topologies/$1.xml")
    [ "$gpus" -gt 0 ] || return 0
    expected "$1" "$2" >"$tap_dir/expected"
    for pe in $(seq 0 $(($2 - 1))); do
        map "$1" "$2" "$3=$((pe % gpus))"
        grep "^map:$pe:" "$out"
    done >"$tap_dir/hidden"
    tap_check "$1: $2, one GPU each by $3" diff "$tap_dir/expected" "$tap_dir/hidden"
}

# says TEXT ARGUMENTS…: exit status not 0, and one line with TEXT.
says()
{
    text=$1
    shift
    run_job 20 env "$@"
    [ "$status" != 0 ] && [ "$(wc -l <"$err")" = 1 ] && [ ! -s "$out" ] && grep -qF -- "$text" "$err"
}

refuses()
{
    tap_check "refused: $1" says "$@"
}

mkdir "$tap_dir/topologies"
sh "$topologies/make-topologies" "$tap_dir/topologies"
for xml in "$tap_dir"/topologies/*.xml; do
    tap_check "$(basename "$xml") is what make-topologies writes" cmp "$xml" "$topologies/$(basename "$xml")"
done

# The NICs of an emulated machine, and of its topology.
nics=$top_srcdir/emulator/nic_defs.h
for pair in p4d:p4d p5:p5 p5en:p5en p6:p6-b200; do
    if [ ! -f "$nics" ]; then
        tap_skip "emulated NICs of ${pair%:*}" "no emulated device in this tree"
        continue
    fi
    sed -n "s/^EMU_NIC(${pair%:*}, 0x\(..\), 0x\(..\))/0000:\1:\2.0/p" "$nics" | sort >"$tap_dir/emulated"
    grep "^${pair#*:} " "$topologies/machines" | tr ' ' '\n' | sed -n 's/^nic=//p' | sort >"$tap_dir/written"
    tap_check "the emulated ${pair%:*} has the NICs of topology ${pair#*:}" cmp "$tap_dir/emulated" "$tap_dir/written"
done

for list in "$topologies"/*.map; do
    topology=$(basename "$list" .map)
    grep '^= ' "$list" | cut -c 3- >"$tap_dir/headers"
    while read -r header; do agree "$topology" "$header"; done <"$tap_dir/headers"
    for pes in 2 8; do agree_hidden "$topology" "$pes" CUDA_VISIBLE_DEVICES; done
    agree_hidden "$topology" 8 SHMEM_PE_GPU
done

p5=$topologies/p5.xml
printf '<topology version="2.0"><object type="Machine"' >"$tap_dir/cut.xml"
head -c 5000 "$p5" >"$tap_dir/half.xml"
refuses "'$tap_dir/none.xml': No such file" "$info" --nics --topology "$tap_dir/none.xml"
refuses "is not a topology XML" "$info" --nics --topology "$tap_dir/cut.xml"
refuses "is not a topology XML" "$info" --nics --topology "$tap_dir/half.xml"
refuses "is not a topology XML" "$info" --nics --topology "$topologies/machines"
refuses "is not a topology XML" "$info" --nics --topology "$tap_dir"
refuses "is not a topology XML" SHMEM_TOPOLOGY="$topologies/machines" "$info" --nics

# Some releases of hwloc end by a signal where a set of nodes is missing; others refuse the file, or take it.
sed 's/ complete_cpuset="0x00000008"/ wrong="0x00000008"/' "$topologies/p5en.xml" >"$tap_dir/damaged.xml"
run_job 20 env SHMEM_TOPOLOGY="$tap_dir/damaged.xml" "$info" --nics
if [ $status = 0 ]; then
    tap_ok "a file that ends some releases of hwloc by a signal: this one takes it"
else
    tap_check "a file that ends hwloc by a signal is named in one line" \
        sh -c "[ $status = 1 ] && [ $(wc -l <"$err") = 1 ] && grep -qE \"'$tap_dir/damaged.xml' is (a damaged|not a) topology XML\" '$err'"
fi
refuses "--pes '0': write a whole number from 1 to 4096" "$info" --nics --pes 0
refuses "--pes 'two'" "$info" --nics --pes two
refuses "SHMEM_NICS_PER_PE='9' is not valid" SHMEM_NICS_PER_PE=9 "$info" --nics --topology "$p5"
refuses "SHMEM_NICS='mlx5_0' and" SHMEM_NICS=mlx5_0 "$info" --nics --topology "$p5"
refuses "SHMEM_NICS_EXCLUDE='rdmap*' leave no NIC" SHMEM_NICS_EXCLUDE='rdmap*' "$info" --nics --topology "$p5"
refuses "SHMEM_PE_GPU='0,8' is not valid: this host has no GPU '8'" SHMEM_PE_GPU=0,8 "$info" --nics --topology "$p5"

run_job 20 env SHMEM_NICS=rdmap79s0,rdmap80 "$info" --nics --parsable --topology "$p5"
tap_check "a name that fits no NIC is pointed out" grep -qF "this host has no NIC 'rdmap80'" "$err"
run_job 20 "$info" --nics --topology "$topologies/vm.xml"
tap_check "a machine without RDMA NIC says how peers are reached" grep -q "no RDMA NIC: .* over sockets" "$out"
run_job 20 env SHMEM_TOPOLOGY="$p5" "$info" --nics --pes 2
tap_check "the table is a line a rail" test "$(grep -c 'rdmap.*switch$' "$out")" = 8
tap_done
