#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE bound to one of two NUMA nodes asks for its heap there (mbind), one that may run on both asks for nothing, and huge
# pages are asked for. The nodes are those of a topology file, since few machines that run this have two; where strace is
# installed, it takes the place of the kernel, which refuses a node that it does not have.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
hello=$(test_program test/mp/hello)
SHMEM_SYMMETRIC_SIZE=16M SHMEM_DEBUG=info,MEM SHMEM_TOPOLOGY=$tap_dir/two.xml
export SHMEM_SYMMETRIC_SIZE SHMEM_DEBUG SHMEM_TOPOLOGY

# set_of BITS: attributes of an object with these processors and nodes
set_of()
{
    for what in cpuset complete_cpuset nodeset complete_nodeset; do printf ' %s="0x%08x"' $what "$1"; done
}

# package NUMBER: with one node, one core and one processor
package()
{
    bits=$(set_of $((1 << $1)))
    echo "<object type=\"Package\" os_index=\"$1\" gp_index=\"$((2 + 4 * $1))\"$bits>
<object type=\"NUMANode\" os_index=\"$1\" gp_index=\"$((3 + 4 * $1))\"$bits/>
<object type=\"Core\" os_index=\"$1\" gp_index=\"$((4 + 4 * $1))\"$bits>
<object type=\"PU\" os_index=\"$1\" gp_index=\"$((5 + 4 * $1))\"$bits/></object></object>"
}

{
    echo '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">'
    echo "<object type=\"Machine\" os_index=\"0\" gp_index=\"1\"$(set_of 3)>"
    package 0
    package 1
    echo '</object></topology>'
} >"$SHMEM_TOPOLOGY"

# kept NAME NODE TASKSET…: what the library says
kept()
{
    name=$1 node=$2
    shift 2
    run_job 30 "$@" "$hello"
    tap_check "$name" test "$status:$(grep -c 'symmetric heap is.* NUMA node' "$err")" = "0:$([ -z "$node" ] && echo 0 || echo 1)"
    [ -z "$node" ] || tap_check "$name: node $node" grep -q "symmetric heap is.* NUMA node $node" "$err"
}

command -v taskset >/dev/null && taskset -c 0 true 2>"$err" || tap_skip_all "no taskset, or no processor 0"
kept "bound to a processor of the first node" 0 taskset -c 0
tap_check "huge pages are asked for, or why there are none is said" grep -q "symmetric heap has .* pages" "$err"
if taskset -c 0,1 true 2>"$err"; then
    kept "free on both nodes" "" taskset -c 0,1
    kept "bound to a processor of the second node" 1 taskset -c 1
    if strace -o /dev/null true 2>"$err"; then
        run_job 60 "$oshrun" -n 2 sh -c 'exec taskset -c "$PMIX_RANK" strace -e trace=mbind -e inject=mbind:retval=0 \
            -o "$1.$PMIX_RANK" "$2"' sh "$tap_dir/calls" "$hello"
        for pe in 0 1; do
            tap_check "PE $pe: mbind to its node" \
                grep -q "^mbind(0x[0-9a-f]*, [0-9]*, MPOL_PREFERRED, \[0x0*$((1 << pe))\]" "$tap_dir/calls.$pe"
        done
    else
        tap_skip "calls of mbind" "no strace, or it may not trace"
    fi
else
    tap_skip "two nodes" "fewer than two processors"
fi
run_job 30 env -u SHMEM_TOPOLOGY "$hello"
tap_check "this machine's own nodes" test "$status" = 0
run_job 30 env SHMEM_TOPOLOGY=/dev/null "$hello"
tap_check "a file that is no topology ends the start" test "$status" != 0
tap_done
