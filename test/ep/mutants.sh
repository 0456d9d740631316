#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Low latency between hosts where a PE does not wait for what other hosts have for it: rows are overwritten that others
# still read, and the test that makes such calls sees it.
# timeout: 60
set -u
. "${top_srcdir:-.}/test/common/tap.sh"

SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp WSH_TEST_PATH=tcp SHMEM_HANG_SECONDS=2
export SHMEM_TRANSPORTS SHMEM_LIBFABRIC_PROVIDER WSH_TEST_PATH SHMEM_HANG_SECONDS
run_job 20 "$oshrun" -n 3 "$(test_program test/ep/run_ahead)" mutant
tap_comment "$out"
tap_check "a PE that runs ahead of other hosts is noticed" test "$status" != 0
tap_done
