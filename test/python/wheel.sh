#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The wheel: what is in it, and that it works alone in a fresh environment without compilers.
# timeout: 200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/python/lib.sh"
need_oshrun

export top_srcdir top_builddir
run_pytest none 1 test_wheel.py
tap_done
