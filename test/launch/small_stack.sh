#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun and its PEs work with the smallest stacks that `ulimit -s` gives, over shared memory and over the network.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

for kib in 512 256 128 64; do
    for hosts in 1 2; do
        # shellcheck disable=SC2016
        run_job 60 bash -c 'ulimit -s "$1"; shift; exec "$@"' bash $kib \
            "$oshrun" -n 2 --nodes-emulated $hosts "$course" lines 2
        tap_check "ulimit -s $kib, $hosts hosts" \
            test "$status" = 0 -a "$(grep -cxE 'a{1000}|b{1000}' "$out")" = 4 -a ! -s "$err"
    done
done
tap_done
