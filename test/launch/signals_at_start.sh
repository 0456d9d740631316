#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A SIGTERM or SIGINT at any time of a job's start over a network ends it, soon, with its status, and nothing stays.
# timeout: 240
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

rounds=5
[ "${WSH_TEST_LONG:-0}" = 1 ] && rounds=100
seed=${WSH_TEST_SEED:-$(date +%N | sed 's/^0*//')}
limit=10000

# start_time ARGUMENTS…: milliseconds until the job's PEs have left shmem_init.
start_time()
{
    began=$(now_ms)
    start_job 2 "$@" "$course" wait
    echo $(($(now_ms) - began))
    kill -KILL "$job"
    wait "$job" 2>/dev/null
    leftovers >/dev/null
}

# random N MAX: the Nth of the delays, in seconds, from 0 to MAX ms
random()
{
    awk -v seed="$seed" -v n="$1" -v max="$2" 'BEGIN { srand(seed + 7919 * n); rand(); printf "%.3f", rand() * max / 1000 }'
}

# await_end LIMIT-MS: of $job; 124 as $status when it does not come.
await_end()
{
    for _ in $(seq $(($1 * ${WSH_TEST_SLOW:-1} / 20))); do
        kill -0 "$job" 2>/dev/null || break
        sleep 0.02
    done
    if kill -9 "$job" 2>/dev/null; then
        wait "$job" 2>/dev/null
        status=124
        return
    fi
    wait "$job"
    status=$?
}

# A shell has what it starts in the background ignore SIGINT, until env has undone that: what comes before is lost, however
# right oshrun is. Waits until job N would get it.
await_signals()
{
    while grep -q '^SigIgn:.*[2367abef]$' "/proc/$1/status" 2>/dev/null; do :; done
}

# one SIGNAL DELAY ARGUMENTS…: a job that gets the signal so long after its start.
one()
{
    sig=$1 delay=$2
    shift 2
    : >"$tap_dir/start"
    env --default-signal=INT "$oshrun" "$@" "$course" wait >"$out" 2>"$err" </dev/null &
    job=$!
    sleep "$delay"
    await_signals $job
    kill "-$sig" "$job"
    await_end $limit
    leftovers >"$left_file" 2>&1 || :
}

# many SIGNAL STATUS NAME ARGUMENTS…
many()
{
    sig=$1 wanted=$2 name=$3
    shift 3
    hung=0 wrong=0 left=0
    span=$(($(start_time "$@") * 5 / 4))
    for i in $(seq $rounds); do
        delay=$(random "$i" $span)
        one "$sig" "$delay" "$@"
        case $status in
            124) hung=$((hung + 1)) ;;
            "$wanted") ;;
            *) wrong=$((wrong + 1)) ;;
        esac
        [ ! -s "$left_file" ] || left=$((left + 1))
        [ "$status" = "$wanted" ] && [ ! -s "$left_file" ] || {
            echo "# $name: SIG$sig after $delay s: exit status $status; left: $(cat "$left_file")"
            tap_comment "$err"
        }
    done
    echo "# $name: SIG$sig at $rounds times from 0 to $span ms: $hung hung, $wrong with another status, $left left something"
    tap_check "$name: SIG$sig ends a start, $rounds times" test "$hung:$wrong:$left" = 0:0:0
}

echo "# WSH_TEST_SEED=$seed"
SHMEM_LIBFABRIC_PROVIDER=tcp
export SHMEM_LIBFABRIC_PROVIDER
many TERM 143 mixed --nodes-emulated 2 -n 2
many INT 130 mixed --nodes-emulated 2 -n 2
SHMEM_TRANSPORTS=efa
export SHMEM_TRANSPORTS
many TERM 143 tcp -n 2
many INT 130 tcp -n 2
tap_done
