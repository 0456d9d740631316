#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs in name spaces of their own: hosts with long names; PEs of one host in different user name spaces.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"
. "$top_srcdir/test/launch/uid_lib.sh"

if unshare -u true 2>/dev/null; then
    for n in 49 50 56 64; do
        name=$(printf "%$n.${n}s" '' | tr ' ' h)
        # shellcheck disable=SC2016
        run_job 30 unshare -u sh -c 'hostname "$0" && exec "$@"' "$name" "$oshrun" -n 4 --nodes-emulated 2 "$course" hello
        tap_check "a host whose name has $n letters" test "$status" = 0 -a ! -s "$err"
    done
else
    tap_skip "a host whose name has 64 letters" "no name space of host names can be made here (unshare -u)"
fi

if unshare -U true 2>/dev/null; then
    export SHMEM_HANG_SECONDS=3
    uid_clear
    uid_pe 2 3 hello
    WSH_TEST_WRAP="unshare -U" uid_pe 1 3 hello
    uid_pe 0 3 hello
    uid_wait
    tap_check "PEs in different user name spaces: a line" sh -c \
        "grep -qE 'cannot give memory to PE [0-9] on this host: to the kernel it is user .*; set SHMEM_TRANSPORTS=efa' '$err'"
    tap_check "… within 5 s" soon 5000
    uid_clear
    uid_pe 1 2 hello
    WSH_TEST_WRAP="unshare -U --map-root-user" uid_pe 0 2 hello
    uid_wait
    if [ "$(id -u)" = 0 ]; then tap_check "PEs whose users are the same in both share memory" test "$statuses" = " 0 0"; fi
else
    tap_skip "PEs in different user name spaces" "no user name space can be made here (unshare -U)"
fi
tap_done
