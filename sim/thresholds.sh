#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The runs that chose the rows of runtime/coll/choose/choice.c between hosts, and one of device/coll/choice.h: each algorithm on both
# sides of its threshold. In the build folder: sh ../sim/thresholds.sh >../sim/runs/thresholds.txt
set -eu
sim=${SIM:-sim/sim}

# compare WHAT ALGORITHMS OPTIONS…: a line for each algorithm; "-" is what choice.c takes.
compare()
{
    what=$1 algos=$2
    shift 2
    for algo in $algos; do
        force="--algo $algo"
        [ "$algo" != - ] || force=
        # shellcheck disable=SC2086
        us=$("$sim" --run "$what" --rounds 1 $force "$@" | awk '!/^#/ { print $5 " us, " $8 " messages, engine at most " $10 " B" }')
        echo "sim --run $what --rounds 1${force:+ $force} $*: $us"
    done
}

echo "# simulated: no figure here was measured on a network"
echo "# sync between hosts: linear up to 16"
for hosts in 8 16 32; do compare barrier "linear fans rounds" --pes $((8 * hosts)); done
compare barrier "fans rounds" --pes 8192
echo "# fcollect between hosts of one member: one step up to 64 of them"
for hosts in 16 64 128; do compare fcollect "push rounds" --pes $hosts --per-host 1; done
compare fcollect "push rounds" --pes 64 --per-host 1 --len 4096
echo "# fcollect: rails up to 128 members and 64 bytes, 64 members and 1,024 bytes, then leaders; from 2 hosts on"
for shape in "16 8" "32 16" "128 8" "256 8" "32 4" "256 4"; do
    for len in 8 64; do compare fcollect "rails leaders" --pes "${shape% *}" --per-host "${shape#* }" --len $len; done
done
for shape in "32 8" "64 8" "128 8" "64 16" "128 16" "64 4" "128 4"; do
    for len in 512 1024; do compare fcollect "rails leaders" --pes "${shape% *}" --per-host "${shape#* }" --len $len; done
done
echo "# fcollect of 2,048 bytes: leaders where hosts have 8 members or more, of larger blocks rails"
for locals in 2 4 8 16; do
    for len in 2048 4096; do compare fcollect "leaders rails" --pes 128 --per-host $locals --len $len; done
done
echo "# fcollect: leaders up to 4,096 bytes with 8 members for each NIC"
for shape in "32 8 1" "128 8 4" "128 8 2" "128 8 1" "128 16 2" "128 64 8"; do
    # shellcheck disable=SC2086
    set -- $shape
    for len in 512 4096; do compare fcollect "leaders rails" --pes "$1" --per-host "$2" --nics "$3" --len $len; done
done
compare fcollect "leaders rails" --pes 128 --nics 1 --len 16384
echo "# fcollect: doubling of up to 64 bytes from 256 hosts on"
for hosts in 128 256; do compare fcollect "doubling leaders rails" --pes $((8 * hosts)); done
compare fcollect "doubling rails" --pes 2048 --len 64
compare fcollect "doubling push" --pes 256 --per-host 1
echo "# alltoall: rails up to 4,096 bytes; between 2 hosts of fewer than 8 members up to 1,024"
for len in 8 512 2048 4096 16384; do compare alltoall "rails push" --pes 64 --len "$len"; done
for locals in 2 4 8; do
    for len in 8 1024 2048 4096; do compare alltoall "rails push" --pes $((2 * locals)) --per-host $locals --len $len; done
done
for locals in 2 4; do
    for len in 2048 4096 16384; do compare alltoall "rails push" --pes $((16 * locals)) --per-host $locals --len $len; done
done
for len in 8 2048 4096; do compare alltoall "rails push grid" --pes 128 --per-host 64 --len $len; done
for len in 2048 4096; do compare alltoall "rails push" --pes 256 --len $len; done
echo "# alltoall: grid up to 64 bytes from 128 hosts on"
for locals in 1 2 4 8; do
    for hosts in 64 128; do
        for len in 8 64; do
            compare alltoall "grid rails" --pes $((locals * hosts)) --per-host $locals --len $len
        done
    done
done
for len in 8 128; do compare alltoall "grid rails" --pes 1536 --len $len; done
compare alltoall "grid push" --pes 512 --per-host 1
echo "# reduce between hosts: leaders up to 1,024 bytes, then rails, from 4 hosts on"
for hosts in 4 16 64; do
    for len in 512 1024 2048 4096; do compare reduce "leaders rails" --pes $((8 * hosts)) --len "$len"; done
done
echo "# reduce: slices with a NIC for two members, up to 32 members and, of fewer than 8 a host, 128; to 65,536 bytes"
for shape in "16 4 1" "16 4 2" "32 4 1" "32 4 4" "32 8 2" "32 8 4" "64 8 4" "64 4 2" "64 2 4" "128 4 4" "256 4 4"; do
    # shellcheck disable=SC2086
    set -- $shape
    for len in 4096 65536; do compare reduce "slices rails" --pes "$1" --per-host "$2" --nics "$3" --len $len; done
done
compare reduce "slices rails" --pes 8 --per-host 2 --len 1048576
echo "# reduce of 2,048 bytes: leaders with 8 members for each NIC"
for nics in 1 2; do compare reduce "leaders rails" --pes 128 --nics $nics --len 2048; done
compare reduce "leaders rails" --pes 512 --per-host 16 --nics 1 --len 2048
echo "# reduce between 2 hosts: leaders up to 2,048 bytes"
for locals in 4 16; do
    for len in 2048 4096; do compare reduce "leaders slices rails" --pes $((2 * locals)) --per-host $locals --len $len; done
done
echo "# reduce between hosts of one member: slices from 2,048 bytes on, from 4 hosts on"
for hosts in 2 4 16 256; do
    for len in 1024 2048 4096; do compare reduce "leaders slices" --pes $hosts --per-host 1 --len $len; done
done
echo "# reduce in kernels between hosts, messages alone: a NIC for each PE, copies nearly free: whole arrays up to 8,192 bytes"
for hosts in 2 4 16; do
    for len in 2048 4096 8192 16384 32768; do
        for what in gpu-whole gpu-slices; do
            compare $what - --pes $((8 * hosts)) --nics 8 --copy 0.01 --len "$len"
        done
    done
done
