#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whatever happens to a job at whatever time, it ends as test/chaos/table.py says, in time, with one line, and leaves
# nothing. 1,000 jobs with WSH_TEST_LONG=1. `sh ../test/run ../test/chaos/chaos.sh --seed N --only K` with top_srcdir=.. repeats
# one job.
# timeout: 3600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/chaos/lib.sh"
jobs=40
[ "${WSH_TEST_LONG:-0}" = 1 ] && jobs=1000
campaign "$jobs jobs end as the table says" --jobs "$jobs" "$@"
[ $# = 0 ] || tap_done

# finds NAME TEXT SCRIPT-LINE ROW: a program that does what the line says before it becomes the load is found out.
finds()
{
    printf '#!/bin/sh\n%s\nexec "%s" "$@"\n' "$3" "$load" >"$tap_dir/wrong"
    chmod +x "$tap_dir/wrong"
    run_campaign --jobs 2 --seed 48 --networks local --rows "$4" --program "$tap_dir/wrong"
    status=$?
    tap_check "$1" test "$status:$(grep -c "^# job .*: $2" "$out")" = 1:2
}

# shellcheck disable=SC2016
finds "a PE that does not die of its signal is noticed" "exit status 0, expected 143" 'trap "" TERM; set -- "$1" 2000' "PE TERM"
# shellcheck disable=SC2016
finds "a file that is left behind is noticed" "left behind: .*/tmp/more" ': >"$TMPDIR/more"' "PE SEGV"
finds "a second line is noticed" "unexpected line: more" "echo more >&2" "PE KILL"
tap_done
