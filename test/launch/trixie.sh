#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The launchers of Debian 13, in a root of its own, with the binaries built here: Slurm 24 with PMIx 5, Open MPI 5 with prterun,
# MPICH's hydra. Runs slurm.sh, ssh.sh, mpirun.sh, pmi.sh and tests of oshrun there. Needs root, debootstrap, mounts, and a
# Debian mirror unless WSH_TRIXIE_LAUNCH_ROOT names a root made before; for `make check-long` alone.
# timeout: 3600
# shellcheck disable=SC2034,SC2154
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
top_srcdir=$(cd "$top_srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
suite=trixie
packages="gcc iproute2 libc6-dev libfabric1 libhwloc15 libpmix2t64 mpich munge openmpi-bin openssh-client openssh-server procps"
packages="$packages python3-minimal slurm-wlm"
root=${WSH_TRIXIE_LAUNCH_ROOT:-$tap_dir/root}
log=$tap_dir/log

skip()
{
    tap_skip_all "$*"
}

. "$top_srcdir/emulator/tests/root.sh"
[ "${WSH_TEST_LONG:-0}" = 1 ] || skip "takes 10 minutes (make check-long)"
[ "$(id -u)" = 0 ] || skip "needs root"
need_oshrun
for name in course ends fence uid; do test_program test/launch/helper/$name >/dev/null; done
trap 'rm -rf --one-file-system "$tap_dir"' EXIT
chmod 755 "$tap_dir"
make_root
install_packages
in_root true 2>"$log" || skip "no mounts here: $(tail -n 1 "$log")"
in_root sh -c 'dpkg-query -W slurm-wlm openmpi-bin mpich libpmix2t64 libfabric1' | tap_comment

for script in slurm mpirun pmi exit_status killed_oshrun descriptors; do
    root_tests "Debian 13" test/launch/$script.sh
done
root_tests "Debian 13" test/launch/ssh.sh WSH_TEST_LONG=1 WSH_TEST_ROUNDS=3
tap_done
