#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Where PEs wait in shmem_init or shmem_finalize for others, oshrun names those that have not come, once.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

${CC:-cc} -shared -fPIC -o "$tap_dir/late.so" "$top_srcdir/test/launch/helper/failing_fence.c" -ldl || exit 99
need_plain "a preloaded library does not go with"
SHMEM_HANG_SECONDS=1
export SHMEM_HANG_SECONDS

# In the background: makes the file for which late PEs wait when oshrun has written LINE, and N PEs TEXT.
go=$tap_dir/go
go_when_said()
{
    rm -f "$go"
    : >"$err"
    while ! grep -qE -- "$1" "$err" || [ "$(grep -ac -- "$2" "$err")" -lt "$3" ]; do
        sleep 0.05
    done
    : >"$go"
}

# named NAME LINE: a job ended well in which the last line of oshrun is this one. Where PEs start slowly it has named more of
# them before: each line leaves out some that the last one named.
named()
{
    judge 0 ''
    [ "$why" != "wanted no line" ] || why=
    [ -n "$why" ] || tail -n 1 "$tap_dir/said" | grep -qE -- "$2" || why="wanted a last line with '$2'"
    [ -n "$why" ] || sed 's/.*, where \([0-9]*\) of .*/\1/' "$tap_dir/said" | sort -cnu 2>/dev/null || why="a line too many"
    if [ -n "$why" ]; then tap_fail "$1" "$why"; else tap_ok "$1"; fi
}

# late FENCE PES HOSTS LINE N: PEs that come to a fence when oshrun has written the line, and N others that they wait.
late()
{
    go_when_said "$4" 'waiting for other PEs since 1 s' "$5" &
    waits=$!
    job 20000 -n 6 --nodes-emulated "$3" env "LD_PRELOAD=$tap_dir/late.so" FENCE_LATE="$1" FENCE_LATE_PES="$2" \
        FENCE_LATE_UNTIL="$go" "$course" hello
    kill "$waits" 2>/dev/null
    wait "$waits" 2>/dev/null
}

init='PEs 2, 5 have not come to the end of shmem_init, where 4 of 6 PEs wait; look what they do'
finalize='PEs 1-3 have not come to shmem_finalize, where 3 of 6 PEs wait'
for hosts in 1 2; do
    SHMEM_HANG_SECONDS=15 late 0 '' $hosts none 0
    last=$(sed -n 's/^fences //p' "$err" | sort -n | tail -n 1)
    ended "$hosts hosts: nobody is late" 0 ''
    late 1 ' 2 5 ' $hosts "$init" 4
    named "$hosts hosts: shmem_init" "$init"
    tap_check "$hosts hosts: each PE that waits says so" \
        test "$(grep -ac 'exchange of addresses: waiting for other PEs since 1 s; oshrun names those that are missing' "$err")" = 4
    late "$last" ' 1 2 3 ' $hosts "$finalize" 3
    named "$hosts hosts: shmem_finalize" "$finalize"
done

# A PE that has not even begun.
one='PE 1 has not come to the end of shmem_init, where 2 of 3 PEs wait; look what it does'
go_when_said "$one" . 0 &
# shellcheck disable=SC2016
job 20000 -n 3 sh -c '[ "$PMIX_RANK" != 1 ] || while [ ! -e "$1" ]; do sleep 0.05; done; exec "$0" hello' "$course" "$go"
named "before shmem_init" "$one"
SHMEM_HANG_SECONDS=0 job 20000 -n 3 sh -c '[ "$PMIX_RANK" != 1 ] || sleep 2; exec "$0" hello' "$course"
ended "SHMEM_HANG_SECONDS=0: no line" 0 ''
tap_done
