#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In a folder that all can write another user has laid links and files under the names that a job writes: none is
# followed or written, and a line says so; links of this user's own, and what it has left there, are as ever.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"
[ "$(id -u)" = 0 ] || tap_skip_all "only root can make files of another user"
folder=$tap_dir/shared
mkdir "$folder" && chmod 1777 "$folder" && chmod 755 "$tap_dir"
SHMEM_SYMMETRIC_SIZE=4M
export SHMEM_SYMMETRIC_SIZE

# lay NAME: a link of another user to $folder/mine, which is this user's
lay()
{
    rm -f "$folder"/* && echo mine >"$folder/mine"
    ln -s "$folder/mine" "$folder/$1" && chown -h 65534 "$folder/$1"
}

# kept NAME LINE: what is mine is as before, and one line has LINE
kept()
{
    tap_check "$1: what another user's link names is not written" test "$(cat "$folder/mine")" = mine
    tap_check "$1: a line says so" grep -q "$2" "$err"
}

lay out.0.out
run_job 30 "$oshrun" -n 2 --output-filename "$folder/out" "$course" hello
kept "--output-filename" "cannot write '.*/out.0.out': it is a link of another user"
lay log
run_job 30 env SHMEM_DEBUG=info SHMEM_DEBUG_FILE="$folder/log" "$oshrun" -n 1 "$course" hello
kept SHMEM_DEBUG_FILE "cannot open '.*/log': it is a link of another user"
lay x.json.tmp
run_job 30 env SHMEM_STATS_FILE="$folder/x.json" "$oshrun" -n 1 "$course" hello
kept SHMEM_STATS_FILE "cannot write '.*/x.json': what has that name is no file of this user"
lay x.pe0
run_job 30 "$oshrun" -n 1 --trace "$folder/x" "$course" hello
kept "--trace" "no file '.*/x.pe0' of .*: what has that name is no file of this user"
lay x.part
run_job 30 "$oshrun" -n 1 --trace "$folder/x" "$course" hello
kept "the file of a trace" "cannot write '.*/x': what has that name is no file of this user"

rm -f "$folder"/*
echo other >"$folder/log" && chown 65534 "$folder/log" && chmod 666 "$folder/log"
run_job 30 env SHMEM_DEBUG=info SHMEM_DEBUG_FILE="$folder/log" "$oshrun" -n 1 "$course" hello
tap_check "a file of another user is not written" test "$(cat "$folder/log")" = other
tap_check "a line says so" grep -q "cannot open '.*/log': it is a file of another user, in a folder that others can write" "$err"

rm -f "$folder"/*
ln -s "$folder/more" "$folder/log" && echo before >"$folder/more" && echo old >"$folder/x.pe0" && echo old >"$folder/out.0.out"
run_job 30 env SHMEM_DEBUG=info SHMEM_DEBUG_FILE="$folder/log" \
    "$oshrun" -n 1 --trace "$folder/x" --output-filename "$folder/out" "$course" hello
tap_check "a link of this user's own is followed, and the file goes on" \
    sh -c "[ $status = 0 ] && [ \$(head -n 1 '$folder/more') = before ] && [ \$(wc -l <'$folder/more') -gt 1 ]"
tap_check "what this user has left is replaced" sh -c "[ -s '$folder/x' ] && ! grep -q old '$folder/out.0.out'"
run_job 30 env SHMEM_DEBUG=info SHMEM_DEBUG_FILE=/dev/stderr "$oshrun" -n 1 "$course" hello
tap_check "SHMEM_DEBUG_FILE=/dev/stderr" sh -c "[ $status = 0 ] && grep -q 'through oshrun' '$err'"
tap_done
