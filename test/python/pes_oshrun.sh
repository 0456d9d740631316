#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package's tests on several PEs, started by oshrun: four, and with WSH_TEST_LONG=1 two as well.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/python/lib.sh"

need_oshrun
run_pytest oshrun 4 $pes_files
if tap_long "2 PEs"; then run_pytest oshrun 2 $pes_files; fi
tap_done
