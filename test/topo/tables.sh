#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each table of warpshmem-info is printed to its end, for people and for programs.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
info=$top_builddir/warpshmem-info
[ -x "$info" ] || tap_skip_all "warpshmem-info is not built"

# prints LEAST OPTION…: exit status 0, no line on standard error, and so many lines at least.
prints()
{
    least=$1
    shift
    run_job 30 "$info" "$@"
    tap_check "$*" test "$status" = 0 -a ! -s "$err" -a "$(wc -l <"$out")" -ge "$least"
}

for table in --collectives --settings --topo --nics; do
    prints 1 $table
    prints 1 $table --parsable
done
run_job 30 "$info" --collectives
tap_check "--collectives: the words are explained" grep -q 'a block for each large part' "$out"
tap_done
