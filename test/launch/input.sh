#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Standard input goes to PE 0, whole and unchanged; the others find it empty.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

head -c 3000000 /dev/urandom | base64 >"$tap_dir/text"
timeout 20 "$oshrun" -n 3 "$course" input <"$tap_dir/text" >"$out" 2>"$err"
status=$?
tap_check "exit status" test "$status" = 0
grep -v 'end of input' "$out" >"$tap_dir/copy"
tap_check "PE 0 gets a file whole" cmp "$tap_dir/text" "$tap_dir/copy"
tap_check "the others get none" test "$(grep -c 'end of input' "$out")" = 2

timeout 20 cat "$tap_dir/text" | timeout 20 "$oshrun" -n 1 cat >"$out" 2>"$err"
tap_check "one PE, a pipe" cmp "$tap_dir/text" "$out"
timeout 20 "$oshrun" -n 2 "$course" hello <"$tap_dir/text" >"$out" 2>"$err"
status=$?
tap_check "a PE that reads nothing" test "$status" = 0
(sleep 0.2; echo one; sleep 0.2; echo two) | timeout 20 "$oshrun" -n 2 "$course" input >"$out" 2>"$err"
tap_check "slow input" test "$(grep -c 'one\|two' "$out")" = 2
sleep 5 | timeout 20 "$oshrun" -n 2 "$course" hello >"$out" 2>"$err" &
pid=$!
sleep 2
tap_check "a job does not wait for more input at its end" test "$(grep -c hello "$out")" = 2
wait $pid
timeout 20 "$oshrun" -n 2 "$course" hello <&- >"$out" 2>"$err"
tap_check "closed input" test $? = 0
timeout 20 "$oshrun" -n 2 "$course" hello <&- >&- 2>&-
tap_check "all closed" test $? = 0
tap_done
