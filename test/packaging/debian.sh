#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's packages: they build in a clean root that has what debian/control names and no network, lintian finds no error,
# they install in another clean root beside Open MPI, the README's programs build there by pkg-config, CMake and the wrapper,
# and run; removed, they leave nothing. Needs root, debootstrap, mounts and a Debian mirror; for `make check-long` alone.
# WSH_DEBIAN_SUITE chooses the suite (bookworm); WSH_DEBIAN_ROOTS names a folder that keeps the roots, for the next run;
# WSH_DEBS one that keeps the packages.
# timeout: 3600
# shellcheck disable=SC2034,SC2086,SC2154
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
top_srcdir=$(cd "$top_srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
suite=${WSH_DEBIAN_SUITE:-bookworm}
roots=${WSH_DEBIAN_ROOTS:-$tap_dir}
root=$roots/$suite
log=$tap_dir/log

skip()
{
    tap_skip_all "$*"
}

. "$top_srcdir/emulator/tests/root.sh"
[ "${WSH_TEST_LONG:-0}" = 1 ] || skip "takes 10 minutes (make check-long)"
[ "$(id -u)" = 0 ] || skip "needs root"
trap 'rm -rf --one-file-system "$tap_dir"' EXIT
chmod 755 "$tap_dir"
make_root
cp -a "$root" "$tap_dir/users"
[ -d "$root.build" ] || cp -a "$root" "$root.build"
root=$root.build

# The source as an archive has it: nothing that is built, nothing of git.
source_copy()
{
    rm -rf --one-file-system "$root/src"
    mkdir -p "$root/src/warpshmem"
    (cd "$top_srcdir" && tar --exclude='./build*' --exclude='./check-*' --exclude=./.git --exclude=./configure --exclude=Makefile.in \
        --exclude=./m4 --exclude=./build-aux --exclude=./aclocal.m4 --exclude=./autom4te.cache -cf - .) |
        tar -C "$root/src/warpshmem" -xf -
}

# A program that runs a command in a root, for run_job: [--no-network] COMMAND…
cat >"$tap_dir/in_root" <<'END'
if [ "$1" = --no-network ]; then
    shift
    exec unshare --net -- sh -c 'ip link set lo up; exec sh "$0" "$@"' "$0" "$@"
fi
. "$top_srcdir/emulator/tests/root.sh"
in_root "$@"
END
export root top_srcdir top_builddir
inside="sh $tap_dir/in_root"

# --- Built, and looked at ---
source_copy
packages="build-essential debhelper lintian $(sed -n '/^Build-Depends:/,/^[^ ]/{s/^ \([a-z0-9-]*\).*/\1/p;}' "$top_srcdir/debian/control" | grep -v compat | tr '\n' ' ')"
install_packages
in_root true 2>"$log" || skip "no mounts here: $(tail -n 1 "$log")"
run_job 2400 $inside --no-network sh -c "cd /src/warpshmem && DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage -us -uc"
cp "$out" "$tap_dir/build.log"
grep -E 'rror|warning' "$tap_dir/build.log" | tail -n 30 | cut -c 1-300 >"$out"
tap_check "dpkg-buildpackage, without a network" test "$status" = 0
[ "$status" = 0 ] || tap_done
grep -E 'dpkg-(gensymbols|shlibdeps): warning' "$tap_dir/build.log" | tap_comment
run_job 1800 $inside sh -c 'cd /src && lintian --allow-root --fail-on error warpshmem_*.changes'
tap_check "lintian finds no error" test "$status" = 0
tap_comment "$out"
[ -z "${WSH_DEBS:-}" ] || cp "$root"/src/*.deb "$WSH_DEBS"

# --- Installed, beside Open MPI ---
mkdir "$tap_dir/users/debs"
cp "$root"/src/*[0-9]_*.deb "$tap_dir/users/debs"
rm -f "$tap_dir"/users/debs/*-dbgsym_*
rm -rf --one-file-system "$root/src"
root=$tap_dir/users
packages="gcc g++ make cmake pkg-config libopenmpi-dev openmpi-bin man-db"
install_packages
files_of_root() { (cd "$root" && find usr etc var/lib -xdev ! -path 'var/lib/apt/*' ! -path 'var/lib/dpkg/*' ! -path '*/man-db/*' | sort); }
files_of_root >"$tap_dir/before"
run_job 300 $inside env DEBIAN_FRONTEND=noninteractive sh -c 'apt-get -y --no-install-recommends install /debs/*.deb libfabric1 libhwloc15'
tap_check "the packages install beside Open MPI" test "$status" = 0
[ "$status" = 0 ] || tap_done
tap_check "Open MPI's wrapper stays" test "$(in_root readlink -f /usr/bin/oshcc)" != /usr/lib/warpshmem/bin/oshcc

mkdir "$root/try"
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$top_srcdir/README.md" >"$root/try/ring.c"
cat >"$root/try/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(ring C)
find_package(warpshmem REQUIRED COMPONENTS ep nvshmem)
add_executable(by_cmake ring.c)
target_link_libraries(by_cmake PRIVATE warpshmem::warpshmem)
add_executable(moe /usr/share/doc/warpshmem/examples/moe/moe.c)
target_link_libraries(moe PRIVATE warpshmem::ep m)
END
# try NAME COMMAND: in the root; the program `ring` or what NAME says comes of it.
try()
{
    run_job 120 $inside sh -c "cd /try && $2"
    tap_check "$1" test "$status" = 0
}
try "built by pkg-config" 'gcc ring.c $(pkg-config --cflags --libs warpshmem) -o by_pkg_config'
try "built by warpshmem-oshcc" 'warpshmem-oshcc -o by_wrapper ring.c'
try "built by oshcc of /usr/lib/warpshmem/bin" 'PATH=/usr/lib/warpshmem/bin:$PATH oshcc -o by_oshcc ring.c'
try "built by CMake" 'cmake -S . -B built && cmake --build built && cp built/by_cmake built/moe .'
for program in by_pkg_config by_wrapper by_oshcc by_cmake; do
    try "$program runs" "warpshmem-oshrun -n 4 ./$program"
    tap_check "$program: four lines" test "$(grep -c 'PE [0-3] of 4 got 10' "$out")" = 4
done
try "two emulated hosts" 'warpshmem-oshrun -n 4 --nodes-emulated 2 ./by_cmake'
try "the example of expert parallelism runs" 'warpshmem-oshrun -n 2 ./moe'
try "a performance test runs" 'warpshmem-oshrun -n 2 /usr/libexec/warpshmem/perftest/barrier'
try "warpshmem-info --check" 'warpshmem-info --check'
for page in 'warpshmem' 'warpshmem-oshrun' 'warpshmem-oshcc'; do
    try "man $page" "man -w $page"
done
try "man shmem_put with our PATH" 'PATH=/usr/lib/warpshmem/bin:$PATH man -w shmem_put | grep warpshmem'

cp -R "$top_srcdir/debian/tests" "$root/try"
try "Debian's own test, as autopkgtest runs it" 'sh tests/two-pes'

# --- Removed ---
run_job 300 $inside env DEBIAN_FRONTEND=noninteractive sh -c \
    'apt-get -y purge $(dpkg-query -W -f "\${Package} " "*warpshmem*") libfabric1 && apt-get -y autoremove'
tap_check "purged" test "$status" = 0
files_of_root | grep warpshmem >"$out"
tap_check "nothing stays" test ! -s "$out"
tap_done
