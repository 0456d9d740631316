#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shmem_global_exit ends all PEs, wherever they are, within 3 s, with its status, and what was printed comes out.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
exits=$(test_program test/mp/helper/exits)

# ends NAME STATUS
ends()
{
    left=$(pgrep -f "^$exits" | wc -l)
    if [ "$status" != "$2" ]; then tap_fail "$1" "wanted exit status $2"
    elif [ "$left" != 0 ]; then tap_fail "$1" "$left processes left"
    elif ! grep -q 'last words' "$out"; then tap_fail "$1" "output was lost"
    else tap_ok "$1"
    fi
}

for pes in 1 2 4; do
    run_job 3 "$oshrun" -n $pes "$exits" 7
    ends "status 7, $pes PEs" 7
done
run_job 3 "$oshrun" -n 4 "$exits" 0 2
ends "status 0 by PE 2" 0
run_job 3 "$oshrun" -n 4 "$exits" 255 3
ends "status 255 by PE 3" 255
run_job 3 "$exits" 7
ends "status 7 without oshrun" 7
export SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp
run_job 4 "$oshrun" -n 4 "$exits" 7 1
ends "status 7 by PE 1, tcp" 7
tap_done
