#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Python programs as processes: start by a unique id through each store, fork, multiprocessing, Ctrl-C, ends.
# timeout: 400
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/python/lib.sh"
need_oshrun

WSH_PY_LIMIT=300 run_pytest none 1 test_process.py test_quick_process.py test_strangers.py
tap_done
