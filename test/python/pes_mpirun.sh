#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A part of the Python package's tests, started by mpirun: two PEs, and with WSH_TEST_LONG=1 four as well.
# timeout: 200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/python/lib.sh"
command -v mpirun >/dev/null || tap_skip_all "no mpirun (apt-get install openmpi-bin)"

run_pytest mpirun 2 test_pes_rma.py test_pes_collectives.py
if tap_long "4 PEs"; then run_pytest mpirun 4 test_pes_rma.py test_pes_collectives.py; fi
tap_done
