#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package's tests on several PEs, started as torchrun would, which connect by a unique id:
# two, and with WSH_TEST_LONG=1 four as well; by ctypes a part, or all.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/python/lib.sh"

run_pytest uid 2 $pes_files
by_ctypes="test_pes_rma.py test_pes_atomics.py test_pes_requests.py test_pes_errors.py"
if tap_long "4 PEs, and all by ctypes"; then
    by_ctypes=$pes_files
    run_pytest uid 4 $pes_files
fi
[ "${WARPSHMEM_PYTHON_CALLS:-}" != extension ] || WARPSHMEM_PYTHON_CALLS=ctypes run_pytest uid 2 $by_ctypes
tap_done
