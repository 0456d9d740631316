#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Python programs of which one ends before the others, by sys.exit(0), with finalize and without: all end with status 0.
# By oshrun, and by a unique id that a file carries; PE 0 is the first to end, and the last. One is killed, and the others
# are told by exceptions and go on.
# timeout: 120
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/python/lib.sh"
need_oshrun
. "$top_srcdir/test/launch/ends_lib.sh"
ends_pes=2
SHMEM_SYMMETRIC_SIZE=4M
export SHMEM_SYMMETRIC_SIZE

ends_py() { timeout -k 2 "$ends_limit" "$@"; }
by_oshrun() { ends_py "$oshrun" -n 2 "$python" "$top_srcdir/test/python/ends.py" "$@"; }
by_uid()
{
    export ID_FILE="$tap_dir/id.$ends_number" WORLD_SIZE=2
    RANK=0 ends_py "$python" "$top_srcdir/test/python/ends.py" "$@" &
    RANK=1 ends_py "$python" "$top_srcdir/test/python/ends.py" "$@" && wait $!
}

for by in by_oshrun by_uid; do
    for how in exit exit+; do
        ends_row $by good $how 0 3
        ends_row $by good $how -1 3
    done
done
ends_judge
for who in 0 -1; do
    run_job 60 "$oshrun" -n 3 --on-pe-failure continue "$python" "$top_srcdir/test/python/ends.py" kill $who 0
    tap_check "PE $who is killed, and the others are told by exceptions and go on" \
        sh -c "[ $status = 0 ] && [ \$(grep -c 'has gone on' '$out') = 2 ]"
done
tap_done
