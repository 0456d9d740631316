#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A mistake with teams or collectives ends the job with one line that names the routine and the cure.
. "${top_srcdir:-.}/test/common/tap.sh"

# mistake NAME WORDS…: exit status 1, and one line of the library that has all the words.
mistake()
{
    name=$1
    shift
    run_job 20 "$oshrun" -n 2 "$top_builddir/test/mp/helper/misuse_coll" "$name"
    grep '^warpshmem:' "$err" >"$tap_dir/lines"
    for word in "$@"; do
        grep -q -- "$word" "$tap_dir/lines" || { tap_comment "$err"; tap_fail "$name" "no line says '$word'"; return; }
    done
    tap_comment "$tap_dir/lines"
    tap_check "$name" test "$status" = 1 -a "$(wc -l <"$tap_dir/lines")" = 1
}

mistake invalid_team "shmem_team_sync" "SHMEM_TEAM_INVALID"
mistake wrong_root "shmem_long_broadcast" "PE_root"
mistake automatic_source "shmem_long_sum_reduce: source" "not a symmetric address" "shmem_malloc"
mistake null_dest "shmem_long_fcollect: dest" "NULL"
mistake stride_of_nothing "shmem_long_alltoalls" "at least 1"
mistake destroy_world "shmem_team_destroy" "predefined"
mistake mask_without_config "shmem_team_split_strided" "configuration is NULL"
mistake set_too_large "shmem_barrier" "active set"
mistake request_left_at_destroy "shmem_team_destroy" "has not been waited for" "shmemx_req_wait"
mistake request_left_at_finalize "shmem_finalize" "shmemx_long_broadcast_nb" "shmemx_req_wait"
mistake request_left_at_exit "shmem_finalize" "shmemx_long_broadcast_nb" "shmemx_req_wait"
mistake request_freed "shmemx_req_wait" "was freed" "SHMEMX_REQ_INVALID"
mistake request_null "shmemx_sync_nb" "request is NULL"
mistake request_twice "shmemx_req_wait_all" "was freed" "SHMEMX_REQ_INVALID"
mistake source_null "shmemx_long_alltoallv" "source is NULL"
mistake source_too_far "shmemx_long_alltoallv" "source_offsets"
mistake counts_differ "shmemx_long_alltoallv" "8 bytes" "dest_counts says 16"
mistake dest_too_far "shmemx_alltoallvmem: dest" "symmetric"
tap_done
