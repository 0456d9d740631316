#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Memory of a GPU that no CPU may touch, over the emulated device: that of the fake GPU, which only its streams read and
# write. What programs do is right where the device itself reads and writes. A provider whose CPU does so in its place
# is refused with the reason (a skip): the process died in whichever thread of the library polled.
# timeout: 600
. "${top_srcdir:-.}/test/common/tap.sh"
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] || tap_skip_all "the emulator is not built (libibverbs-dev)"
[ -f "$top_builddir/transports/nvlink/agent_image.lo" ] || tap_skip_all "built without nvcc: no device memory"
need_plain "a preloaded library does not go with"
LD_LIBRARY_PATH=$top_builddir/test/fake_cuda:$top_builddir/test/fake_hmem:$LD_LIBRARY_PATH
export LD_LIBRARY_PATH
export FAKE_HMEM=gpu SHMEM_HMEM=on SHMEM_NICS_PER_PE=1 EFA_EMULATOR_QUIET=1
export SHMEM_SYMMETRIC_SIZE=64M SHMEM_DEVICE_SYMMETRIC_SIZE=64M WSH_TEST_PATH=fakehmemefa

# over PROFILE PROGRAM: two PEs
over()
{
    run_job 150 "$oshrun" "--emulate-efa=$1" --nodes-emulated 2 -n 2 "$(test_program "test/mp/$2")"
}

over p4d device_far
tap_check "a device that does not write: skipped with the reason" \
    sh -c "[ $status = 77 ] && grep -q 'skip: libfabric .* copies by the CPU' '$err'"
for program in device_far device_paths device_proxy; do
    over p5 "$program"
    if [ "$status" = 77 ]; then
        tap_skip "$program" "$(sed -n 's/.*skip: //p' "$err" | head -n 1)"
    else
        tap_check "$program" test "$status" = 0
    fi
done
tap_done
