#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A part of the Python package's tests, started by mpirun.
# timeout: 200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/python/lib.sh"
command -v mpirun >/dev/null || tap_skip_all "no mpirun (apt-get install openmpi-bin)"

for pes in 2 4; do run_pytest mpirun $pes test_pes_rma.py test_pes_collectives.py; done
tap_done
