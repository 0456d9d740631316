#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every mistake of mistakes.c is answered with one line that names it, and the end of the job, or with the result that
# the manual pages give: never by a signal, never silently. Over shared memory every third of them, with SHMEM_DEBUG=check
# too, where all those with arrays that overlap or are too long are made, over tcp every sixteenth, and with WSH_TEST_LONG=1
# all. WSH_TEST_MISTAKES=text keeps those that have it in their names.
# timeout: 1500
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
mistakes=$(test_program test/mp/helper/mistakes)
tab=$(printf '\t')
"$mistakes" --list | grep -F -- "${WSH_TEST_MISTAKES:-}" >"$tap_dir/list"
list=$tap_dir/list

# made LINE: what is wrong with the last job, which was to say LINE, to go on where that is "-", or both: "+LINE".
made()
{
    grep -a '^warpshmem:' "$err" >"$tap_dir/lines"
    n=$(wc -l <"$tap_dir/lines")
    case $status in
        124 | 137) echo "no end in time"; return ;;
    esac
    case $1 in
        -) [ "$status" = 0 ] || echo "exit status $status instead of 0"
            [ "$n" = 0 ] || echo "said something"
            return ;;
        +*) [ "$status" = 0 ] || echo "exit status $status instead of 0"
            [ "$n" = 1 ] && grep -qE -- "${1#+}" "$tap_dir/lines" || echo "$n lines, or none says '${1#+}'"
            return ;;
    esac
    [ "$status" = 1 ] || echo "exit status $status instead of 1"
    # Where all PEs make it each may say so before the first one has ended the job.
    [ "$n" -ge 1 ] && [ "$n" -le 2 ] || echo "$n lines"
    [ "$(sed 's/^warpshmem: PE [0-9]* ([^)]*): //; s/0x[0-9a-f]*/…/g' "$tap_dir/lines" | sort -u | wc -l)" -le 1 ] ||
        echo "different lines"
    grep -qE -- "$1" "$tap_dir/lines" || echo "no line says '$1'"
}

# make_all NAME EVERY CHECKED SETTINGS…: each EVERY-th mistake of the list, as one case; CHECKED: with SHMEM_DEBUG=check.
make_all()
{
    path=$1 every=$2 checked=$3
    shift 3
    made=0 wrong=0
    while read -r name rest; do
        made=$((made + 1))
        [ $((made % every)) = 0 ] || continue
        line=${rest%%"$tab"*}
        if [ "$checked" = 1 ]; then line=${rest#*"$tab"}; fi
        run_job 30 env "$@" "$oshrun" -n 2 "$mistakes" "$name"
        why=$(made "$line" | tr '\n' ';')
        [ -n "$why" ] || continue
        wrong=$((wrong + 1))
        echo "# $name: $why"
        tap_comment "$err"
    done <"$list"
    tap_check "$((made / every)) mistakes, $path" test "$wrong" = 0 -a "$made" -gt 0
}

every=3 every_tcp=16
[ "${WSH_TEST_LONG:-0}" = 1 ] || [ -n "${WSH_TEST_MISTAKES:-}" ] && every=1 every_tcp=1
side make_all "shared memory" $every 0 SHMEM_DEBUG=
side make_all "shared memory, SHMEM_DEBUG=check" $every 1 SHMEM_DEBUG=check
side make_all "tcp" $every_tcp 0 SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp
side make_all "tcp, SHMEM_DEBUG=check" $every_tcp 1 SHMEM_DEBUG=check SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp
if [ $every != 1 ]; then
    list=$tap_dir/list.arrays
    "$mistakes" --list | grep -E '^(overlap|longer|apart|in_place)_' >"$list"
    side make_all "arrays of collectives, SHMEM_DEBUG=check" 1 1 SHMEM_DEBUG=check
fi
tap_done
