#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs of Slurm itself, on one and two nodes: they end, always; scancel and a node that dies end them soon, and nothing stays.
# timeout: 900
set -u
. "${top_srcdir:-.}/test/launch/cluster.sh"
[ "${1:-}" != node ] || cluster_node "$2"

. "$top_srcdir/test/common/tap.sh"

rounds=2
[ "${WSH_TEST_LONG:-0}" = 1 ] && rounds=25
slow=${WSH_TEST_SLOW:-1}

build_ring()
{
    awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$top_srcdir/README.md" >"$1/ring.c"
    ${CC:-cc} "-I$top_srcdir/include" -o "$1/ring" "$1/ring.c" "-L$top_builddir/.libs" -lwarpshmem
}

# What the ring of README prints with so many PEs.
ring_says()
{
    for pe in $(seq 0 $(($1 - 1))); do
        echo "PE $pe of $1 got $((100 + (pe + $1 - 1) % $1))"
    done
}

# rings PES COMMAND…: the command again and again; hung is what has not ended within 20 s.
rings()
{
    ring_says "$1" >"$tap_dir/wanted"
    shift
    hung=0 wrong=0 began=$(date +%s)
    for _ in $(seq $rounds); do
        run_job 20 "$@" "$ring"
        if [ "$status" = 124 ]; then hung=$((hung + 1))
        elif [ "$status" != 0 ] || ! sort "$out" | cmp -s - "$tap_dir/wanted"; then wrong=$((wrong + 1)); fi
        [ "$status" = 0 ] || cat "$err" >"$tap_dir/err_first"
    done
    echo "# $* ring: $rounds runs, $hung hung, $wrong wrong, $(($(date +%s) - began)) s"
    [ $((hung + wrong)) = 0 ] || cp "$tap_dir/err_first" "$err" 2>/dev/null
    tap_check "$* ring: $rounds runs" test $((hung + wrong)) = 0
}

# start_waiting COMMAND…: a job whose PEs wait for the last one, which never comes; returns once all are there.
start_waiting()
{
    : >"$out"
    "$@" "$course" stay >"$out" 2>"$err" </dev/null &
    job=$!
    for _ in $(seq 300); do
        [ "$(grep -c ready "$out")" = "$pes" ] && return 0
        sleep 0.1
    done
    return 1
}

# ended_within SECONDS: the job ends in that time, with an exit status other than 0.
ended_within()
{
    began=$(date +%s)
    for _ in $(seq $(($1 * slow * 10))); do
        kill -0 "$job" 2>/dev/null || break
        sleep 0.1
    done
    took=$(($(date +%s) - began))
    if kill -0 "$job" 2>/dev/null; then
        kill -9 "$job"
        status=124
        return 1
    fi
    wait "$job"
    status=$?
    echo "# ended after $took s, exit status $status"
    grep -a 'warpshmem: ' "$err" | tap_comment
    [ "$status" != 0 ]
}

# survived N COMMAND…: a PE dies in a collective, and the step and the others go on.
survived()
{
    pes=$1
    shift
    run_job 40 env SHMEM_ON_PE_FAILURE=continue "$@" "$survive" kill "$victim" nb8
    tap_check "PE $victim of $pes dies, $*: the others go on" \
        test "$(grep -c 'went on' "$out"):$(grep -c "PE $victim (.*) has failed: its process has ended; the others go on" "$err")" = "$((pes - 1)):1"
    tap_check "… and nothing stays" nothing_left "$survive"
}

nothing_left()
{
    for _ in $(seq 50); do
        pgrep -f "$1" >/dev/null || return 0
        sleep 0.1
    done
    pgrep -af "$1"
    return 1
}

# The others hear of it when its lease is over. The step ends when Slurm takes the node as down.
node_dies_survived()
{
    : >"$out"
    SHMEM_ON_PE_FAILURE=continue SHMEM_FAILURE_LEASE=4 SHMEM_HANG_SECONDS=30 timeout 60 \
        srun --no-kill --kill-on-bad-exit=0 -N 2 -n 4 --ntasks-per-node=2 --mpi=pmix "$cut" 3 >"$out" 2>"$err" </dev/null &
    job=$!
    for _ in $(seq 300); do
        [ "$(grep -c ready "$out")" = 4 ] && break
        sleep 0.1
    done
    cluster_kill_node
    for _ in $(seq 300); do
        [ "$(grep -c 'went on' "$out")" = 2 ] && break
        sleep 0.1
    done
    tap_check "a node dies, srun --no-kill: the PEs of the other one go on" \
        test "$(grep -c 'went on' "$out"):$(grep -c 'has failed: nothing was heard of it for too long; the others go on' "$err")" = 2:2
    kill -9 $job 2>/dev/null
    wait $job 2>/dev/null
    scancel "$(squeue -h -o %i)" 2>/dev/null
}

# What process 1 of a node has below it is all there is: a PE that stays would be seen.
no_pe_left()
{
    for _ in $(seq 50); do
        pgrep -f "$course" >/dev/null || return 0
        sleep 0.1
    done
    return 1
}

# What fences of Slurm's PMIx server cost. One that does not collect takes nothing from other hosts: it is no barrier.
fences()
{
    most=16
    [ "${WSH_TEST_LONG:-0}" = 1 ] && most="16 64"
    for pes in 2 $most; do
        run_job 20 srun -O -N 2 -n $pes --mpi=pmix "$fence"
        tap_comment "$out"
        tap_check "$pes PEs: a fence that collects takes data from other hosts" \
            grep -qE ' collecting .* [1-9][0-9]* B from other hosts' "$out"
    done
}

# published OPTIONS…: one PE of each host publishes the addresses of all of its host, compressed, wherever its PEs are.
published()
{
    run_job 40 env SHMEM_DEBUG=info srun -O -N 2 -n $pes --mpi=pmix "$@" "$course" hello
    grep -ao "addresses of this host's .*" "$err" | tap_comment
    tap_check "$pes PEs, srun $*: each host publishes one blob, of at most a fifth" \
        test "$status:$(grep -c '^hello' "$out"):$(sed -n "s/.*addresses of this host's $((pes / 2)) PEs: \([0-9]*\) bytes, of \([0-9]*\).*/\1 \2/p" "$err" |
            awk '5 * $1 <= $2' | grep -c .)" = "0:$pes:2"
}

blobs()
{
    most=16
    [ "${WSH_TEST_LONG:-0}" = 1 ] && most="16 64"
    for pes in $most; do
        published
        published -m cyclic
    done
}

# Without PMIx and PMI: the processes start by a unique id, which a file carries.
by_unique_id()
{
    # shellcheck disable=SC2016
    run_job 30 srun -N 2 -n 4 --mpi=none sh -c 'exec "$0" "$1" "$SLURM_PROCID" 4 hello' "$uid" "$cluster_dir/id.$$"
    tap_check "srun --mpi=none, a unique id" test "$status:$(grep -c '^hello' "$out")" = 0:4
    run_job 20 srun -N 2 -n 2 --mpi=none "$course" hello
    tap_check "srun --mpi=none without one: each process says what to do" \
        test "$(grep -c 'offers neither PMIx nor PMI; start with srun --mpi=pmix or --mpi=pmi2' "$err")" = 2
}

# below STATUS TEXT ARGUMENTS…: oshrun inside an allocation ends so, and one line of it says why.
below()
{
    wanted=$1 text=$2
    shift 2
    run_job 30 salloc -Q -N 2 -n 4 --ntasks-per-node=2 "$oshrun" "$@"
    tap_check "salloc oshrun $*: $wanted" test "$status:$(grep -ac '^oshrun: ' "$err"):$(grep -acE "^oshrun: .*$text" "$err")" = "$wanted:1:1"
}

oshrun_below_salloc()
{
    below 127 "program '.*/nosuch' not found" -n 2 ./nosuch
    below 3 'PE [01] \(wsn[12]\) exited with status 3; srun ends the job' -n 2 "$course" exit 3
    below 137 'PE [01] \(wsn[12]\) was ended by a signal: Killed' -n 2 "$course" raise 9
    below 1 'fewer processors than PEs' -n 100 "$course" hello
    run_job 30 salloc -Q -N 2 -n 4 "$oshrun" -n 4 -H wsn1:3,wsn2:1 sh -c 'hostname && exec "$0" hello' "$course"
    tap_check "salloc oshrun -H wsn1:3,wsn2:1" \
        test "$status:$(grep -c ^wsn1 "$out"):$(grep -c ^wsn2 "$out"):$(grep -c '^hello [0-3] of 4' "$out")" = 0:3:1:4
}

# A PE ends before the others: it has left, or ends the job.
ends_pmix() { timeout -k 2 $ends_limit srun -O -K -N 2 -n 3 --mpi=pmix "$ends" "$@"; }
ends_pmi2() { timeout -k 2 $ends_limit srun -O -N 2 -n 3 --mpi=pmi2 -K "$ends" "$@"; }
ends_none() { UID_FILE=$tap_dir/id.$ends_number timeout -k 2 $ends_limit srun -O -K -N 2 -n 3 --mpi=none sh -c 'RANK=$SLURM_PROCID WORLD_SIZE=3 exec "$0" "$@"' "$ends" "$@"; }

early_ends()
{
    . "$top_srcdir/test/launch/ends_lib.sh"
    ends_late=20 # Slurm's PMI-2 server tries for 15 s to reach a node whose tasks have ended
    # -K: the status is the highest one, also of the tasks that srun has sent SIGTERM or SIGKILL
    for by in ends_pmix ends_pmi2 ends_none; do
        ends_all $by "_exit+ exec+ exit" "137|143" "3|137|143"
    done
    ends_judge
}

# The batch scripts of packaging/slurm, as they are.
batch()
{
    PATH=$top_builddir:$PATH sbatch -Q -W -o "$out" "$top_srcdir/packaging/slurm/$2" "$ring" >/dev/null 2>"$err"
    status=$?
    ring_says "$1" >"$tap_dir/wanted"
    tap_check "sbatch $2" sh -c "[ $status = 0 ] && grep -a '^PE ' '$out' | sort | cmp -s - '$tap_dir/wanted'"
}

cancelled()
{
    pes=4
    tap_check "$1: the PEs are there" start_waiting "$@"
    scancel "$(squeue -h -o %i)"
    tap_check "$1: scancel ends it" ended_within 10
    tap_check "$1: and no line of ours is added" test "$(grep -ac 'warpshmem: ' "$err")" = 0
    tap_check "$1: no PE stays" no_pe_left
}

# Slurm's PMI-2 kills the tasks of a job that is aborted: its status is that of the PE that says so, or theirs.
aborted()
{
    run_job 20 "$@" "$course" global 7
    tap_check "$*: shmem_global_exit ends it ($status)" test "$status" = 7 -o "$status" = 137
    tap_check "$*: and no line of ours is added" test "$(grep -ac 'warpshmem: ' "$err")" = 0
    tap_check "$*: no PE stays" no_pe_left
}

# Nobody says that the node is gone: its end of the wire vanishes. PE 0, which waits for it, names the PE that it lacks;
# Slurm ends the job after SlurmdTimeout.
node_dies()
{
    pes=2
    SHMEM_HANG_SECONDS=8 # the next line would come after 16 s more
    export SHMEM_HANG_SECONDS
    tap_check "a node dies: the PEs are there" start_waiting srun -N 2 -n 2 --mpi=pmix
    cluster_kill_node
    tap_check "a node dies: the job ends within SlurmdTimeout + 10 s" ended_within 20
    tap_check "a node dies: PE 0 says whom it misses" \
        test "$(grep -ac 'warpshmem: PE 0.*PE 1' "$err"):$(grep -ac 'warpshmem: ' "$err")" = 1:1
    tap_check "a node dies: no PE stays" no_pe_left
    unset SHMEM_HANG_SECONDS
}

node_returns()
{
    cluster_start_node
    tap_check "the node comes back" cluster_await
    rounds=1
    rings 2 srun -N 2 -n 2 --mpi=pmix
}

if [ "${1:-}" = inside ]; then
    ring=$2/ring
    export SHMEM_HANG_SECONDS=8 # a job that hangs says where before it is ended
    course=$2/course
    fence=$2/fence
    uid=$2/uid
    ends=$2/ends
    survive=$2/survive
    cut=$2/cut
    cluster_start "$2" >"$2/start.log" 2>&1 || { tap_comment "$2"/*.log; tap_fail "slurmctld and two slurmd start" ""; tap_done; }
    rings 4 srun -N 1 -n 4 --mpi=pmix
    rings 2 srun -N 2 -n 2 --mpi=pmix
    rings 4 srun -N 2 -n 4 --mpi=pmix
    rings 4 srun -N 1 -n 4 --mpi=pmi2
    rings 4 srun -N 2 -n 4 --mpi=pmi2
    rings 4 srun -N 2 -n 4 --mpi=pmi2 env -u PMI_JOBID
    rings 4 salloc -Q -N 1 -n 4 "$oshrun" -n 4
    rings 4 salloc -Q -N 2 -n 4 --ntasks-per-node=2 "$oshrun" -n 4
    by_unique_id
    batch 4 one-node.sbatch
    batch 8 many-nodes.sbatch
    for script in "$top_srcdir"/packaging/slurm/*.sbatch; do
        run_job 5 sh "$script"
        tap_check "$(basename "$script") without a program" \
            sh -c "[ $status = 2 ] && grep -q '^$(basename "$script"): name .*the program: sbatch ' '$err'"
    done
    oshrun_below_salloc
    early_ends
    fences
    blobs
    cancelled srun -N 2 -n 4 --mpi=pmix
    aborted srun -N 2 -n 4 --mpi=pmi2
    victim=0 survived 4 srun --no-kill --kill-on-bad-exit=0 -N 2 -n 4 --mpi=pmix
    if tap_long "survivors of other PEs, and by PMI-2"; then
        victim=1 survived 4 srun --no-kill --kill-on-bad-exit=0 -N 2 -n 4 --mpi=pmix
        victim=3 survived 4 srun --no-kill --kill-on-bad-exit=0 -N 2 -n 4 --mpi=pmi2
    fi
    if tap_long "scancel of PMI-2 and of oshrun in an allocation"; then
        cancelled srun -N 2 -n 4 --mpi=pmi2
        cancelled salloc -Q -N 2 -n 4 "$oshrun" -n 4
    fi
    node_dies
    node_returns
    ! tap_long "survivors of a node that dies" || node_dies_survived
    tap_done
fi

need_oshrun
need_plain "a program without sanitizers does not go with the library of"
why=$(cluster_missing)
[ -z "$why" ] || tap_skip_all "$why"
for name in course cut ends fence survive uid; do cp "$(test_program test/launch/helper/$name)" "$tap_dir/$name" || exit 99; done
build_ring "$tap_dir" || exit 99
TMPDIR=$tap_dir cluster_enter "$0" inside "$tap_dir"
exit $?
