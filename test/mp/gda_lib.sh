# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by scripts whose jobs write into queues of emulated NICs: two hosts, a CUDA driver without a GPU, and the libfabric
# that WSH_LIBFABRIC names (path fakegda of test/run).
need_oshrun
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] || tap_skip_all "the emulator is not built (libibverbs-dev)"
need_plain "a preloaded library does not go with"
[ -f "$top_builddir/transports/nvlink/agent_image.lo" ] || tap_skip_all "built without nvcc: no device memory"
[ -e "${WSH_LIBFABRIC:-/none}/lib/libfabric.so.1" ] ||
    tap_skip_all "no libfabric of 2026-08 (emulator/tests/libfabric makes one, WSH_LIBFABRIC names it)"
LD_LIBRARY_PATH=$top_builddir/test/fake_cuda:$WSH_LIBFABRIC/lib:${LD_LIBRARY_PATH:-}
SHMEM_SYMMETRIC_SIZE=16M SHMEM_DEVICE_SYMMETRIC_SIZE=16M EFA_EMULATOR_QUIET=1 SHMEM_NICS_PER_PE=1 SHMEM_HMEM=on SHMEM_GDA=on
export LD_LIBRARY_PATH SHMEM_SYMMETRIC_SIZE SHMEM_DEVICE_SYMMETRIC_SIZE EFA_EMULATOR_QUIET SHMEM_NICS_PER_PE SHMEM_HMEM SHMEM_GDA

# gda_job LIMIT PROFILE PROGRAM ARGS…: two PEs on two hosts.
gda_job()
{
    limit=$1 profile=$2
    shift 2
    run_job "$limit" "$oshrun" "--emulate-efa=$profile" --nodes-emulated 2 -n 2 "$@"
}
