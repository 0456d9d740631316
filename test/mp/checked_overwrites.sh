#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# With SHMEM_DEBUG=check, puts over a network to where an earlier one may not have arrived are warned of once and counted
# by routine; what a fence, another PE's answer or shared memory orders is not.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
overwrites=$(test_program test/mp/helper/overwrites)

# puts NAME CASE SETTINGS…
puts()
{
    name=$1 case=$2
    shift 2
    run_job 30 env SHMEM_DEBUG=check "$@" "$oshrun" -n 2 "$overwrites" "$case"
    grep '^warpshmem:' "$err" >"$tap_dir/lines"
}

# silent NAME CASE SETTINGS…
silent()
{
    puts "$@"
    tap_check "$1" test "$status" = 0 -a ! -s "$tap_dir/lines"
}

tcp="SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp"
# shellcheck disable=SC2086
puts "puts to one word" twice $tcp
tap_comment "$tap_dir/lines"
tap_check "puts to one word end well, with two lines of PE 0" test "$status" = 0 -a "$(grep -c 'PE 0 ' "$tap_dir/lines")" = 2 \
    -a "$(wc -l <"$tap_dir/lines")" = 2
tap_check "the first is named" grep -q 'shmem_long_p: 8 bytes at .* of PE 1 may arrive before those of an earlier shmem_long_p' \
    "$tap_dir/lines"
tap_check "all are counted by routine" grep -q ' 40 puts wrote .*(shmem_long_p 19, shmem_long_put 1, shmem_int_p 20)' \
    "$tap_dir/lines"
# shellcheck disable=SC2086
for case in fenced apart answered; do silent "$case" $case $tcp; done
silent "shared memory" twice SHMEM_TRANSPORTS=local
tap_done
