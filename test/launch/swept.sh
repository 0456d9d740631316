#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What oshrun leaves when it is killed together with its guardian, the next oshrun removes, and nothing else.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

# kill_all: a job of 2 PEs, of which nobody can clean up; $folder is what it leaves.
kill_all()
{
    start_job 2 -n 2 "$course" wait
    pes=$(pgrep -P "$job" -f "$course wait" | while read -r pid; do
        if grep -qz '^PMIX_RANK=' "/proc/$pid/environ"; then echo "$pid"; fi
    done)
    kill -STOP "$job"
    # shellcheck disable=SC2046
    kill -9 $(pgrep -P "$job")
    kill -9 "$job"
    wait "$job" 2>/dev/null
    for _ in $(seq 500); do # until somebody has waited for these orphans
        # shellcheck disable=SC2086
        kill -0 $pes 2>/dev/null || break
        sleep 0.02
    done
    folder=$(find "$TMPDIR" -mindepth 1 -maxdepth 1 -name 'oshrun.*')
}

kill_all
tap_check "the folder stays" test -d "$folder"
shared=/dev/shm/$(echo "$pes" | head -n 1):$(id -u):0 # as libfabric's shm provider names it
: >"$shared"
alive=/dev/shm/$$:$(id -u):0
: >"$alive"
mkdir "$TMPDIR/oshrun.0123456789abcdef" "$TMPDIR/oshrun.aaaaaaaaaaaaaaaa" "$TMPDIR/oshrun.bbbbbbbbbbbbbbbb" "$TMPDIR/oshrun.more"
: >"$TMPDIR/oshrun.more/owner.$(hostname)"
: >"$TMPDIR/oshrun.0123456789abcdef/file"
: >"$TMPDIR/oshrun.aaaaaaaaaaaaaaaa/owner"

start_job 2 -n 2 "$course" wait
tap_check "the next oshrun removes it" test ! -e "$folder"
tap_check "and files of its dead PEs" test ! -e "$shared"
tap_check "not those of other processes" test -e "$alive"
tap_check "folders of which only the beginning was made too" test ! -e "$TMPDIR/oshrun.aaaaaaaaaaaaaaaa" -a ! -e "$TMPDIR/oshrun.bbbbbbbbbbbbbbbb"
tap_check "no other folder without an owner's file, and none of another name" \
    test -e "$TMPDIR/oshrun.0123456789abcdef/file" -a -d "$TMPDIR/oshrun.more"
rm -rf "$shared" "$alive" "$TMPDIR/oshrun.0123456789abcdef" "$TMPDIR/oshrun.more"

first=$job
folder=$(find "$TMPDIR" -mindepth 1 -maxdepth 1 -name 'oshrun.*')
run_job 20 "$oshrun" -n 2 "$course" hello
tap_check "the folder of one that runs stays" test "$status" = 0 -a -d "$folder"
job=$first began=$(now_ms)
kill -TERM "$job"
end_job 3000
tap_check "until its end" test ! -s "$left_file"

kill_all
mv "$folder/owner.$(hostname)" "$folder/owner.elsewhere"
run_job 20 "$oshrun" -n 2 "$course" hello
tap_check "a folder of another host stays" test -d "$folder"
mv "$folder/owner.elsewhere" "$folder/owner.$(hostname)"
run_job 20 "$oshrun" -v -n 2 "$course" hello
tap_check "-v says what is removed" grep -q "removed ${folder##*/}, which an oshrun that was killed had left" "$err"
tap_check "nothing is left" test -z "$(left_now)"
tap_done
