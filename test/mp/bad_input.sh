#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Bad input is answered with one line that names it and the cure, a nonzero exit status, and no hang.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
hello=$(test_program test/mp/hello)
misuse=$(test_program test/mp/helper/misuse)

# says NAME STATUS WORDS…: the job ended with STATUS (! = any but 0), and exactly one line of the library holds all WORDS.
says()
{
    name=$1
    wanted=$2
    shift 2
    grep -E 'warpshmem:|oshrun:' "$err" >"$tap_dir/lines" || :
    library=$(grep -c 'warpshmem:' "$tap_dir/lines")
    if [ "$wanted" = '!' ] && [ "$status" = 0 ]; then tap_fail "$name" "exit status 0"; return; fi
    if [ "$wanted" != '!' ] && [ "$status" != "$wanted" ]; then tap_fail "$name" "wanted exit status $wanted"; return; fi
    case $status in 124 | 137) tap_fail "$name" "no end in time"; return ;; esac
    for word in "$@"; do
        grep -q -- "$word" "$tap_dir/lines" || { tap_fail "$name" "no line says '$word'"; return; }
    done
    if [ "$library" -gt "${lines_allowed:-1}" ]; then tap_fail "$name" "$library lines instead of one"; return; fi
    tap_comment "$tap_dir/lines"
    tap_ok "$name"
}

# One PE: one line.
run_job 20 env SHMEM_SYMMETRIC_SIZE=banana "$oshrun" -n 1 "$hello"
says "SHMEM_SYMMETRIC_SIZE=banana" '!' "SHMEM_SYMMETRIC_SIZE='banana'" "of at least 4k, such as 1G"
run_job 20 env SHMEM_SYMMETRIC_SIZE=banana "$hello"
says "SHMEM_SYMMETRIC_SIZE=banana without oshrun" '!' "SHMEM_SYMMETRIC_SIZE='banana'"
run_job 20 env SHMEM_SYMMETRIC_SIZE=900t "$oshrun" -n 1 "$hello"
says "a heap larger than memory" '!' "symmetric heap" "free" "SHMEM_SYMMETRIC_SIZE to less"
run_job 20 env SHMEM_COUNTERS=70000 "$oshrun" -n 1 "$hello"
says "SHMEM_COUNTERS=70000" '!' "SHMEM_COUNTERS='70000'" "to 65536"
for bad in 'SHMEM_SYMMETRIC_SIZE=10 use a size in bytes of at least 4k' 'SHMEM_PROXY_THREADS=99 use a whole number from 1 to 8' 'SHMEM_TEAM_MEMORY=1K use a size in bytes of at least 16k' \
    'SHMEM_ENDPOINT_SETS=5 use auto|1|2|3|4' 'SHMEM_NICS_PER_PE=9 use a whole number from 0 to 8' \
    'SHMEM_TOPOLOGY=/no.xml use a file that can be read'; do
    run_job 20 env "${bad%% *}" "$oshrun" -n 1 "$hello"
    says "${bad%% *}" '!' "${bad%%=*}='.*' is not valid; ${bad#* }"
done
run_job 20 env SHMEM_TRANSPORTS=warp9 "$oshrun" -n 1 "$hello"
says "an unknown transport" '!' "unknown transport 'warp9'" "local"
run_job 20 env SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=carrierpigeon "$oshrun" -n 1 "$hello"
says "an unknown provider" '!' "carrierpigeon" "SHMEM_LIBFABRIC_PROVIDER"
run_job 20 env SHMEM_BOOTSTRAP=telepathy "$oshrun" -n 1 "$hello"
says "an unknown bootstrap" '!' "SHMEM_BOOTSTRAP='telepathy'"
run_job 20 env SHMEM_DEBUG=banana "$oshrun" -n 1 "$hello"
says "an unknown SHMEM_DEBUG word" '!' "banana" "SHMEM_DEBUG"
run_job 20 env SHMEM_DEBUG_FILE=/nonexistent/folder/log "$oshrun" -n 1 "$hello"
says "a SHMEM_DEBUG_FILE that cannot be written" '!' "/nonexistent/folder/log"

# Several PEs make the same mistake: a line from each at most.
lines_allowed=4
run_job 20 env SHMEM_SYMMETRIC_SIZE=banana "$oshrun" -n 4 "$hello"
says "SHMEM_SYMMETRIC_SIZE=banana, 4 PEs" '!' "SHMEM_SYMMETRIC_SIZE='banana'"

lines_allowed=2 # PE 1 may say the same of PE 0
# shellcheck disable=SC2016
run_job 20 env SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" -n 2 \
    sh -c 'export FI_OFI_RXM_BUFFER_SIZE=$((8448 + PMIX_RANK * 7936)); exec "$0"' "$hello"
says "other buffers of ofi_rxm in one PE" '!' "FI_OFI_RXM_BUFFER_SIZE is .*16384" "is .*8448" "alike on all hosts"
lines_allowed=1

# What other software has set for its own use of libfabric.
lines_allowed=2
for filter in shm '^tcp,net,sockets,udp'; do
    run_job 20 env FI_PROVIDER="$filter" "$oshrun" --nodes-emulated 2 -n 2 "$hello"
    says "FI_PROVIDER=$filter" '!' "FI_PROVIDER='$filter' is set" "unset it"
done
run_job 20 env FI_PROVIDER=shm SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" --nodes-emulated 2 -n 2 "$hello"
says "FI_PROVIDER=shm SHMEM_LIBFABRIC_PROVIDER=tcp" '!' "FI_PROVIDER='shm' hides others: unset it"
run_job 20 env FI_PROVIDER=shm "$oshrun" -n 2 "$hello"
tap_check "FI_PROVIDER=shm where no network is needed" test "$status" = 0

# Wherever the files run out, in the library or in libfabric.
for files in 14 16 17 18 19 20 21 22; do
    # shellcheck disable=SC2016
    run_job 30 env SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" -n 2 \
        sh -c 'ulimit -n "$1" && exec "$2"' limit "$files" "$hello"
    if [ "$status" = 0 ]; then tap_ok "$files open files are enough"; else says "$files open files" '!' "ulimit -n"; fi
done
lines_allowed=1

run_job 20 "$oshrun" -n 0 "$hello"
says "oshrun -n 0" '!' "oshrun: .*-n"
run_job 20 "$oshrun" -n 2 ./no/such/program
says "a program that does not exist" '!' "oshrun: .*no/such/program"
run_job 20 "$oshrun" --no-such-option -n 2 "$hello"
says "an unknown option" '!' "oshrun: .*no-such-option"

# mistake NAME WORDS…: PE 0 makes it over shared memory and over tcp.
mistake()
{
    name=$1
    shift
    run_job 20 "$oshrun" -n 2 "$misuse" "$name"
    says "$name" 1 "$@"
    run_job 20 env SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" -n 2 "$misuse" "$name"
    says "$name, tcp" 1 "$@"
}

mistake pe_too_large "shmem_long_p" "PE 2 is out of range" "0 to 1"
mistake pe_negative "shmem_long_g" "PE -1 is out of range"
mistake null_dest "shmem_long_put" "NULL" "shmem_malloc"
mistake automatic_dest "shmem_long_put" "not a symmetric address" "shmem_malloc"
mistake malloc_dest "shmem_long_atomic_inc" "not a symmetric address"
mistake beyond_end "shmem_putmem" "beyond the end"
mistake misaligned_atomic "shmem_long_atomic_inc" "align"
mistake null_signal "shmem_long_put_signal" "NULL"
mistake lock_twice "shmem_set_lock" "holds the lock" "do not nest"
mistake clear_foreign_lock "shmem_clear_lock" "does not hold"
mistake automatic_lock "shmem_test_lock: lock" "not a symmetric address"
mistake invalid_ctx "shmem_ctx_long_p" "SHMEM_CTX_INVALID"
lines_allowed=2
mistake batch_twice "shmemx_batch_begin" "has begun already"
mistake queues_too_many "shmemx_queue_create" "n is not 0 to 4096"
mistake counter_made_up "shmemx_putmem_counted_nbi" "none that shmemx_counter_create has made"
mistake counter_destroyed "shmemx_counter_wait_until" "has been destroyed"
mistake counters_not_a_row "shmemx_counter_destroy" "not the n that one shmemx_counter_create"
mistake free_later_twice "shmemx_free_later" "not the start of a live symmetric allocation"
mistake free_twice "shmem_free" "not the start of a live symmetric allocation"
run_job 20 "$oshrun" -n 2 "$misuse" after_finalize
says "after_finalize" '!' "shmem_init"
tap_done
