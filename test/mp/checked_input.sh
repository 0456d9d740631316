#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# With SHMEM_DEBUG=check, what the specification leaves undefined is answered with one line that names routine, argument
# and cure; and nothing that is allowed is.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
unchecked=$(test_program test/mp/helper/unchecked)

# mistake NAME WORDS…: PE 0 makes it over shared memory and over tcp; one line of the library holds all WORDS.
mistake()
{
    name=$1
    shift
    run_job 20 env SHMEM_DEBUG=check "$oshrun" -n 2 "$unchecked" "$name"
    says "$name" "$@"
    run_job 20 env SHMEM_DEBUG=check SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp "$oshrun" -n 2 "$unchecked" "$name"
    says "$name, tcp" "$@"
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

mistake overlap_put "shmem_long_put: dest and source overlap"
mistake overlap_get "shmem_long_get_nbi: dest and source overlap"
mistake overlap_ptr "shmem_long_put: dest and source overlap"
mistake overlap_strided "shmem_long_iput: dest and source overlap"
mistake overlap_blocks "shmem_long_ibget: dest and source overlap"
mistake overlap_signal "shmem_long_put_signal: two arguments overlap" "use memory apart"
mistake overlap_fetch "shmem_long_atomic_fetch_nbi: dest and source overlap"
mistake overlap_alltoallv "shmemx_long_alltoallv_nb: dest and source overlap" "use memory apart"
mistake overlap_counts "shmemx_alltoallvmem_packed_nelems_nb: two arguments overlap" "use memory apart"
mistake overlap_outputs "shmemx_alltoallvmem_packed_nelems_nb: two arguments overlap"
mistake overlap_places "shmemx_long_alltoallv_nb: two arguments overlap"
mistake overlap_indices "shmem_long_test_some: two arguments overlap"
mistake misaligned_put "shmem_int_p: .* is not aligned to its type's 4 bytes"
mistake misaligned_size "shmem_put128: .* is not aligned to its type's 16 bytes"
mistake endless "shmem_long_put: .* elements of 8 bytes are more than memory holds"
mistake destroyed_ctx "shmem_ctx_long_p: ctx .* has been destroyed"
mistake private_ctx "shmem_ctx_quiet: ctx is private to another thread" "without SHMEM_CTX_PRIVATE"
mistake foreign_thread "shmem_long_p: called by another thread" "SHMEM_THREAD_FUNNELED" "shmem_init_thread"
mistake foreign_team "shmem_team_create_ctx: team .* is no team"
mistake unknown_option "shmem_ctx_session_start: .* SHMEM_CTX_SESSION_"
for path in local tcp; do
    if [ $path = local ]; then set --; else set -- SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp; fi
    run_job 20 env SHMEM_DEBUG=check "$@" "$oshrun" -n 2 "$unchecked" none
    tap_check "what is allowed passes, $path" test "$status" = 0
done
tap_done
