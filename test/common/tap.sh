# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2030,SC2031
# Sourced by test scripts with several cases: prints TAP, gives each script a folder of its own, and words for
# running programs under the built oshrun. A script ends with tap_done.
#   tap_ok NAME / tap_fail NAME REASON / tap_skip NAME REASON / tap_skip_all REASON
#   tap_long NAME                true in the long form; else NAME is skipped, which says so
#   tap_check NAME COMMAND…      passed when the command succeeds
#   side COMMAND…                runs the command, which has such words in it, in a shell and a folder of its own, beside up to
#                                two others; what it prints comes with sides_end, or at the end
#   run_job LIMIT COMMAND…       runs it; sets $status, leaves output in $out (stdout) and $err (stderr)
#   tap_busy TOOK LIMIT PLAIN    true where a job took no longer than a busy machine explains, in ms
#   need_plain REASON            skips all in builds for a sanitizer or another machine; its name ends the reason
#   reported NAME PATTERN…       that job ended well, and for every pattern a line of PE 0 matches
set -u

top_builddir=${top_builddir:-.}
top_srcdir=${top_srcdir:-.}
# Read by the scripts that source this file.
# shellcheck disable=SC2034
oshrun=$top_builddir/oshrun
LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
tap_cases=0
tap_sides=0
tap_dir=$(mktemp -d) || exit 99
trap 'rm -rf "$tap_dir"' EXIT
trap 'exit 99' INT TERM HUP
# Open MPI 4 makes and removes its folder of sessions without a lock, so tests beside each other share none.
OMPI_MCA_orte_tmpdir_base=$tap_dir
export OMPI_MCA_orte_tmpdir_base
out=$tap_dir/out
err=$tap_dir/err
status=0

tap_comment()
{
    sed 's/^/# /' "$@"
}

tap_ok()
{
    tap_cases=$((tap_cases + 1))
    echo "ok $tap_cases - $1"
}

tap_fail()
{
    tap_cases=$((tap_cases + 1))
    shift_name=$1
    shift
    [ -s "$out" ] && tap_comment "$out"
    [ -s "$err" ] && tap_comment "$err"
    echo "# exit status $status; $*"
    echo "not ok $tap_cases - $shift_name"
}

tap_skip()
{
    tap_cases=$((tap_cases + 1))
    echo "ok $tap_cases - $1 # SKIP $2"
}

tap_long()
{
    [ "${WSH_TEST_LONG:-0}" = 1 ] && return
    tap_skip "$1" "long (make check-long)"
    false
}

tap_skip_all()
{
    tap_skip "$(basename "$0")" "$1"
    tap_done
}

# What a script has in its folder besides is made by its side_start, if there is one.
side()
{
    tap_sides=$((tap_sides + 1))
    mkdir "$tap_dir/side.$tap_sides"
    (
        trap - EXIT
        tap_cases=0 tap_dir=$tap_dir/side.$tap_sides
        out=$tap_dir/out err=$tap_dir/err
        ! command -v side_start >/dev/null || side_start
        "$@"
    ) >"$tap_dir/side.$tap_sides/tap" 2>&1 &
    [ $((tap_sides % 3)) != 0 ] || wait
}

sides_end()
{
    [ "$tap_sides" != 0 ] || return 0
    wait
    for tap_side in $(seq "$tap_sides"); do
        tap_found=$(grep -cE '^(not )?ok [0-9]+ - ' "$tap_dir/side.$tap_side/tap")
        awk -v n="$tap_cases" '/^(not )?ok [0-9]+ - / { n++; sub(/ok [0-9]+/, "ok " n) } { print }' "$tap_dir/side.$tap_side/tap"
        tap_cases=$((tap_cases + tap_found))
        [ "$tap_found" != 0 ] || tap_fail "what runs beside others" "it has no result"
        rm -rf "$tap_dir/side.$tap_side"
    done
    tap_sides=0
}

tap_done()
{
    sides_end
    echo "1..$tap_cases"
    exit 0
}

tap_check()
{
    tap_name=$1
    shift
    if "$@"; then tap_ok "$tap_name"; else tap_fail "$tap_name" "failed: $*"; fi
}

run_job()
{
    tap_limit=$(($1 * ${WSH_TEST_SLOW:-1}))
    shift
    timeout -k 10 "$tap_limit" "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

# So much later a job may end as one of four PEs that only starts and ends (PLAIN) takes at that time, thrice, where that is
# a second or more: at rest it takes 0.3 s.
tap_busy()
{
    echo "# took $1 of $2 ms, where a job that only starts and ends takes $3"
    [ "$3" -ge 1000 ] && [ "$1" -le $(($2 + 3 * $3)) ]
}

reported()
{
    tap_name=$1
    shift
    if [ "$status" != 0 ]; then tap_fail "$tap_name" "the job did not end well"; return; fi
    grep 'warpshmem: PE 0 ' "$err" >"$tap_dir/lines" || :
    for tap_pattern in "$@"; do
        grep -q -- "$tap_pattern" "$tap_dir/lines" || { tap_fail "$tap_name" "no line of PE 0 says '$tap_pattern'"; return; }
    done
    tap_comment "$tap_dir/lines"
    tap_ok "$tap_name"
}

# The path of a built test program, past libtool's wrapper.
test_program()
{
    tap_real=$top_builddir/$(dirname "$1")/.libs/$(basename "$1")
    if [ -x "$tap_real" ]; then echo "$tap_real"; else echo "$top_builddir/$1"; fi
}

need_oshrun()
{
    [ -x "$oshrun" ] || tap_skip_all "oshrun is not built"
}

need_plain()
{
    [ "${WSH_TEST_VARIANT:-clang}" = clang ] || tap_skip_all "$1 $WSH_TEST_VARIANT"
}
