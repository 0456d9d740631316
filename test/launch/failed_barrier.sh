#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A launcher's barrier that fails: shmem_init ends the job; in shmem_finalize each PE says so once, closes, and ends well.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

${CC:-cc} -shared -fPIC -o "$tap_dir/failing.so" "$top_srcdir/test/launch/helper/failing_fence.c" -ldl || exit 99
need_plain "a preloaded library does not go with"

# preloaded FENCE HOW…: the job with its FENCEth fence and all later ones failing ('' = none)
preloaded()
{
    from=$1
    shift
    job 10000 "$@" -n 2 env "LD_PRELOAD=$tap_dir/failing.so" ${from:+"FENCE_FAILS_FROM=$from"} "$course" hello
}

lines()
{
    grep -ac "warpshmem: .*$1" "$err"
}

for how in '--nodes-emulated=1' '--nodes-emulated=2'; do
    preloaded '' "$how"
    last=$(sed -n 's/^fences //p' "$err" | sort -n | tail -n 1)
    tap_check "$how: fences were counted" test "${last:-0}" -ge 3
    preloaded "$last" "$how"
    ended "$how: the barrier of shmem_finalize fails" 0 ''
    tap_check "$how: one line from each PE" test "$(lines 'PMIx: shmem_finalize: .*UNREACH'):$(lines '')" = 2:2
    tap_check "$how: the PEs did their work" test "$(grep -c '^hello . of 2$' "$out")" = 2
    preloaded $((last - 1)) "$how"
    said=$(lines 'PMIx: shmem_init: .*UNREACH') # oshrun may end the second PE before it has said so
    tap_check "$how: the barrier of shmem_init fails" test "$status:$(lines '')" = "1:$said" -a "$said" -gt 0
    tap_check "$how: nothing is left" test ! -s "$left_file"
done
tap_done
