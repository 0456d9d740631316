#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every wrong command line is answered with one line that says what, where and the cure, and the right exit status.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

# says STATUS TEXT ARGUMENTS…
says()
{
    wanted=$1
    text=$2
    shift 2
    job 3000 "$@"
    ended "oshrun $*" "$wanted" "$text"
}

: >"$tap_dir/empty"
printf 'no shebang' >"$tap_dir/noformat"
printf '\177ELFrubbish' >"$tap_dir/rubbish"
chmod +x "$tap_dir/noformat" "$tap_dir/rubbish"
printf 'hosta slots=x\n' >"$tap_dir/hosts"

says 2 'no program; write oshrun -n 4' -n 2
says 2 'no program'
says 2 'how many PEs\? write oshrun -n 4 true' true
for n in 0 -1 x 4097 99999999999999999999 2.5 ''; do
    says 2 "-n.*(whole number from 1 to 4096, for example -n 4|needs a value)" -n "$n" true
done
says 2 '-np needs a value, for example -np 4' -np
says 2 "unknown option '--frobnicate'; oshrun --help" --frobnicate -n 2 true
says 2 "unknown option '-q'" -q
says 2 "unknown option '--bnid'; is it --bind\?" -n 2 --bnid core true
says 2 "unknown option '--tagoutput'; is it --tag-output\?" --tagoutput -n 2 true
says 2 '--oversubscribe is no option of oshrun: leave it out' --oversubscribe -n 2 true
says 2 '-c is no option of oshrun: processors of a PE' -c 2 -n 2 true
says 2 '--map-by=core is no option of oshrun: ' --map-by=core -n 2 true
says 2 "':' begins no second program: oshrun runs one program a job" -n 2 true : -n 1 false
says 2 "-x '-n': no variable; write -x VAR" -x -n 2 true
says 2 '-n 3 after -n 2: the number of PEs is given twice' -n 2 -n 3 true
says 2 '-n 4097: must be a whole number' -n4097 true
for n in -n2 -np2; do
    job 5000 $n sh -c 'echo here'
    tap_check "oshrun $n" test "$status:$(wc -l <"$out")" = 0:2
done
says 2 '--tag-output takes no value' --tag-output=yes -n 2 true
says 2 '--bind tree: unknown; write none, hwthread, core, numa or socket' --bind tree -n 2 true
says 2 '--nodes-emulated 3: more hosts than PEs' --nodes-emulated 3 -n 2 true
says 2 '--nodes-emulated 0: must be a whole number' --nodes-emulated 0 -n 2 true
for seconds in -1 x 86401 nan inf 3x; do
    says 2 "--kill-wait $seconds: must be a number of seconds from 0 to 86400, for example --kill-wait 30" --kill-wait $seconds -n 2 true
done
says 2 '--kill-wait needs a value' --kill-wait
says 2 '-x WSH_NOT_SET: not set in this environment; write -x WSH_NOT_SET=value' -x WSH_NOT_SET -n 2 true
says 2 "-x '=1': no variable" -x =1 -n 2 true
says 127 "program './nowhere' not found" -n 2 ./nowhere
says 127 "program 'wsh-nowhere' is not on PATH; give its path" -n 2 wsh-nowhere
says 126 "cannot run '$tap_dir/empty': Permission denied; make it executable with chmod \+x" -n 2 "$tap_dir/empty"
says 126 "cannot run '$tap_dir': Is a directory" -n 2 "$tap_dir"
says 126 "cannot run '$tap_dir/rubbish': Exec format error; name a program built for this machine" -n 2 "$tap_dir/rubbish"
printf '#!/no/such/interpreter\n' >"$tap_dir/script"
chmod +x "$tap_dir/script"
says 126 "cannot run '$tap_dir/script': the interpreter that its first line names" -n 2 "$tap_dir/script"
says 126 "cannot run '$tap_dir/noformat': Exec format error" -n 4 "$tap_dir/noformat"
says 1 "--output-filename: cannot write '/nonexistent/x.0.out': No such file" --output-filename /nonexistent/x -n 2 true
says 2 "exclude each other" -H a --hostfile b -n 2 true
says 2 "--hostfile $tap_dir/none: No such file" --hostfile "$tap_dir/none" -n 2 true
says 2 "--hostfile $tap_dir/empty: names no host; write one host a line" --hostfile "$tap_dir/empty" -n 2 true
says 2 "slots=x' after host hosta; write .hosta slots=4" --hostfile "$tap_dir/hosts" -n 2 true
says 2 "-H: 'a:0' is no host" -H a:0 -n 2 true
run_job 10 env TMPDIR=/nonexistent "$oshrun" -n 2 true
tap_check "no TMPDIR" grep -q "cannot make the folder /nonexistent/oshrun[.].*: No such file.*; set TMPDIR" "$err"
cd "$tap_dir" && cp "$course" here
says 127 "program 'here' is not on PATH; it is in this folder: write ./here" -n 2 here
tap_done
