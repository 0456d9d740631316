#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE that a limit ends, or that a limit leaves no memory, gets a line that names the limit and how to raise it.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

# said NAME STATUS TEXT: the last job had this exit status, and wrote one line, which matches.
said()
{
    grep -acE "$3" "$err" >"$tap_dir/n"
    tap_check "$1: exit status $2" test "$status" = "$2"
    tap_check "$1: the line" test "$(cat "$tap_dir/n")" = 1
}

# limited ULIMIT ARGUMENTS…
limited()
{
    limit=$1
    shift
    # shellcheck disable=SC2016
    run_job 60 bash -c 'ulimit $1; shift; exec "$@"' bash "$limit" "$oshrun" "$@"
}

limited "-f 64" -n 2 sh -c "exec head -c 100000 /dev/zero >$tap_dir/large"
said "RLIMIT_FSIZE" 153 'killed by signal 25 .*it made a file larger than .ulimit -f. allows \(64 KiB\); raise that'
limited "-f 64" -n 2 "$course" hello
tap_check "no heap within ulimit -f: exit status" test "$status" = 1
tap_check "no heap within ulimit -f: the line" \
    grep -aqE 'no symmetric heap of [0-9]+ MiB \(ftruncate: .ulimit -f. is less; raise it\)' "$err"
limited "-v 2000000" -n 1 env SHMEM_SYMMETRIC_SIZE=1G "$course" hello
tap_check "no heap within ulimit -v" \
    grep -aqE 'no symmetric heap of [0-9]+ MiB \(mmap: .*; raise .ulimit -v., which the heaps of all PEs' "$err"
if [ "$(cat /proc/sys/vm/nr_hugepages 2>/dev/null)" = 0 ]; then
    run_job 30 env SHMEM_HUGE_PAGES=on "$course" hello
    tap_check "no huge pages" grep -aqE 'no symmetric heap of .*; reserve huge pages \(sysctl vm.nr_hugepages=…\), or set SHMEM_HUGE_PAGES=auto' "$err"
else
    tap_skip "no huge pages" "this machine has some"
fi
run_job 30 env SHMEM_SYMETRIC_SIZE=1G SHMEM_CC=cc "$oshrun" -n 2 "$course" again 2
tap_check "a setting that is misspelt: one line of PE 0" \
    test "$status:$(grep -c 'warpshmem: ' "$err"):$(grep -cE 'PE 0 .*warning: SHMEM_SYMETRIC_SIZE is no setting of this library and is not read; is it SHMEM_SYMMETRIC_SIZE' "$err")" = 0:1:1
run_job 30 env SHMEM_FOO=1 SHMEM_BACKTRACES=gdb NVSHMEM_SYMETRIC_SIZE=1G NVSHMEM_PREFIX=/opt "$oshrun" -n 2 "$course" hello
grep 'is no setting of this library and is not read; ' "$err" | sed 's/.*warning: //' | sort >"$tap_dir/lines"
tap_check "settings that are none, of others and of NVSHMEM: a line each" test "$status:$(cut -d ';' -f 1 "$tap_dir/lines" | cut -d ' ' -f 1 |
    tr '\n' ' ')" = "0:NVSHMEM_SYMETRIC_SIZE SHMEM_BACKTRACES SHMEM_FOO "
limited "-S -t 1" -n 1 sh -c 'while :; do :; done'
said "RLIMIT_CPU" 152 'killed by signal 24 .*it ran longer than .ulimit -t. allows \(1 s\); raise that'
run_job 60 "$oshrun" -n 2 sh -c 'kill -9 $$'
said "another's SIGKILL has no such cause" 137 'killed by signal 9 \(Killed\); ending job$'

# A memory cgroup of 100 MiB, of either version.
group=
for folder in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    mkdir "$folder/wsh-limits.$$" 2>/dev/null || continue
    group=$folder/wsh-limits.$$
    for file in memory.limit_in_bytes memory.max; do
        [ -e "$group/$file" ] && echo $((100 << 20)) >"$group/$file" && break 2
    done
    rmdir "$group"
    group=
done
if [ -z "$group" ]; then
    tap_skip "memory cgroup" "no memory cgroup can be made here"
    tap_done
fi
trap 'rmdir "$group"; rm -rf "$tap_dir"' EXIT

# grouped ARGUMENTS…
grouped()
{
    # shellcheck disable=SC2016
    run_job 60 sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$oshrun" "$@"
}

grouped -n 2 tail /dev/zero
said "the kernel's kill" 137 \
    'killed by signal 9 .*most likely by the kernel, for lack of memory, the memory cgroup allows 100 MiB; raise that \(srun'
for mib in 200 60; do
    SHMEM_SYMMETRIC_SIZE=256M grouped -n 2 "$course" malloc $mib
    tap_check "shmem_malloc of $mib MiB, twice: exit status" test "$status" = 0
    tap_check "shmem_malloc of $mib MiB, twice: NULL" test "$(grep -c 'has NULL' "$out")" = 2
    tap_check "shmem_malloc of $mib MiB, twice: the line" \
        grep -aqE 'no memory for [0-9]+ MiB of symmetric heap: of the 100 MiB that the memory cgroup allows [0-9]+ MiB are left; raise' "$err"
done
SHMEM_SYMMETRIC_SIZE=256M grouped -n 2 "$course" malloc 4
tap_check "what fits is given" test "$status" = 0 -a "$(grep -c 'has memory' "$out")" = 2 -a ! -s "$err"

# The network pins the whole heap at once.
if [ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ]; then
    echo $((400 << 20)) >"$group/$file"
    SHMEM_SYMMETRIC_SIZE=1G grouped -n 1 --emulate-efa=minimal "$course" hello
    said "a heap that is pinned" 1 \
        'pins the symmetric memory: [0-9]+ MiB are needed, and of the 400 MiB that the memory cgroup allows [0-9]+ MiB are left; raise'
else
    tap_skip "a heap that is pinned" "the emulator is not built (libibverbs-dev)"
fi
tap_done
