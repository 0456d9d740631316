#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The RPM packages' spec has this version and is understood by rpmspec; in the long form rpmbuild makes the packages of
# `make dist`, which takes every file that is installed, and runs the README's program. What they need of other packages
# is not looked at: no Debian has those names.
# timeout: 3000
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
spec=$top_srcdir/packaging/rpm/warpshmem.spec
version=$(cat "$top_srcdir/VERSION")
: >"$out"
tap_check "the spec is of version $version" grep -qx "Version: *$version" "$spec"
command -v rpmspec >/dev/null || { tap_skip "rpmspec takes the spec" "no rpmspec (apt-get install rpm)"; tap_done; }
run_job 60 rpmspec -P "$spec"
tap_check "rpmspec takes the spec" test "$status" = 0
tap_long "rpmbuild makes the packages" || tap_done

run_job 600 make -s -C "$top_builddir" dist
tap_check "make dist" test "$status" = 0
mkdir -p "$tap_dir/rpm"
run_job 2400 rpmbuild -ta --nodeps --define "_topdir $tap_dir/rpm" --define "_smp_mflags -j$(nproc)" \
    --define 'debug_package %{nil}' "$top_builddir/warpshmem-$version.tar.xz"
tail -n 30 "$err" >"$err.tail" && mv "$err.tail" "$err"
grep 'PE [0-9] of 2' "$out" | tap_comment
tail -n 30 "$out" >"$out.tail" && mv "$out.tail" "$out"
tap_check "rpmbuild makes the packages" test "$status" = 0
find "$tap_dir/rpm" -name '*.rpm' | sed 's|.*/||' | sort >"$out"
tap_comment "$out"
tap_check "a source package and five of binaries" test "$(wc -l <"$out")" = 6
tap_done
