#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The runs that chose the rows of runtime/coll/choice.c between hosts, and one of device/choice.h: each algorithm on both
# sides of its threshold. In the build folder: sh ../perftest/sim/thresholds.sh >../perftest/sim/runs/thresholds.txt
set -eu
sim=${SIM:-perftest/sim/sim}

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
echo "# fcollect: rails from 4 hosts on, doubling of up to 64 bytes from 256 hosts on"
for hosts in 4 64; do compare fcollect "rails leaders" --pes $((8 * hosts)) --len 4096; done
for hosts in 128 256; do compare fcollect "doubling leaders rails" --pes $((8 * hosts)); done
compare fcollect "doubling rails" --pes 2048 --len 64
compare fcollect "doubling push" --pes 256 --per-host 1
echo "# alltoall: rails up to 2,048 bytes, grid up to 64 bytes from 192 hosts on"
for len in 8 512 2048 4096; do compare alltoall "rails push" --pes 256 --len "$len"; done
for hosts in 128 192 256; do compare alltoall "grid rails" --pes $((8 * hosts)); done
for hosts in 128 256; do compare alltoall "grid rails" --pes $((2 * hosts)) --per-host 2; done
for hosts in 64 128 512; do compare alltoall "grid push" --pes $hosts --per-host 1; done
for len in 64 128; do compare alltoall "grid rails" --pes 1536 --len $len; done
echo "# reduce between hosts: leaders up to 1,024 bytes, from 4 hosts on"
for hosts in 4 16 64; do
    for len in 512 1024 2048 4096; do compare reduce "leaders rails" --pes $((8 * hosts)) --len "$len"; done
done
echo "# reduce in kernels between hosts, messages alone: a NIC for each PE, copies nearly free: whole arrays up to 8,192 bytes"
for hosts in 2 4 16; do
    for len in 2048 4096 8192 16384 32768; do
        for what in gpu-whole gpu-slices; do
            compare $what - --pes $((8 * hosts)) --nics 8 --copy 0.01 --len "$len"
        done
    done
done
