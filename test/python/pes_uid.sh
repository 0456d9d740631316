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
[ "${WARPSHMEM_PYTHON_CALLS:-}" != extension ] || WARPSHMEM_PYTHON_CALLS=ctypes run_pytest uid 2 $pes_files
tap_done
