#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package's tests on several PEs, started as torchrun would, which connect by a unique id.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/python/lib.sh"

for pes in 2 4; do
    run_pytest uid $pes $pes_files
done
tap_done
