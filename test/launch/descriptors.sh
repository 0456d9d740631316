#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Where open files run out, at oshrun or at PEs, a job does not hang: it starts, or a line names `ulimit -n`.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

command -v bash >/dev/null || tap_skip_all "no bash (its redirections open files by number)"

# least N: the number that oshrun says N PEs need.
least()
{
    sh -c 'ulimit -n 30; exec "$@"' sh timeout -k 2 20 "$oshrun" -n "$1" "$course" hello 2>&1 </dev/null |
        sed -n 's/^oshrun: [0-9]* PEs need \([0-9]*\) open files here.*/\1/p'
}

# limited LIMIT N
limited()
{
    # shellcheck disable=SC2016
    run_job 20 sh -c 'ulimit -n $0; exec "$@"' "$1" "$oshrun" -n "$2" "$course" hello
}

need=$(least 16)
echo "# 16 PEs need ${need:=0} open files at oshrun"
for n in 30 48 56 64 $((need - 1)); do
    limited "$n" 16
    tap_check "ulimit -n $n for 16 PEs: one line" test "$status:$(grep -c '' "$err"):$(
        grep -cE "^oshrun: 16 PEs need $need open files here, 3 each, and .ulimit -n. allows $n; raise it" "$err")" = 1:1:1
done
limited "$need" 16
tap_check "ulimit -n $need is enough for them" test "$status" = 0 -a ! -s "$err"
limited 64 1
tap_check "one PE needs no such number" test "$status" = 0

# Descriptors that run out later: the limit falls to the lowest free number while PE 1 is still on its way.
# shellcheck disable=SC2016
SHMEM_HANG_SECONDS=5 start_job 2 -n 2 sh -c 'echo ready; [ "$PMIX_RANK" = 0 ] || sleep 2; exec "$@"' sh "$course" hello
sleep 0.5
find "/proc/$job/fd" -mindepth 1 2>/dev/null | sed 's|.*/||' | sort -n >"$tap_dir/open"
low=0
while grep -qx "$low" "$tap_dir/open"; do low=$((low + 1)); done
began=$(now_ms)
if prlimit --pid "$job" --nofile="$low" 2>/dev/null; then
    end_job 7000
    ended "none is left for a PE that comes later" 1 \
        "no open file is left for the connections of 2 PEs: .ulimit -n. allows $low; raise it, or start fewer PEs; ending job"
else
    end_job 7000
    tap_skip "none is left for a PE that comes later" "no prlimit (apt-get install util-linux)"
fi

# opened FREE LIMITS: PEs that have opened all files but so many of 64.
cat >"$tap_dir/opened" <<'END'
ulimit $2 64
for fd in $(seq 3 $((63 - $1))); do eval "exec $fd</dev/null"; done
shift 2
exec "$@"
END
opened()
{
    run_job 20 "$oshrun" -n 4 bash "$tap_dir/opened" "$1" "$2" "$course" hello
}

for free in 8 9 10 12; do
    opened "$free" -Sn
    tap_check "PEs with $free files free, and a higher hard limit" test "$status" = 0 -a ! -s "$err"
done
for free in 9 10 11 12; do
    opened "$free" -n
    tap_check "PEs with $free files free, and none beyond" test "$status" = 1 -a "$(
        grep -cE 'no descriptor for .* this PE may have 64 files open, and has; raise that \(ulimit -n\)' "$err")" -ge 1
done
run_job 20 "$oshrun" -n 8 sh -c "ulimit -n 14; exec $course hello"
tap_check "8 PEs with 14 files: a line" sh -c "grep -q 'raise that (ulimit -n)' '$err' && [ $status = 1 ]"
tap_done
