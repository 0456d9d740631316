# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by the tests of oshrun after test/common/tap.sh: the program `$course` under a name of its own, so that
# its processes can be told from others, and words to look for what a job left behind.

need_oshrun
course=$tap_dir/course
cp "$(test_program test/launch/helper/course)" "$course" || exit 99
mkdir "$tap_dir/tmp"
TMPDIR=$tap_dir/tmp
export TMPDIR
: >"$tap_dir/start"
rounds=2
[ "${WSH_TEST_LONG:-0}" = 1 ] && rounds=50

now_ms()
{
    echo $(($(date +%s%N) / 1000000))
}

# Numbers of the processes of this test: PEs, oshrun and its guardian all have the program in their command line. (The
# brackets keep grep from finding itself.)
processes()
{
    grep -asl -- "[/]${course#/}" /proc/[0-9]*/cmdline | sed 's|/proc/||; s|/cmdline||' | tr '\n' ' '
}

left_now()
{
    left=$(processes)
    [ -z "$left" ] || echo "processes: $left"
    find "$TMPDIR" -mindepth 1 2>/dev/null
    grep -F "$tap_dir" /proc/net/unix
    find /dev/shm -mindepth 1 -user "$(id -u)" -newer "$tap_dir/start" \( -name '*wsh*' -o -name '*shmem*' -o -name '*oshrun*' \)
}

# Prints what the last job left: processes, files, sockets, shared memory. Where oshrun was killed its guardian clears up
# behind it, which takes a while on a busy machine: 3 s.
leftovers()
{
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        all=$(left_now)
        [ -n "$all" ] || return 0
        sleep 0.3
    done
    echo "$all"
}

# job LIMIT-MS ARGUMENTS…: oshrun with them; sets $status and $took (ms); leftovers afterwards are in $left_file.
left_file=$tap_dir/left
job()
{
    limit_ms=$(($1 * ${WSH_TEST_SLOW:-1}))
    shift
    : >"$tap_dir/start"
    began=$(now_ms)
    timeout -k 2 30 "$oshrun" "$@" >"$out" 2>"$err" </dev/null
    status=$?
    took=$(($(now_ms) - began))
    leftovers >"$left_file" 2>&1 || :
}

in_time()
{
    [ "$took" -gt "$limit_ms" ] || return 0
    plain=$(now_ms)
    timeout -k 2 30 "$oshrun" -n 4 "$course" hello >/dev/null 2>&1 </dev/null
    tap_busy "$took" "$limit_ms" $(($(now_ms) - plain))
}

# judge STATUS TEXT: sets $why to what is wrong with the last job, empty when it had this exit status, kept its limit, left
# nothing, and wrote exactly one line of its own that matches TEXT (none when TEXT is empty), besides that of where a PE crashed.
judge()
{
    why=
    grep -a '^oshrun: ' "$err" | grep -av '^oshrun: PE [0-9]* crashed ' >"$tap_dir/said" || :
    if [ "$status" != "$1" ]; then why="wanted exit status $1"
    elif ! in_time; then why="took $took ms"
    elif [ -s "$left_file" ]; then why="left behind: $(cat "$left_file")"
    elif [ -z "$2" ] && [ -s "$tap_dir/said" ]; then why="wanted no line"
    elif [ -n "$2" ] && [ "$(wc -l <"$tap_dir/said")" != 1 ]; then why="wanted one line"
    elif [ -n "$2" ] && ! grep -qE -- "$2" "$tap_dir/said"; then why="wanted a line with '$2'"
    fi
}

# ended NAME STATUS TEXT: one case of it.
ended()
{
    judge "$2" "$3"
    if [ -n "$why" ]; then tap_fail "$1" "$why"; else tap_ok "$1"; fi
}

# start_job PES ARGUMENTS…: oshrun in the background (where a shell would have it ignore SIGINT); its number is $job. Waits
# until so many PEs said that they are ready.
start_job()
{
    pes=$1
    shift
    : >"$tap_dir/start"
    : >"$out" # here, not only in the background: what the last job wrote does not count
    env --default-signal=INT "$oshrun" "$@" >"$out" 2>"$err" </dev/null &
    job=$!
    for _ in $(seq 1000); do
        [ "$(grep -c ready "$out")" -ge "$pes" ] && return
        sleep 0.02
    done
    echo "# only $(grep -c ready "$out") of $pes PEs are ready"
}

# end_job LIMIT-MS: waits for it; sets $status; leftovers as in job. $began is the time of what should end it.
end_job()
{
    limit_ms=$(($1 * ${WSH_TEST_SLOW:-1}))
    wait "$job"
    status=$?
    took=$(($(now_ms) - began))
    leftovers >"$left_file" 2>&1 || :
}
