#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Output comes in whole lines, with the tags and into the files that are asked for, and all of it.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

run_job 60 "$oshrun" -n 4 "$course" lines 300
tap_check "exit status" test "$status" = 0
tap_check "every line" test "$(wc -l <"$out")" = 1200
tap_check "every line whole" test "$(grep -cxE 'a{1000}|b{1000}|c{1000}|d{1000}' "$out")" = 1200

run_job 60 "$oshrun" --tag-output -n 2 "$course" lines 50
tap_check "--tag-output" test "$(grep -cxE '\[0\] a{1000}|\[1\] b{1000}' "$out")" = 100
run_job 60 "$oshrun" --timestamp -n 2 "$course" lines 5
tap_check "--timestamp" test "$(grep -cE '^2[0-9]{3}-[01][0-9]-[0-3][0-9]T[0-9:]{8}\.[0-9]{6} [ab]' "$out")" = 10
run_job 60 "$oshrun" --timestamp --tag-output -n 2 "$course" lines 5
tap_check "both" test "$(grep -cE '^2[0-9]{3}-.*\.[0-9]{6} (\[0\] a|\[1\] b)' "$out")" = 10
run_job 60 "$oshrun" --tag-output -n 2 sh -c 'echo out; echo err >&2'
tap_check "standard error is apart" test "$(sort "$err" | tr '\n' ' ')$(sort "$out" | tr '\n' ' ')" = \
    "[0] err [1] err [0] out [1] out "

run_job 60 "$oshrun" -n 3 "$course" partial
tap_check "a last line without end comes out, one a PE" test "$(grep -cx 'no newline from [012]' "$out")" = 3
run_job 60 "$oshrun" -n 1 printf 'exact'
tap_check "one PE's output is unchanged" test "$(od -c <"$out" | head -n 1 | tr -s ' ')" = "0000000 e x a c t"

mkdir "$tap_dir/folder"
run_job 60 "$oshrun" --output-filename "$tap_dir/folder" -n 2 sh -c 'echo out; echo err >&2'
tap_check "--output-filename FOLDER" test "$(cat "$tap_dir/folder/0.out" "$tap_dir/folder/1.err" | tr '\n' ' ')" = "out err "
tap_check "nothing on the terminal" test ! -s "$out" -a ! -s "$err"
run_job 60 "$oshrun" --output-filename "$tap_dir/new/" -n 2 echo out
tap_check "a new folder" test "$(cat "$tap_dir/new/1.out")" = out
run_job 60 "$oshrun" --output-filename="$tap_dir/pre" -n 2 sh -c 'echo out; echo err >&2'
tap_check "--output-filename=PREFIX" test "$(cat "$tap_dir/pre.1.out" "$tap_dir/pre.0.err" | tr '\n' ' ')" = "out err "
run_job 60 "$oshrun" --output-filename "$tap_dir/t" --tag-output -n 2 echo out
tap_check "with tags" test "$(cat "$tap_dir/t.1.out")" = "[1] out"

timeout 20 "$oshrun" -n 2 "$course" lines 3000 2>"$err" | head -n 1 >"$out"
tap_check "a reader that goes away ends the job" test "$(wc -l <"$out")" = 1
leftovers >"$left_file"
tap_check "and leaves nothing" test ! -s "$left_file"
timeout 20 "$oshrun" -n 2 "$course" lines 2000 2>"$err" | (sleep 1; cat) >"$out"
tap_check "a slow reader gets all" test "$(wc -l <"$out")" = 4000
tap_done
