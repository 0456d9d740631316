#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PMIx 7, as oshrun's server and at PEs, in a root of Debian forky: with the binaries built here, whose PMIx may be another,
# and with those built there. Starts, ends, kills, strangers, open files, a start by a unique id; and where the PMIx of
# oshrun is 7 and that of its PEs the one here, and the reverse. Needs root, debootstrap, mounts, and a Debian mirror unless
# WSH_FORKY_LAUNCH_ROOT names a root made before; for `make check-long` alone.
# timeout: 3600
# shellcheck disable=SC2034,SC2154
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
top_srcdir=$(cd "$top_srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
suite=forky
packages="gcc iproute2 libc6-dev libfabric-dev libhwloc-dev libpmix-dev make pkgconf procps python3-minimal util-linux"
root=${WSH_FORKY_LAUNCH_ROOT:-$tap_dir/root}
log=$tap_dir/log
there=$tap_dir/there
scripts="exit_status killed_oshrun ends signals absent failed_barrier descriptors stranger_pmix uid_start"
programs="test/mp/hello test/mp/init_finalize_many"
helpers="course ends fence intruder uid"

skip()
{
    tap_skip_all "$*"
}

. "$top_srcdir/emulator/tests/root.sh"
[ "${WSH_TEST_LONG:-0}" = 1 ] || skip "takes 10 minutes (make check-long)"
[ "$(id -u)" = 0 ] || skip "needs root"
need_oshrun
for name in $helpers; do test_program test/launch/helper/$name >/dev/null; done
trap 'rm -rf --one-file-system "$tap_dir"' EXIT
chmod 755 "$tap_dir"
make_root
install_packages
in_root true 2>"$log" || skip "no mounts here: $(tail -n 1 "$log")"
in_root sh -c 'dpkg-query -W libpmix2t64 libfabric1 libc6 gcc' | tap_comment

# all LABEL
all()
{
    for program in $programs; do
        root_tests "$1" $program WSH_TEST_PATHS="local tcp mixed single"
    done
    for script in $scripts; do
        root_tests "$1" test/launch/$script.sh
    done
}

# build: in $top_builddir, with the PMIx of the root.
build()
{
    mkdir -p "$top_builddir/tmp"
    # shellcheck disable=SC2016,SC2046,SC2086
    in_root sh -c 'cd "$1" && "$2/configure" -q --with-cuda=no && shift 2 && make -s -j2 "$@"' sh "$top_builddir" "$top_srcdir" \
        oshrun libwarpshmem.la $programs $(printf 'test/launch/helper/%s ' $helpers) >"$log" 2>&1 </dev/null
    status=$?
    tail -n 40 "$log" >"$out"
    : >"$err"
    tap_check "it is built there" test $status = 0
    ! grep 'warning:' "$log" >"$out" || tap_fail "without a warning" "see above"
    return $status
}

# mixed NAME COMMAND…: jobs by that oshrun and PEs behind those words, where both sides see the folder $top_builddir.
mixed()
{
    name=$1
    shift
    for case in "hello 0" "again 5 0" "global 5 5"; do
        # shellcheck disable=SC2086
        TMPDIR=$top_builddir/tmp run_job 60 "$@" "$course" ${case% *}
        tap_check "$name: ${case% *}" test "$status" = "${case##* }" -a -z "$(ls "$top_builddir/tmp")"
    done
}

all "Debian forky"
here=$(cd "$top_builddir" && pwd)
top_builddir=$there
if build; then
    all "built there"
    cat >"$tap_dir/inside" <<END
top_srcdir='$top_srcdir' top_builddir='$top_builddir' root='$root'
. '$top_srcdir/emulator/tests/root.sh'
in_root "\$@"
END
    course=$there/test/launch/helper/course
    mixed "oshrun here, PEs with PMIx 7" "$here/oshrun" -n 4 sh "$tap_dir/inside"
    course=$here/test/launch/helper/course
    # The root of this shell is the one outside.
    mixed "oshrun with PMIx 7, PEs here" sh "$tap_dir/inside" env TMPDIR="$there/tmp" "$there/oshrun" -n 4 chroot "/proc/$$/root"
fi
tap_done
