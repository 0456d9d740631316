#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun -H over ssh, by Open MPI's mpirun, on two nodes: jobs run, exit statuses are those of oshrun(1), what goes wrong is
# introduced by one line with the cure, and nothing stays.
# timeout: 300
set -u
cluster_service=ssh
. "${top_srcdir:-.}/test/launch/cluster.sh"
[ "${1:-}" != node ] || cluster_node "$2"

. "$top_srcdir/test/common/tap.sh"
long=${WSH_TEST_LONG:-0}
rounds=1
mpiexec=${WSH_TEST_HYDRA:-mpiexec.hydra}
[ "$long" = 1 ] && rounds=${WSH_TEST_ROUNDS:-50}

# job ARGUMENTS…: oshrun on both nodes.
job()
{
    run_job 40 "$oshrun" -x LD_LIBRARY_PATH "$@"
    grep -a '^oshrun: ' "$err" >"$said"
}

# What process 1 of a node has below it is all there is on it; node 2 answers through ssh.
no_pe_left()
{
    for _ in $(seq 50); do
        pgrep -f "$course" >/dev/null || $cluster_ssh wsn2 pgrep -f "[/]${course#/}" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    return 1
}

# ends STATUS TEXT ARGUMENTS…: so the job ends, with one line of oshrun that has the text (none where it is empty), before
# anything that others say.
ends()
{
    wanted=$1 text=$2
    shift 2
    job "$@"
    name="oshrun $(echo "$*" | sed "s|$tap_dir/||g")"
    if [ "$status" != "$wanted" ]; then tap_fail "$name" "wanted exit status $wanted"
    elif [ -z "$text" ] && [ -s "$said" ]; then tap_fail "$name" "wanted no line of oshrun"
    elif [ -n "$text" ] && ! { [ "$(wc -l <"$said")" = 1 ] && grep -qE -- "$text" "$said"; }; then
        tap_fail "$name" "wanted one line of oshrun with '$text'"
    elif [ -n "$text" ] && ! grep -av '^ *$' "$err" | grep -avE '^(warpshmem: |[0-9]+ total processes|.*plm:ssh: Warning)' | head -n 1 | grep -q '^oshrun: '; then
        tap_fail "$name" "others have spoken first"
    elif ! no_pe_left; then tap_fail "$name" "a PE stays"
    else
        tap_comment "$said"
        tap_ok "$name"
    fi
}

runs()
{
    for _ in $(seq $rounds); do ends 0 '' -H wsn1:2,wsn2:2 -n 4 "$course" hello; done
    tap_check "hello of each PE" test "$(grep -c '^hello [0-3] of 4$' "$out")" = 4
    ends 3 '(PE 1 exited with status 3|a PE ended by a signal or with a status that is not 0); (mpirun|prterun) ends the job' -H wsn1:1,wsn2:1 -n 2 "$course" exit 3
    [ "$long" = 1 ] || return
    ends 0 '' -H wsn1:1,wsn2:3 -n 4 "$course" again 3
    printf 'wsn1 slots=1\nwsn2 slots=1\n' >"$tap_dir/hosts.txt"
    ends 0 '' --hostfile "$tap_dir/hosts.txt" -n 2 "$course" hello
    ends 7 '' -H wsn1:1,wsn2:1 -n 2 "$course" global 7
    ends 137 'PE 1 .wsn[12]. was ended by signal 9|a PE ended by a signal' -H wsn1:1,wsn2:1 -n 2 "$course" raise 9
}

programs()
{
    ends 127 "program './nosuch' not found; give the path" -H wsn1:1,wsn2:1 -n 2 ./nosuch
    [ "$long" = 1 ] || return
    ends 127 "program 'nosuch' not found; give the path" -H wsn1:1,wsn2:1 -n 2 nosuch
    printf '#!/bin/sh\n' >"$tap_dir/plain"
    ends 126 'cannot run program .*make it executable with chmod \+x' -H wsn1:1,wsn2:1 -n 2 "$tap_dir/plain"
}

hosts()
{
    ends 1 "host 'wsn3' is not known here; check the names behind -H" -H wsn1:1,wsn3:1 -n 2 "$course" hello
    [ "$long" = 1 ] || return
    OMPI_MCA_orte_launch_agent=/none/orted PRTE_MCA_prte_launch_agent=/none/prted ends 1 'a host has no (orted|prted) on its PATH; install there the Open MPI' \
        -H wsn1:1,wsn2:1 -n 2 "$course" hello
    mv "$cluster_dir/known_hosts" "$cluster_dir/known"
    ends 1 'ssh does not know the key of a host; log in there once' -H wsn1:1,wsn2:1 -n 2 "$course" hello
    mv "$cluster_dir/known" "$cluster_dir/known_hosts"
    mv "$cluster_dir/user.key.pub" "$cluster_dir/user.pub"
    ends 1 "nobody in on host 'wsn2' without a password; put your public key" -H wsn1:1,wsn2:1 -n 2 "$course" hello
    mv "$cluster_dir/user.pub" "$cluster_dir/user.key.pub"
    cluster_kill_node
    ends 1 "host 'wsn2' cannot be reached by ssh: .*let sshd run there" -H wsn1:1,wsn2:1 -n 2 "$course" hello
}

# signalled SIGNAL STATUS: oshrun gets it once the PEs wait.
signalled()
{
    : >"$out"
    "$oshrun" -x LD_LIBRARY_PATH -H wsn1:1,wsn2:1 -n 2 "$course" stay >"$out" 2>"$err" </dev/null &
    job=$!
    for _ in $(seq 200); do
        [ "$(grep -c ready "$out")" = 2 ] && break
        sleep 0.1
    done
    kill "-$1" $job
    wait $job 2>/dev/null
    status=$?
    tap_check "SIG$1: exit status $2" test "$status" = "$2"
    tap_check "SIG$1: no PE stays on either node" no_pe_left
}

# MPICH's hydra starts processes by ssh too, and gives them PMI.
hydra()
{
    command -v "$mpiexec" >/dev/null || { tap_skip "hydra" "no mpiexec.hydra on PATH nor in WSH_TEST_HYDRA (Debian: mpich)"; return; }
    printf '#!/bin/sh\nexec %s "$@"\n' "$cluster_ssh" >"$tap_dir/ssh"
    chmod +x "$tap_dir/ssh"
    for words in "hello" "again 3"; do
        # shellcheck disable=SC2086
        run_job 40 "$mpiexec" -launcher ssh -launcher-exec "$tap_dir/ssh" -hosts wsn1,wsn2 -n 4 "$course" $words
        tap_check "hydra on two nodes: $words" test "$status:$(grep -c '^hello [0-3] of 4$' "$out")" = 0:4
    done
    run_job 40 "$mpiexec" -launcher ssh -launcher-exec "$tap_dir/ssh" -hosts wsn1,wsn2 -n 2 "$course" global 7
    tap_check "hydra on two nodes: shmem_global_exit(7)" test "$status" = 7
    tap_check "hydra: no PE stays" no_pe_left
}

if [ "${1:-}" = inside ]; then
    course=$2/course
    said=$tap_dir/said
    cluster_start "$2" >"$2/start.log" 2>&1 || { tap_comment "$2"/*.log; tap_fail "two nodes with sshd" ""; tap_done; }
    OMPI_MCA_plm_rsh_agent=$cluster_ssh
    PRTE_MCA_plm_ssh_agent=$cluster_ssh
    export OMPI_MCA_plm_rsh_agent PRTE_MCA_plm_ssh_agent
    runs
    signalled TERM 143
    tap_long "what goes wrong, hydra" || tap_done
    programs
    hydra
    signalled KILL 137
    hosts
    tap_done
fi

need_oshrun
case ${WSH_TEST_VARIANT:-clang} in
    clang) ;;
    *) tap_skip_all "the library of $WSH_TEST_VARIANT is not found through ssh" ;;
esac
why=$(cluster_missing)
[ -z "$why" ] || tap_skip_all "$why"
cp "$(test_program test/launch/helper/course)" "$tap_dir/course" || exit 99
TMPDIR=$tap_dir cluster_enter "$0" inside "$tap_dir"
exit $?
