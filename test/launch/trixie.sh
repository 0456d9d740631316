#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The launchers of Debian 13, in a root of its own, with the binaries built here: Slurm 24 with PMIx 5, Open MPI 5 with prterun,
# MPICH's hydra. Runs slurm.sh, ssh.sh, mpirun.sh and pmi.sh there. Needs root, debootstrap, mounts, and a Debian mirror unless
# WSH_TRIXIE_LAUNCH_ROOT names a root made before; for `make check-long` alone.
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

# tests SCRIPT SETTING…: each case of it is one here.
tests()
{
    script=$1
    shift
    in_root env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C \
        top_srcdir="$top_srcdir" top_builddir="$top_builddir" WSH_TEST_SLOW="${WSH_TEST_SLOW:-1}" "$@" \
        sh "$top_srcdir/test/run" "$top_srcdir/test/launch/$script.sh" >"$tap_dir/tap" 2>&1 </dev/null
    grep -q '^1\.\.' "$tap_dir/tap" || { cp "$tap_dir/tap" "$out"; tap_fail "Debian 13, $script" "it has no end"; return; }
    while IFS= read -r line; do
        case $line in
            'ok '*'# SKIP'*) tap_skip "Debian 13, $script: ${line#ok * - }" "${line##*# SKIP }" ;;
            'ok '*) tap_ok "Debian 13, $script: ${line#ok * - }" ;;
            'not ok '*) : >"$out"; : >"$err"; tap_fail "Debian 13, $script: ${line#not ok * - }" "see above" ;;
            '#'*) echo "$line" ;;
        esac
    done <"$tap_dir/tap"
}
tests slurm
tests ssh WSH_TEST_LONG=1 WSH_TEST_ROUNDS=3
tests mpirun
tests pmi
tap_done
