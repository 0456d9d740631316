#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# With other hosts or a Slurm allocation, oshrun becomes srun, prterun or mpirun with its options in their words. The
# launchers here are stubs that print the command they got.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

bin=$tap_dir/bin
mkdir "$bin"
PATH=$bin:/usr/bin:/bin
for name in srun prterun mpirun; do
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho %s "$@"\necho "X=$X"\nexit 9\n' $name >"$bin/$name"
    chmod +x "$bin/$name"
done
root=
[ "$(id -u)" != 0 ] || root="--allow-run-as-root "
for name in $(env | sed -n 's/^\(\(SHMEM\|SMA\|NVSHMEM\|FI\)_[A-Z_0-9]*\)=.*/\1/p'); do unset "$name"; done

# becomes COMMAND ARGUMENTS…: what the stub prints first. Only stubs are on oshrun's PATH: this machine may have Slurm.
becomes()
{
    wanted=$1
    shift
    run_job 10 env "PATH=$bin" "$oshrun" "$@"
    if [ "$status" = 9 ] && [ "$(head -n 1 "$out")" = "$wanted" ]; then tap_ok "$wanted"
    else tap_fail "oshrun $*" "wanted $wanted"; fi
}

# refused TEXT ARGUMENTS…
refused()
{
    text=$1
    shift
    run_job 10 "$oshrun" "$@"
    if [ "$status" = 2 ] && [ "$(grep -c '' "$err")" = 1 ] && grep -qE -- "$text" "$err"; then tap_ok "refused: $text"
    else tap_fail "oshrun $*" "wanted one line with $text"; fi
}

s="srun --mpi=pmix --kill-on-bad-exit=1 --input=0 --export=ALL"
SLURM_JOB_ID=7
export SLURM_JOB_ID
becomes "$s --ntasks=4 prog a -n 3" -n 4 prog a -n 3
becomes "$s prog" prog
becomes "$s --ntasks=4 --cpu-bind=cores --label prog" -n 4 --bind core --tag-output prog
becomes "$s --ntasks=4 --cpu-bind=none --output=log.%t.out --error=log.%t.err prog" -n 4 --bind none --output-filename log prog
becomes "$s --ntasks=4 --output=dir/%t.out --error=dir/%t.err prog" -n 4 --output-filename dir/ prog
becomes "$s --ntasks=4 --nodes=2 --nodelist=a,b prog" -n 4 -H a,b prog
becomes "$s --ntasks=4 --nodes=2 --nodelist=a,b --ntasks-per-node=2 prog" -n 4 -H a:2,b:2 prog
becomes "$s --ntasks=2 prog" -x X=a,b -n 2 prog
tap_check "-x reaches the job" grep -qx 'X=a,b' "$out"
refused 'srun has no option that does what --timestamp does; leave it out, or set OSHRUN_LAUNCHER=local' -n 4 --timestamp prog
refused 'srun has no option that does what --nodes-emulated' -n 4 --nodes-emulated 2 prog
refused 'srun has no option that does what --kill-wait' -n 4 --kill-wait 5 prog
becomes "$s --ntasks=3 --distribution=arbitrary --nodelist=a,a,b prog" -n 3 -H a:2,b:1 prog
becomes "$s --ntasks=5 --distribution=arbitrary --nodelist=a,a,b,a,a prog" -n 5 -H a:2,b:1 prog
becomes "$s --distribution=arbitrary --nodelist=a,b,b,b --ntasks=4 prog" -H a,b:3 prog
run_job 10 env OSHRUN_LAUNCHER=local "$oshrun" -n 2 echo here
tap_check "OSHRUN_LAUNCHER=local stays here" test "$status:$(grep -c here "$out")" = 0:2
OSHRUN_LAUNCHER=prterun
export OSHRUN_LAUNCHER
becomes "prterun $root--map-by :OVERSUBSCRIBE -n 4 prog" -n 4 prog
OSHRUN_LAUNCHER=$bin/mpirun
becomes "mpirun $root--oversubscribe -n 4 prog" -n 4 prog
OSHRUN_LAUNCHER=frob
refused 'OSHRUN_LAUNCHER=frob: unknown; name srun, prterun, mpirun' -n 4 prog
OSHRUN_LAUNCHER=local
refused 'OSHRUN_LAUNCHER=local reaches this machine only' -H a -n 4 prog
unset OSHRUN_LAUNCHER
rm "$bin/srun"
becomes "prterun $root--map-by :OVERSUBSCRIBE -n 4 prog" -n 4 prog
unset SLURM_JOB_ID

printf '#!/bin/sh\necho srun\n' >"$bin/srun"
chmod +x "$bin/srun"
becomes "prterun $root--map-by :OVERSUBSCRIBE -n 4 --host a:2,b:1 prog" -n 4 -H a:2,b:1 prog
becomes "prterun $root--map-by :OVERSUBSCRIBE -n 4 --host a --bind-to package --output tag,timestamp,file=log prog" \
    -n 4 -H a --bind socket --tag-output --timestamp --output-filename log prog
rm "$bin/prterun"
printf '# comment\nhosta slots=2\n\nhostb:3 # more\nhostc\n' >"$tap_dir/hosts"
becomes "mpirun $root--oversubscribe -n 6 --host hosta:2,hostb:3,hostc prog" -n 6 --hostfile "$tap_dir/hosts" prog
becomes "mpirun $root--oversubscribe -n 4 --host a --bind-to hwthread --tag-output --timestamp-output --output-filename log -x X prog" \
    -n 4 -H a --bind hwthread --tag-output --timestamp --output-filename log -x X=1 prog
SHMEM_DEBUG=info
export SHMEM_DEBUG
becomes "mpirun $root--oversubscribe -n 2 --host a -x SHMEM_DEBUG prog" -n 2 -H a prog
becomes "mpirun $root--oversubscribe -n 2 --host a -x SHMEM_DEBUG prog" -n 2 -H a -x SHMEM_DEBUG prog
unset SHMEM_DEBUG
run_job 10 "$oshrun" -v -n 2 -H a prog
tap_check "-v prints the command" grep -qx "oshrun: $bin/mpirun $root--oversubscribe -n 2 --host a prog" "$err"

# explained STATUS WANTED LINE TEXT: what mpirun says and how it ends; oshrun's exit status and its line, which comes first.
explained()
{
    printf '#!/bin/sh\nprintf "%%s\\n" "%s" >&2\nexit %s\n' "$4" "$1" >"$bin/mpirun"
    run_job 10 env "PATH=$bin:/usr/bin:/bin" "$oshrun" -n 2 -H a prog
    tap_check "explained: $3" test "$status:$(head -n 1 "$err" | grep -cE "^oshrun: $3"):$(grep -c '^oshrun: ' "$err")" = "$2:1:1"
    tap_check "… and the text follows" sh -c "sed 1d '$err' | cmp -s - '$tap_dir/text'"
}
explain()
{
    printf '%s\n' "$4" >"$tap_dir/text"
    explained "$@"
}
explain 255 1 "host 'b' is not known here" 'ssh: Could not resolve hostname b: Name or service not known'
explain 255 1 "host 'b' cannot be reached by ssh: Connection refused;" 'ssh: connect to host b port 22: Connection refused'
explain 1 1 "ssh lets nobody in on host 'b'" 'me@b: Permission denied (publickey).'
explain 127 1 'a host has no prted on its PATH' 'bash: line 1: prted: command not found'
explain 1 1 'SLURM_JOB_ID is set, and mpirun finds no slurm.conf here, as in a container; set OSHRUN_LAUNCHER=local' \
    'srun: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host
srun: error: fetch_config: DNS SRV lookup failed
srun: error: _establish_config_source: failed to fetch config
srun: fatal: Could not establish a configuration source'
explain 132 127 "program '/no/prog' not found" '--------
Executable: /no/prog
Node: b'
explain 137 137 'PE 3 \(b\) was ended by signal 9' '--------
mpirun noticed that process rank 3 with PID 12 on node b exited on signal 9 (Killed).'
explain 3 3 'PE 1 exited with status 3; mpirun ends the job' '--------
mpirun detected that one or more processes exited with non-zero status
   Process name: [prterun-b-170@1,1]
   Exit code:    3'
explain 137 137 'PE 1 \(b\) was ended by signal 9' '--------
prterun noticed that process rank 1 with PID 359 on node b exited on
signal 9 (Killed).'
printf '#!/bin/sh\necho "-----" >&2; echo more >&2; exit 5\n' >"$bin/mpirun"
run_job 10 env "PATH=$bin:/usr/bin:/bin" "$oshrun" -n 2 -H a prog
tap_check "what is not known passes through" test "$status:$(tr '\n' ' ' <"$err")" = '5:----- more '

rm "$bin/mpirun"
mkdir "$tap_dir/empty"
run_job 10 env "PATH=$tap_dir/empty" "$oshrun" -n 2 -H a prog
tap_check "no launcher" grep -q 'no launcher for several machines on PATH (prterun or mpirun); install one, or set' "$err"
tap_done
