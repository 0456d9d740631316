#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What oshrun puts before the program: gdb at a terminal and without one, the words of --wrap; and the numbers of the PEs.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

# shellcheck disable=SC2016
run_job 10 "$oshrun" -n 5 --nodes-emulated 2 sh -c 'echo $SHMEM_PE $SHMEM_HOST_PE'
tap_check "SHMEM_PE and SHMEM_HOST_PE" test "$(sort "$out" | tr '\n' ';')" = "0 0;1 1;2 2;3 0;4 1;"
run_job 10 "$oshrun" -n 2 "$course" hello
tap_check "… which are no misspelt settings" test "$status" = 0 -a ! -s "$err"

# shellcheck disable=SC2016
run_job 10 "$oshrun" -n 2 --wrap 'sh -c '\''echo "$SHMEM_PE: $*"; exec "$@"'\'' x' "$course" hello
tap_check "--wrap: words, quotes and variables" test "$status:$(grep -cE '^[01]: .*course hello$' "$out"):$(grep -c 'of 2$' "$out")" = 0:2:2
run_job 10 "$oshrun" -n 2 --wrap="env WSH_WRAPPED=a=b" sh -c "echo \"\$WSH_WRAPPED \$1\"" x 'two  words'
tap_check "… arguments stay whole" test "$(sort -u "$out")" = "a=b two  words"
job 5000 -n 2 --wrap 'no-such-tool -o x' "$course" hello
ended "… of a command that is not there" 127 "^oshrun: --wrap: 'no-such-tool' cannot be run: .*; install it, or give its path"
job 5000 -n 2 --wrap /etc "$course" hello
ended "… of a folder" 126 "^oshrun: --wrap: '/etc' cannot be run"
job 5000 -n 2 --wrap true --gdb "$course" hello
ended "… and --gdb" 2 '^oshrun: --gdb and --wrap exclude each other'
job 5000 -n 2 --gdb=2 "$course" hello
ended "--gdb of a PE that is none" 2 '^oshrun: --gdb=2: there is no such PE; give one from 0 to 1'
job 5000 -n 2 --gdb=x "$course" hello
ended "--gdb of a word" 2 '^oshrun: --gdb=x: must be the number of a PE'
job 5000 -n 2 --wrap= "$course" hello
ended "--wrap of nothing" 2 '^oshrun: --wrap needs a value'
# Another launcher: the words go before the program there too.
printf '#!/bin/sh\nfor w; do echo "[$w]"; done\n' >"$tap_dir/mpirun"
chmod +x "$tap_dir/mpirun"
run_job 10 env OSHRUN_LAUNCHER="$tap_dir/mpirun" "$oshrun" -n 2 --wrap 'perf stat' "$course" hello
tap_check "--wrap by mpirun" test "$(tail -n 6 "$out" | sed 's/.*export SHMEM_HOST_PE.*; exec/[exec/' | tr -d '\n')" = \
    "[/bin/sh][-c][exec perf stat \"\$@\"][oshrun][$course][hello]"
job 5000 -n 2 -H nowhere --gdb "$course" hello
tap_check "--gdb by another launcher" sh -c "[ $status = 2 ] && grep -qE 'gdb is for PEs that oshrun starts|no launcher' '$err'"

mkdir "$tap_dir/empty"
if [ "${WSH_TEST_VARIANT:-clang}" != clang ]; then
    no_gdb="$WSH_TEST_VARIANT does not go with a debugger"
elif command -v gdb >/dev/null; then
    gdb -q -batch -ex run --args true </dev/null 2>&1 | grep -q 'exited normally' || no_gdb="no process may be traced here"
else
    no_gdb="no gdb"
fi
status=0
PATH=$tap_dir/empty "$oshrun" -n 2 --gdb "$course" hello >"$out" 2>"$err" </dev/null || status=$?
tap_check "no gdb is one line" test "$status:$(cat "$err")" = \
    "127:oshrun: --gdb: gdb is not on PATH; install it, or print where a PE crashes by SHMEM_BACKTRACE"
if [ -n "${no_gdb:-}" ]; then
    tap_skip "--gdb" "$no_gdb"
    tap_done
fi
job 20000 -n 2 --gdb "$course" hello
ended "--gdb without a terminal: a job that ends well" 0 ''
tap_check "… whose PEs speak" test "$(grep -c 'of 2$' "$out")" = 2
crasher=$(test_program test/launch/helper/crasher)
run_job 30 "$oshrun" -n 2 --gdb "$crasher" store
tap_check "… the stack of a crash, and its status" test "$status:$(grep -cE '#[0-9]+ .* store [(][)] at .*crasher.c' "$out")" = 139:1
job 20000 -n 2 --gdb=1 sh -c "exit 7"
tap_check "… and the program's own status" test "$status" = 7
if command -v script >/dev/null; then
    # PE 1 stops at a breakpoint that is typed, after PE 0 has begun to wait for it.
    printf 'break main\nrun\nprint 40 + 2\ncontinue\nquit\n' >"$tap_dir/typed"
    (sleep 0.3; cat "$tap_dir/typed"; sleep 1) |
        timeout -k 2 30 script -qec "$oshrun -n 2 --gdb=1 $course hello; echo status \$?" "$tap_dir/seen" >"$out" 2>"$err"
    tr -d '\r' <"$tap_dir/seen" >"$out"
    tap_check "--gdb=1 at a terminal takes what is typed" test "$(grep -c '[$]1 = 42' "$out"):$(grep -c 'of 2$' "$out"):$(grep -c 'status 0' "$out")" = 1:2:1
    leftovers >"$left_file" 2>&1
    tap_check "… and leaves nothing" test ! -s "$left_file"
    (sleep 0.3; echo quit; sleep 0.7) |
        timeout -k 2 30 script -qec "$oshrun -n 2 --gdb $course hello; echo status \$?" "$tap_dir/seen" >"$out" 2>"$err"
    tap_check "the end of gdb ends the job" grep -q 'status [1-9]' "$tap_dir/seen"
else
    tap_skip "--gdb at a terminal" "no script (bsdutils)"
fi
tap_done
