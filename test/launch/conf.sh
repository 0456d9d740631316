#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Settings come from files: of the site, of the user, and the one that is named. The library, oshrun, warpshmem-info and
# Python read the same, and a file that others can write ends each of them with one line.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"
info=$(test_program warpshmem-info)
chmod 755 "$tap_dir"
named=$tap_dir/named.conf
mkdir -p "$tap_dir/home/.config" "$tap_dir/etc"
home=$tap_dir/home/.config/warpshmem.conf
HOME=$tap_dir/home
export HOME
unset WARPSHMEM_CONF SHMEM_SYMMETRIC_SIZE SHMEM_HANG_SECONDS
printf '# of this test\nSHMEM_SYMMETRIC_SIZE=5M\nSHMEM_INFO=1\n' >"$named"
printf 'SHMEM_SYMMETRIC_SIZE=6M\nSHMEM_HANG_SECONDS=31\n' >"$home"
printf 'SHMEM_SYMMETRIC_SIZE=7M\nSHMEM_HANG_SECONDS=32\nSHMEM_SPIN_US=33\n' >"$tap_dir/etc/warpshmem.conf"

# shows ORIGIN VALUE SETTING [VARIABLE=value…]: what warpshmem-info says of it.
shows()
{
    wanted=$1 value=$2 setting=$3
    shift 3
    run_job 10 env "$@" "$info"
    tap_check "$setting is $value, set by ${wanted##*/}" grep -qxE "$setting +$value +(set by )?$wanted" "$out"
}

# etc COMMAND…: with /etc/warpshmem.conf, in a mount name space.
etc()
{
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount --make-rprivate / && mount --bind "$0" /etc && exec "$@"' "$tap_dir/etc" "$@"
}

shows SHMEM_SYMMETRIC_SIZE 4M SHMEM_SYMMETRIC_SIZE SHMEM_SYMMETRIC_SIZE=4M "WARPSHMEM_CONF=$named"
shows "$named:2" 5M SHMEM_SYMMETRIC_SIZE "WARPSHMEM_CONF=$named"
shows "$home:1" 6M SHMEM_SYMMETRIC_SIZE
shows default 1G SHMEM_SYMMETRIC_SIZE WARPSHMEM_CONF=none
if [ "$(id -u)" = 0 ] && etc true 2>/dev/null; then
    run_job 10 unshare -m sh -c 'mount --make-rprivate / && mount --bind "$0" /etc && exec "$@"' "$tap_dir/etc" env "WARPSHMEM_CONF=$named" "$info"
    tap_check "each setting from the first file that has it" test \
        "$(grep -cxE "SHMEM_SYMMETRIC_SIZE +5M +set by $named:2|SHMEM_HANG_SECONDS +31 +set by $home:2|SHMEM_SPIN_US +33 +set by /etc/warpshmem.conf:3" "$out")" = 3
else
    tap_skip "/etc/warpshmem.conf" "no mount name space can be made here"
fi

export WARPSHMEM_CONF="$named"
run_job 20 "$oshrun" -n 2 "$course" hello
tap_check "the library reads them, and PE 0 prints them" test "$status:$(grep -cE "^SHMEM_SYMMETRIC_SIZE +5M +set by $named:2" "$out")" = 0:1
run_job 20 "$course" hello
tap_check "… without a launcher too" test "$status:$(grep -cE "^SHMEM_SYMMETRIC_SIZE +5M +set by $named:2" "$out")" = 0:1
printf 'SHMEM_ON_PE_FAILURE=continue\nSHMEM_SYMMETRIC_SIZE=4M\n' >"$named"
run_job 40 "$oshrun" -n 4 "$(test_program test/launch/helper/survive)" kill 0 barrier
tap_check "oshrun reads them" test "$status:$(grep -c 'the others go on' "$err")" = 0:1
printf 'SHMEM_SYMETRIC_SIZE=4M\nFI_PROVIDER=tcp\n' >"$named"
run_job 20 "$oshrun" -n 2 "$course" hello
tap_check "names that are none: a line each" test "$status:$(grep -cE "PE 0 .*warning: $named:(1: SHMEM_SYMETRIC_SIZE is no setting .* is it SHMEM_SYMMETRIC_SIZE[?]|2: FI_PROVIDER is no setting)" "$err"):$(wc -l <"$err")" = 0:2:2
run_job 10 "$info" --check
tap_check "… which --check has too" grep -qE "^misspelt +note +$named:1: SHMEM_SYMETRIC_SIZE" "$out"
printf 'SHMEM_SYMMETRIC_SIZE=much\n' >"$named"
run_job 20 "$course" hello
tap_check "a value that is none: one line" test "$status:$(grep -c "$named:1: SHMEM_SYMMETRIC_SIZE='much' is not valid" "$err"):$(wc -l <"$err")" = 1:1:1

chmod 666 "$named"
for who in "$oshrun -n 2 $course hello" "$course hello" "$info" "$info --check"; do
    # shellcheck disable=SC2086
    run_job 20 $who
    tap_check "others can write it: $(basename "${who%% *}")" sh -c "[ $status != 0 ] && [ \$(wc -l <'$err') = 1 ] && grep -q 'named.conf: others can write it (mode 0666); chmod go-w it' '$err'"
done
chmod 600 "$named"

printf 'SHMEM_BOOTSTRAP_UID_SECONDS=7\nSHMEM_DEBUG=trace,"x\n' >"$named"
run_job 10 "$info" --json --check --topo --settings --collectives --estimate n_pes=64
if command -v python3 >/dev/null; then
    tap_check "--json" python3 -c "
import json, sys
all = json.load(open('$out'))
of = {row['name']: row for row in all['setting']}
assert of['SHMEM_DEBUG']['value'] == 'trace,\"x' and of['SHMEM_DEBUG']['origin'] == '$named:2', of['SHMEM_DEBUG']
assert of['SHMEM_STRICT']['valid'] is True and of['SHMEM_STRICT']['default'] == '0'
assert all['machine'][0]['cores'] > 0 and {'ok', 'note'} & {row['status'] for row in all['check']}
assert all['warpshmem'][0]['commit'] and all['collective'] and all['estimate'][0]['bytes'] > 0
"
    python=python3
    $python -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
    if [ "${WSH_TEST_VARIANT:-clang}" = clang ] && $python -c 'import numpy' 2>/dev/null; then
        run_job 20 env PYTHONPATH="$top_srcdir/python" PYTHONDONTWRITEBYTECODE=1 WARPSHMEM_LIBRARY_DIR="$top_builddir/.libs" \
            $python -c 'import warpshmem; from warpshmem import stores, _lib; print(stores._seconds(), _lib.setting("SHMEM_STRICT") == "")'
        tap_check "Python reads them" test "$(cat "$out")" = "7.0 True"
    fi
else
    tap_skip "--json" "no python3"
fi
run_job 10 "$info" --version
tap_check "--version: commit, compiler, options" test "$(grep -cE '^warpshmem [0-9.]+.*, OpenSHMEM 1|^  (commit|compiler|configure|GPU code) +[^ ]' "$out")" = 5
run_job 10 "$info"
tap_check "a line a setting" sh -c "[ \$(grep -cE '^SHMEM_STRICT +0 +default$' '$out') = 1 ] && ! grep -qv '^SHMEM_' '$out'"
run_job 10 "$info" -v
tap_check "… and with -v what it means" grep -q '^    BOOL: make every fallback to something slower an error' "$out"
tap_done
