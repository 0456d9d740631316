# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by the tests of start by a unique id, after test/common/tap.sh: the program `$uid` under a name of its own, whose
# processes the shell itself starts, as no launcher does here.

uid=$tap_dir/uid
cp "$(test_program test/launch/helper/uid)" "$uid" || exit 99
id=$tap_dir/id
# In the tests nobody comes late.
SHMEM_BOOTSTRAP_UID_SECONDS=$((15 * ${WSH_TEST_SLOW:-1}))
SHMEM_SYMMETRIC_SIZE=${WSH_TEST_UID_HEAP:-4M}
export SHMEM_BOOTSTRAP_UID_SECONDS SHMEM_SYMMETRIC_SIZE

now_ms()
{
    echo $(($(date +%s%N) / 1000000))
}

# uid_clear: before a new job. Its processes are in $pids, `RANK:PID …`, their output in files out.RANK and err.RANK.
uid_clear()
{
    rm -f "$id" "$id".* "$tap_dir"/out.* "$tap_dir"/err.*
    pids=
    began=$(now_ms)
}

# uid_pe RANK N COURSE…: starts one in the background; $! is its number. `$carried` is + where another process made the id.
carried=
uid_pe()
{
    # shellcheck disable=SC2086
    ${WSH_TEST_WRAP:-} "$uid" "$id$carried" "$@" >"$tap_dir/out.$1" 2>"$tap_dir/err.$1" </dev/null &
    pids="$pids $1:$!"
}

# uid_start N COURSE…: all ranks, the one that makes the id last.
uid_start()
{
    uid_clear
    n_pes=$1
    rank=$n_pes
    while [ "$rank" -gt 0 ]; do
        rank=$((rank - 1))
        uid_pe "$rank" "$@"
    done
}

pid_of()
{
    for word in $pids; do
        case $word in "$1":*) echo "${word#*:}" ;; esac
    done
}

# uid_wait: for all; $statuses has their exit statuses in the order of starting. They end themselves after two minutes.
uid_wait()
{
    statuses=
    for word in $pids; do
        wait "${word#*:}" 2>/dev/null
        statuses="$statuses $?"
    done
    took=$(($(now_ms) - began))
    cat "$tap_dir"/err.* >"$err"
    cat "$tap_dir"/out.* >"$out"
}

# soon LIMIT-MS: the last job took no longer.
soon()
{
    [ "$took" -gt $(($1 * ${WSH_TEST_SLOW:-1})) ] || return 0
    mkdir -p "$tap_dir/plain"
    plain=$(
        tap_dir=$tap_dir/plain
        id=$tap_dir/id out=$tap_dir/out err=$tap_dir/err carried=
        uid_start 4 hello
        uid_wait
        echo "$took"
    )
    tap_busy "$took" $(($1 * ${WSH_TEST_SLOW:-1})) "$plain"
}

# make_root: a process that only makes the id; $root.
make_root()
{
    uid_clear
    "$uid" "$id" make >/dev/null 2>"$tap_dir/root" </dev/null &
    root=$!
    carried=+
    for _ in $(seq 500); do [ -s "$id" ] && return; sleep 0.02; done
}

end_root()
{
    kill -9 "$root" 2>/dev/null
    wait "$root" 2>/dev/null
    carried=
}

# Processes that a job has left.
uid_left()
{
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        left=$(grep -asl -- "[/]${uid#/}" /proc/[0-9]*/cmdline)
        [ -n "$left" ] || return 0
        sleep 0.3
    done
    echo "$left"
}

# each STATUS: all processes ended with it.
each()
{
    for one in $statuses; do
        [ "$one" = "$1" ] || return 1
    done
}

# hellos N: all of them said hello, and nobody said anything else.
hellos()
{
    [ "$(grep -c '^hello' "$out")" = "$1" ] && [ ! -s "$err" ] && each 0
}

# one_line_each N TEXT: N processes wrote one line each, with TEXT.
one_line_each()
{
    lines=$(wc -l <"$err")
    [ "$lines" = "$1" ] && [ "$(grep -cE -- "$2" "$err")" = "$1" ] && [ "$(grep -lE -- "$2" "$tap_dir"/err.* | wc -l)" = "$1" ]
}

# uid_ended NAME COMMAND…: passed when it succeeds and nothing is left.
uid_ended()
{
    status="$statuses, took $took ms"
    case_name=$1
    shift
    left=$(uid_left)
    if [ -n "$left" ]; then tap_fail "$case_name" "left: $left"
    elif "$@"; then tap_ok "$case_name"
    else tap_fail "$case_name" "failed: $*"; fi
}
