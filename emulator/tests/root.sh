# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2154
# Sourced by what runs tests in the root of another Debian, with the binaries built here. Reads $top_srcdir,
# $top_builddir, $suite, $packages, $root (the folder), $log, and a function `skip`, which ends the script.

# The tests inside get a mount table of their own, which goes with them however they end. /proc/kallsyms, which libfabric
# reads in each process for 0.085 s, is empty there.
in_root()
{
    # shellcheck disable=SC2016
    unshare --mount --propagation private -- sh -c '
        root=$1 source=$2 build=$3
        shift 3
        unset TMPDIR # a folder of the machine outside
        mkdir -p "$root/proc" "$root/sys" "$root/dev" "$root$source" "$root$build" &&
        mount --bind "$root" "$root" &&
        mount -t proc proc "$root/proc" && { mount --bind /dev/null "$root/proc/kallsyms" || :; } && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" &&
        mount --bind "$source" "$root$source" && mount -o remount,bind,ro "$root$source" &&
        mount --bind "$build" "$root$build" && exec chroot "$root" "$@"' sh "$root" "$top_srcdir" "$top_builddir" "$@"
}

# The transport's contract, and every program of several PEs that can run over a network, as named in the build folder.
network_programs()
{
    echo test/contract/over_efa
    echo test/contract/over_rails
    for program in "$top_srcdir"/test/mp/*.c "$top_srcdir"/test/ep/*.c; do
        program=${program#"$top_srcdir"/}
        ! grep -q '^ \* paths:.*tcp:' "$top_srcdir/$program" || echo "${program%.c}"
    done
}

make_root()
{
    [ ! -x "$root/bin/sh" ] || return 0
    command -v debootstrap >/dev/null || skip "no debootstrap (apt-get install debootstrap), and no root made before"
    rm -rf --one-file-system "$root.part"
    # Older than the suite, debootstrap has no script for it; all of them are that of sid.
    script=/usr/share/debootstrap/scripts/$suite
    [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
    debootstrap --variant=minbase "$suite" "$root.part" "" "$script" >"$log" 2>&1 || skip "debootstrap: $(tail -n 1 "$log")"
    mv "$root.part" "$root"
}

# Suites that are not released yet have indexes that expire within days; a mirror, or this clock, may be off by more.
install_packages()
{
    # shellcheck disable=SC2086
    chroot "$root" dpkg -s $packages >/dev/null 2>&1 && return
    cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
    # shellcheck disable=SC2086
    in_root env DEBIAN_FRONTEND=noninteractive sh -c "apt-get -qq -o Acquire::Retries=3 -o Acquire::Check-Valid-Until=false update &&
        apt-get -qq -y -o Acquire::Retries=3 -o Dpkg::Options::=--force-unsafe-io --no-install-recommends install $packages" >"$log" 2>&1 </dev/null ||
        skip "apt-get in the root: $(grep -A 1 "^dpkg: error\|^E: " "$log" | grep -v "Can not write log" | head -n 3 | tr "\n" " ")"
}

# root_tests LABEL TEST SETTING…: runs test/launch/NAME.sh or a program there; each case of it is one here.
root_tests()
{
    label="$1, $(basename "$2" .sh)" test_path=$top_srcdir/$2
    [ -f "$test_path" ] || test_path=$top_builddir/$2
    shift 2
    in_root env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C \
        top_srcdir="$top_srcdir" top_builddir="$top_builddir" WSH_TEST_SLOW="${WSH_TEST_SLOW:-1}" "$@" \
        sh "$top_srcdir/test/run" "$test_path" >"$tap_dir/tap" 2>&1 </dev/null
    grep -q '^1\.\.' "$tap_dir/tap" || { cp "$tap_dir/tap" "$out"; tap_fail "$label" "it has no end"; return; }
    while IFS= read -r line; do
        case $line in
            'ok '*'# SKIP'*) tap_skip "$label: ${line#ok * - }" "${line##*# SKIP }" ;;
            'ok '*) tap_ok "$label: ${line#ok * - }" ;;
            'not ok '*) : >"$out"; : >"$err"; tap_fail "$label: ${line#not ok * - }" "see above" ;;
            '#'*) echo "$line" ;;
        esac
    done <"$tap_dir/tap"
}
