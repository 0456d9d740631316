#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 3 to 16 PEs over shared memory, tcp, both and the emulated device, of which 1 to 3 die at random times in random work, in
# allocation or in shmem_finalize: every survivor shrinks the world, goes on and ends with 0, its data exact; nothing hangs
# and nothing is left; by oshrun, and by a unique id without it. WSH_TEST_LONG=1: 300 jobs (WSH_TEST_JOBS: so many), and 1,000
# deaths each in allocation and in collectives, by 15 of 16 PEs a job. Prints how soon the others heard of a death.
# timeout: 3600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"
course=$tap_dir/survivors
cp "$(test_program test/launch/helper/survivors)" "$course" || exit 99
SHMEM_SYMMETRIC_SIZE=4M
export SHMEM_SYMMETRIC_SIZE
jobs=4
[ "${WSH_TEST_LONG:-0}" = 1 ] && jobs=300
jobs=${WSH_TEST_JOBS:-$jobs}
seed=${WSH_TEST_SEED:-$(date +%s)}
echo "# seed $seed"

# random MOST: below it, in $r
r=$seed
random()
{
    seed_now=$(((seed_now * 1103515245 + 12345) % 2147483648))
    r=$((seed_now / 65536 % $1))
}
seed_now=$((seed % 2147483648))

# Distinct victims: $victims
choose_victims()
{
    victims=
    taken=" "
    random 3
    kills=$((r + 1))
    [ $kills -lt "$pes" ] || kills=1
    while [ $kills -gt 0 ]; do
        random "$pes"
        who=$r
        case $taken in *" $who "*) continue ;; esac
        taken="$taken$who "
        random 2
        how=kill
        [ "$r" = 0 ] || how=segv
        random 6
        [ "$r" = 0 ] && how=f$how
        random 400
        victims="$victims $who:$how:$r"
        kills=$((kills - 1))
    done
}

# What differs from a good end, in $why.
one_judge()
{
    n_victims=$(echo $victims | wc -w)
    why=
    grep -a '^PE [0-9]*, round' "$err" >"$tap_dir/wrong" && why="$(head -1 "$tap_dir/wrong")" && return
    if [ "$status" != 0 ]; then why="exit status $status: $(tail -1 "$err")"
    elif [ "$(grep -c '^ends' "$out")" -lt $((pes - n_victims)) ]; then why="not all survivors have ended"
    elif [ -s "$left_file" ]; then why="left behind: $(cat "$left_file")"
    elif grep -q 'has waited' "$err"; then why="a wait has been reported: $(grep -m 1 'has waited' "$err")"
    fi
}

# Milliseconds from each death to each survivor's news.
times_note()
{
    awk '$1 == "dies" { died[$2] = $3 }
        $1 == "heard" && $2 in died { printf "%.1f\n", 1000 * ($3 - died[$2]) }' "$out" >>"$tap_dir/times"
}

# by_uid: the job without oshrun; PEs that are killed are to die.
by_uid()
{
    pids=
    rm -f "$tap_dir/id"
    : >"$tap_dir/start"
    for rank in $(seq 0 $((pes - 1))); do
        [ "$path" != mixed ] || export SHMEM_NODE_EMULATED=$((rank % 2))
        UID_FILE=$tap_dir/id RANK=$rank WORLD_SIZE=$pes SHMEM_ON_PE_FAILURE=continue SHMEM_TRANSPORTS="$transports" SHMEM_LIBFABRIC_PROVIDER=tcp \
            timeout -k 10 $((120 * ${WSH_TEST_SLOW:-1})) "$course" "$its" "$phase" 20 $victims >"$tap_dir/out.$rank" 2>"$tap_dir/err.$rank" </dev/null &
        pids="$pids $!"
    done
    unset SHMEM_NODE_EMULATED
    status=0
    for pid in $pids; do
        wait "$pid" 2>/dev/null
        code=$?
        case $code in 0 | 137 | 139) ;; *) status=$code ;; esac
    done
    cat "$tap_dir"/out.* >"$out"
    cat "$tap_dir"/err.* >"$err"
    rm -f "$tap_dir"/out.* "$tap_dir"/err.*
}

by_oshrun()
{
    run_job 120 env SHMEM_TRANSPORTS="$transports" SHMEM_LIBFABRIC_PROVIDER="$provider" "$oshrun" -n "$pes" $where \
        --on-pe-failure continue "$course" "$its" "$phase" 20 $victims
}

# All PEs of a host at once, PE 0 among them.
pes=6 its=1 phase=all path=mixed where="--nodes-emulated 2" transports='' provider=tcp victims=" 0:kill:100 1:kill:100 2:segv:105"
: >"$tap_dir/start"
by_oshrun
leftovers >"$left_file" 2>&1 || :
one_judge
times_note
tap_check "a whole host dies, PE 0 with it, and the other one goes on: ${why:-good}" test -z "$why"

good=0
case ${WSH_TEST_VARIANT:-clang} in
    clang) paths=4 ;;
    *) paths=3 && echo "# no emulated EFA: a preloaded library does not go with $WSH_TEST_VARIANT" ;;
esac
for number in $(seq "$jobs"); do
    random "$paths"
    case $r in
    0) path=local where="--nodes-emulated 1" ;;
    1) path=tcp where="--nodes-emulated 1" ;;
    2) path=mixed where="--nodes-emulated 2" ;;
    *) path="emulated EFA" where="--nodes-emulated 2 --emulate-efa" ;;
    esac
    random 14
    pes=$((r + 3))
    [ "$path" = "emulated EFA" ] && pes=$((r % 6 + 3)) # each emulates a device, and starts in a second or two
    [ "${WSH_TEST_LONG:-0}" = 1 ] || pes=$((r % 3 + 3))
    random 5
    phase=$(echo rma coll alloc lock all | cut -d ' ' -f $((r + 1)))
    random 100000
    its=$r
    choose_victims
    transports=
    [ "$path" = tcp ] && transports=efa
    provider=tcp
    [ "$path" = "emulated EFA" ] && provider=efa
    by=by_oshrun
    random 3
    [ "$r" != 0 ] || [ "$path" = "emulated EFA" ] || by=by_uid
    : >"$tap_dir/start"
    $by
    leftovers >"$left_file" 2>&1 || :
    one_judge
    times_note
    [ -z "${WSH_TEST_KEEP:-}" ] || echo "$number $by $path $pes $phase$victims: ${why:-good}" >>"$WSH_TEST_KEEP/jobs"
    if [ -z "$why" ]; then good=$((good + 1)); else
        tap_fail "job $number: $by, $path, $pes PEs, seed $its, $phase, victims$victims" "$why"
        cp "$out" "${WSH_TEST_KEEP:-$tap_dir}/$number.out"
        cp "$err" "${WSH_TEST_KEEP:-$tap_dir}/$number.err"
    fi
done
tap_check "$good of $jobs jobs: survivors go on" [ "$good" = "$jobs" ]
# thousand PHASE: 15 of 16 PEs die, one soon after the other, in each of 67 jobs.
thousand()
{
    phase=$1 pes=16 path=local where="--nodes-emulated 1" transports='' provider=tcp
    kills=0 good=0
    for number in $(seq 67); do
        its=$number
        victims='' at=0
        random 16
        for who in $(seq "$r" $((r + 14))); do
            random 60
            at=$((at + r))
            how=kill
            [ $((at % 2)) = 0 ] || how=segv
            victims="$victims $((who % 16)):$how:$at"
        done
        : >"$tap_dir/start"
        by_oshrun
        leftovers >"$left_file" 2>&1 || :
        one_judge
        kills=$((kills + $(grep -c '^dies' "$out")))
        if [ -z "$why" ]; then good=$((good + 1)); else tap_fail "$phase, job $number" "$why"; fi
    done
    tap_check "$kills deaths in $phase: the last PE has what all had, in $good of 67 jobs" test "$good:$kills" = 67:1005
}

if [ "${WSH_TEST_LONG:-0}" = 1 ]; then
    thousand alloc
    thousand coll
fi
sort -n "$tap_dir/times" | awk '{ t[NR] = $1 } END { if (NR) printf "# %d times to the news: median %.0f ms, worst %.0f ms\n", NR, t[int((NR + 1) / 2)], t[NR] }'
tap_done
