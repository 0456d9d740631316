#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Output that a full disk cannot take comes out of oshrun after one line, nothing of it is lost, and the exit status is not 0.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

# all_there FILES…: PE 0's 300 lines are in the files and oshrun's output together, each once and whole.
all_there()
{
    cat "$@" "$out" | tr -d '\n' | wc -c >"$tap_dir/bytes"
    [ "$(cat "$tap_dir/bytes")" = 300000 ] && [ "$(cat "$@" "$out" | wc -l)" = 300 ]
}

# one_line TEXT
one_line()
{
    [ "$(grep -c '^oshrun: ' "$err")" = 1 ] && grep -q "^oshrun: .*$1.*comes here from now on" "$err"
}

# says_so NAME TEXT STATUS FILES…
says_so()
{
    name=$1
    text=$2
    wanted=$3
    shift 3
    tap_check "$name: exit status $wanted" test "$status" = "$wanted"
    tap_check "$name: one line" one_line "$text"
    tap_check "$name: nothing is lost" all_there "$@"
}

# What is full from the start.
ln -s /dev/full "$tap_dir/full.0.out"
run_job 60 "$oshrun" --output-filename "$tap_dir/full" -n 1 "$course" lines 300
says_so "a full device" "full.0.out': No space left on device" 1
run_job 60 "$oshrun" --output-filename "$tap_dir/full" -n 1 sh -c 'echo out; echo err >&2; exit 3'
tap_check "the program's own status" test "$status" = 3
tap_check "standard error goes to its file" test "$(cat "$tap_dir/full.0.err")" = err -a "$(cat "$out")" = out
ln -s /dev/full "$tap_dir/full.1.out"
ln -s /dev/full "$tap_dir/full.2.out"
run_job 60 "$oshrun" --output-filename "$tap_dir/full" --tag-output -n 4 "$course" lines 50
tap_check "several files: one line" one_line "full.[012].out': No space left on device"
tap_check "several files: nothing is lost" test "$(grep -cxE '\[0\] a{1000}|\[1\] b{1000}|\[2\] c{1000}' "$out")" = 150
tap_check "the others write theirs" test "$(wc -l <"$tap_dir/full.3.out")" = 50

# What becomes full: a limit on the size of files, which the program, whose output is a pipe, does not meet.
# shellcheck disable=SC2016
run_job 60 sh -c '{ (ulimit -f 64; exec "$@"); echo $? >"$0"; } | cat' "$tap_dir/rc" \
    "$oshrun" --output-filename "$tap_dir/limit" -n 1 seq -f '%01000.0f' 300
status=$(cat "$tap_dir/rc")
says_so "ulimit -f" "limit.0.out': File too large" 1 "$tap_dir/limit.0.out"
tap_check "ulimit -f: the file is filled" test -s "$tap_dir/limit.0.out"

# A disk of 64 KiB, in mounts of our own.
mkdir "$tap_dir/disk"
if unshare -rm mount -t tmpfs -o size=64k none "$tap_dir/disk" 2>/dev/null; then
    # shellcheck disable=SC2016
    run_job 60 unshare -rm sh -c 'disk=$1; shift; mount -t tmpfs -o size=64k none "$disk" || exit 99
        "$@"; rc=$?; cp "$disk"/d.0.out "$disk"/../copy; exit $rc' \
        sh "$tap_dir/disk" "$oshrun" --output-filename "$tap_dir/disk/d" -n 1 "$course" lines 300
    says_so "a disk of 64 KiB" "d.0.out': No space left on device" 1 "$tap_dir/copy"
    tap_check "a disk of 64 KiB: the file is filled" test "$(wc -c <"$tap_dir/copy")" -gt 50000
else
    tap_skip "a disk of 64 KiB" "no mount namespace of our own: unshare -rm is refused"
fi

# Our own output is full.
timeout 60 "$oshrun" -n 1 printf x >/dev/full 2>"$err"
status=$?
tap_check "standard output full" test "$status" = 1
tap_check "standard output full: one line" grep -q '^oshrun: cannot write output: No space left on device' "$err"
tap_done
