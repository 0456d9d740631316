#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# With SHMEM_DEBUG=check, PEs whose collective calls do not match get both calls and both PEs in one line, before
# anybody hangs or overwrites memory; what matches passes, the collective tests among it.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
unmatched=$(test_program test/mp/helper/unmatched)

# run PATH NAME: three PEs.
run()
{
    case $1 in
        local) run_job 30 env SHMEM_DEBUG=check "$oshrun" -n 3 "$unmatched" "$2" ;;
        tcp) run_job 30 env SHMEM_DEBUG=check SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" -n 3 "$unmatched" "$2" ;;
        mixed) run_job 30 env SHMEM_DEBUG=check SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" --nodes-emulated 2 -n 3 "$unmatched" "$2" ;;
    esac
}

# mismatch NAME WORDS…: over each of $paths; one line of the library holds all WORDS.
mismatch()
{
    name=$1
    shift
    for path in $paths; do
        side met "$path" "$name" "$@"
    done
}

met() # PATH NAME WORDS…
{
    run "$1" "$2"
    path=$1 name=$2
    shift 2
    says "$name, $path" "$@"
}

says()
{
    case=$1
    shift
    grep 'warpshmem:' "$err" >"$tap_dir/lines" || :
    if [ "$status" != 1 ]; then tap_fail "$case" "wanted exit status 1"; return; fi
    if [ "$(wc -l <"$tap_dir/lines")" != 1 ]; then tap_fail "$case" "not one line"; return; fi
    for word in "$@"; do
        grep -q -- "$word" "$tap_dir/lines" || { tap_fail "$case" "no line says '$word'"; return; }
    done
    tap_comment "$tap_dir/lines"
    tap_ok "$case"
}

paths="local tcp mixed"
cure="all PEs of a team call the same collectives with equal arguments in the same order"
mismatch barrier_broadcast "shmem_barrier_all on PE 0, but shmem_long_broadcast (32 bytes .*PE_root 1) on PE 2" "$cure"
mismatch barrier_sync "shmem_barrier_all on PE 0, but shmem_sync_all on PE 2"
mismatch roots "shmem_long_broadcast (.*PE_root 0) on PE 0, but shmem_long_broadcast (.*PE_root 1) on PE 2"
mismatch of_a_team "shmem_long_collect .* on PE 1, but shmem_team_sync on PE 2"
mismatch active_set "shmem_sync on PE 0, but shmem_barrier on PE 2"
mismatch active_sizes "PE_start 0, logPE_stride 0, PE_size 3 on PE 0, but other PEs" "all PEs of a set pass the same"
paths=local
mismatch nelems "shmem_long_alltoall (24 bytes .* on PE 0, but shmem_long_alltoall (16 bytes .* on PE 2"
mismatch nothing "shmem_long_fcollect (24 bytes .* on PE 0, but shmem_long_fcollect (0 bytes.* on PE 2"
mismatch places "shmem_long_sum_reduce (.* to heap + .* on PE 0, but shmem_long_sum_reduce (.* on PE 2"
mismatch operations "shmem_int_min_reduce .* on PE 0, but shmem_int_max_reduce .* on PE 2"
mismatch strides "dst 2, sst 2) on PE 0, but .*dst 2, sst 3) on PE 2"
mismatch mallocs "shmem_malloc (128 bytes.*) on PE 0, but shmem_malloc (64 bytes.*) on PE 2"
mismatch aligns "shmem_malloc (64 bytes.*) on PE 0, but shmem_align (64 bytes.*) on PE 2"
mismatch frees "shmem_free (heap + .*) on PE 0, but shmem_free (heap + .*) on PE 2"
mismatch reallocs "shmem_realloc (.*, 4096 bytes) on PE 0, but shmem_realloc (.*, 8 bytes) on PE 2"
mismatch splits "shmem_team_split_strided (start 0, stride 1, size 2) on PE 0, but .*size 3) on PE 2"
mismatch finalize "shmem_barrier_all on PE 0, but shmem_finalize on PE 2"
mismatch active_roots "shmem_broadcast64 (.*PE_root 0) on PE 0, but shmem_broadcast64 (.*PE_root 1) on PE 2"

# Members that wait for one another in different teams, each in a collective that nobody else has come to.
crossed()
{
    run_job 6 env SHMEM_DEBUG=check SHMEM_HANG_SECONDS=1 "$oshrun" -n 3 "$unmatched" crossed
    tap_check "a hang across teams names the first call" grep -q "PE 1 .*shmem_barrier_all has waited .* PE 2" "$err"
    tap_check "a hang across teams names the second call" grep -q "PE 2 .*shmem_team_sync has waited .* PE 1" "$err"
}
side crossed

for path in local tcp mixed; do
    run $path none
    tap_check "what matches passes, $path" test "$status" = 0
done
for name in coll_active_sets coll_sizes coll_reduce_sizes coll_mixed_epochs team_many team_split_shapes malloc_many; do
    run_job 120 env SHMEM_DEBUG=check SHMEM_SYMMETRIC_SIZE=64M SHMEM_LIBFABRIC_PROVIDER=tcp \
        "$oshrun" --nodes-emulated 2 -n 4 "$(test_program test/mp/$name)"
    tap_check "$name passes" test "$status" = 0
done
tap_done
