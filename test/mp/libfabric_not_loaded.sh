#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A job whose PEs share one host neither loads nor opens libfabric; one that needs it does.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
maps=$(test_program test/mp/helper/maps)

run_job 20 "$oshrun" -n 4 "$maps"
if [ "$status" != 0 ]; then tap_fail "4 PEs on one host" "the job failed"
elif grep libfabric "$out"; then tap_fail "4 PEs on one host" "libfabric is loaded"
elif ! grep -q libc "$out"; then tap_fail "4 PEs on one host" "no maps were printed"
else tap_ok "4 PEs on one host do not load libfabric"
fi
run_job 20 "$maps"
if [ "$status" = 0 ] && ! grep -q libfabric "$out"; then tap_ok "one PE without launcher does not load libfabric"
else tap_fail "one PE without launcher" "libfabric is loaded, or the job failed"
fi
run_job 30 env SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" --nodes-emulated 2 -n 2 "$maps"
if [ "$status" = 0 ] && grep -q libfabric "$out"; then tap_ok "two emulated hosts load it"
else tap_fail "two emulated hosts load it" "the job failed or went another way"
fi
tap_done
