#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The emulated NICs of a machine sit at the PCI addresses, and have the device numbers, that its topology XML names.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
table=$top_srcdir/emulator/nic_defs.h

# agree PROFILE TOPOLOGY
agree()
{
    sed -n "s/^EMU_NIC($1, 0x\([0-9a-f]*\), 0x\([0-9a-f]*\)).*/0000:\1:\2.0/p" "$table" | sort >"$tap_dir/table"
    grep -oE 'pci_busid="[^"]*"[^>]*\[1d0f:efa[0-9]\]' "$top_srcdir/test/topo/$2.xml" |
        sed 's/pci_busid="\([^"]*\)".*/\1/' | sort >"$tap_dir/topology"
    diff "$tap_dir/table" "$tap_dir/topology" >"$out" 2>&1
    status=$?
    if [ $status = 0 ] && [ -s "$tap_dir/table" ]; then tap_ok "$1: $(wc -l <"$tap_dir/table") addresses of $2.xml"
    else tap_fail "$1 and $2.xml" "they differ"; fi
}

agree p4d p4d
agree p5 p5
agree p5en p5en
agree p6 p6-b200
tap_done
