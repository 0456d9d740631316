#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The program in README.md compiles as it stands there, without a warning, and prints what it should.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"

awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$top_srcdir/README.md" >"$tap_dir/ring.c"
${CC:-cc} -Wall -Wextra -Werror "-I$top_srcdir/include" -o "$tap_dir/ring" "$tap_dir/ring.c" "-L$top_builddir/.libs" \
    -lwarpshmem >"$out" 2>"$err"
status=$?
tap_check "compiles" test "$status" = 0
case ${WSH_TEST_VARIANT:-clang} in
    clang) ;;
    *) tap_skip "runs as 4 PEs" "a program without sanitizers does not go with the library of $WSH_TEST_VARIANT"
        tap_done ;;
esac
run_job 20 "$oshrun" -n 4 "$tap_dir/ring"
sort "$out" >"$tap_dir/found"
printf 'PE %d of 4 got %d\n' 0 103 1 100 2 101 3 102 >"$tap_dir/wanted"
tap_check "runs as 4 PEs" cmp -s "$tap_dir/wanted" "$tap_dir/found"
tap_done
