#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package's tests on several PEs, started by oshrun.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/python/lib.sh"

need_oshrun
for pes in 2 4; do
    run_pytest oshrun $pes $pes_files
done
tap_done
