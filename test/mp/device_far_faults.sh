#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Device memory of other hosts when something is wrong: without the transport that reaches it, a put there is refused in
# one line; where the host heap has no room for that transport, nobody gets device memory, until there is room; the hang
# reporter names who is waited for; a PE that dies ends the job.
# timeout: 200
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
fault=$(test_program test/mp/helper/device_far_fault)
[ -f "$top_builddir/transports/nvlink/agent_image.lo" ] || tap_skip_all "built without nvcc: no device memory"
LD_LIBRARY_PATH=$top_builddir/test/fake_cuda:${LD_LIBRARY_PATH:-}
SHMEM_DEVICE_SYMMETRIC_SIZE=16M SHMEM_LIBFABRIC_PROVIDER=tcp
export LD_LIBRARY_PATH SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_LIBFABRIC_PROVIDER

SHMEM_TRANSPORTS=local,nvlink,efa
export SHMEM_TRANSPORTS
run_job 60 "$oshrun" --nodes-emulated 2 -n 2 "$fault" put
tap_check "without staging: refused" test "$status" = 1
tap_check "without staging: one line" test "$(grep -c 'PE 0 .*PE 1 is on another host: list stage in SHMEM_TRANSPORTS' "$err")" = 1
SHMEM_TRANSPORTS=local,nvlink,efa,relay
run_job 60 "$oshrun" --nodes-emulated 2 -n 2 "$fault" put
tap_check "relay, the former name, is accepted" test "$status" = 0
unset SHMEM_TRANSPORTS

run_job 60 "$oshrun" --nodes-emulated 2 -n 2 "$fault" full
tap_check "no room in the heap: nobody gets device memory, then all do" sh -c "[ $status = 0 ] &&
    [ \$(grep -c 'without room: NULL' '$out') = 2 ] && [ \$(grep -c 'with room: memory' '$out') = 2 ]"
tap_check "no room in the heap: each says so" test "$(grep -c 'no .* KiB of the symmetric heap' "$err")" = 2

SHMEM_HANG_SECONDS=1
export SHMEM_HANG_SECONDS
run_job 60 "$oshrun" --nodes-emulated 2 -n 2 "$fault" stopped
tap_check "a PE that stands still: it goes on when that does" test "$status" = 0
tap_check "a PE that stands still: the hang reporter names it" grep -q 'PE 0 .*has waited .*PE 1.*stage\|PE 0 .*has waited .*stage.*PE 1' "$err"
tap_comment "$err"
SHMEM_HANG_SECONDS=20

run_job 60 "$oshrun" --nodes-emulated 2 -n 2 "$fault" killed
tap_check "a PE that dies ends the job" sh -c "[ $status != 0 ] && [ $status != 124 ] && ! grep -q 'the end' '$out'"
tap_done
