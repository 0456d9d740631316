#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The wheels: what is in them, that they work alone in a fresh environment without compilers, and beside others.
# timeout: 400
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/python/lib.sh"
need_oshrun

export top_srcdir top_builddir
WSH_PY_LIMIT=300 run_pytest none 1 test_wheel.py test_front.py
tap_done
