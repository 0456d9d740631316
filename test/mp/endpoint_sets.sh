#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Endpoint sets: as many as asked for and as all PEs have, a progress thread for each, and one line for a mistake.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
threads=$(test_program test/mp/threads_multiple)
watcher=$(test_program test/mp/helper/progress_threads)
network="SHMEM_TRANSPORTS=efa FI_PROVIDER=tcp,net,ofi_rxm"

# has NAME WORDS…: the job ended well and a line of it holds the words.
has()
{
    name=$1
    shift
    if [ "$status" != 0 ]; then tap_fail "$name" "it failed"; return; fi
    cat "$out" "$err" >"$tap_dir/all"
    grep -q -- "$*" "$tap_dir/all" || { tap_fail "$name" "no line says '$*'"; return; }
    tap_ok "$name"
}

# shellcheck disable=SC2086
set -- env $network
run_job 60 "$@" SHMEM_LANES=3 SHMEM_DEBUG=info,TRANSPORT "$oshrun" -n 2 "$threads"
has "three sets" "3 endpoint sets, to which contexts are dealt"
# shellcheck disable=SC2016
run_job 60 "$@" SHMEM_PROGRESS=thread "$oshrun" -n 3 sh -c 'SHMEM_ENDPOINT_SETS=$((4 - PMIX_RANK)) exec "$@"' sets "$watcher"
has "PEs with 4, 3 and 2 sets work with the two that all have" "progress threads: 2"
for asked in "1 thread 1" "3 thread 3" "3 auto 1" "3 call 0"; do
    # shellcheck disable=SC2086
    set -- $asked
    # shellcheck disable=SC2086
    run_job 60 env $network SHMEM_ENDPOINT_SETS="$1" SHMEM_PROGRESS="$2" "$oshrun" -n 2 "$watcher"
    has "SHMEM_ENDPOINT_SETS=$1 SHMEM_PROGRESS=$2" "progress threads: $3"
done
run_job 20 env SHMEM_LANES=9 "$oshrun" -n 1 "$threads"
if [ "$status" != 0 ] && grep -q "SHMEM_LANES='9'" "$err"; then
    tap_ok "SHMEM_LANES=9"
else
    tap_fail "SHMEM_LANES=9" "no line names it"
fi
tap_done
