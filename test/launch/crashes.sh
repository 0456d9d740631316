#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE that crashes at any time of its start or of its traffic ends the job with 128 + signal and oshrun's one line, over
# every network: no library that libfabric loads handles the signal in its place. 400 crashes with WSH_TEST_LONG=1.
# timeout: 3000
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"
. "$top_srcdir/test/chaos/lib.sh"
crashes=20
[ "${WSH_TEST_LONG:-0}" = 1 ] && crashes=400
campaign "$crashes crashes end the job, with the right exit status" --jobs "$crashes" \
    --rows "PE SEGV,PE ABRT,PE TERM,PE BUS,PE FPE" --networks tcp,sockets,shm,mixed,efa "$@"
[ $# = 0 ] || tap_done

core_pattern=$(cat /proc/sys/kernel/core_pattern)
if [ "${WSH_TEST_VARIANT:-clang}" != clang ]; then tap_skip "a core is left" "none with $WSH_TEST_VARIANT"
elif [ "$(ulimit -Hc)" != unlimited ]; then tap_skip "a core is left" "the hard limit of ulimit -c is $(ulimit -Hc)"
elif [ "${core_pattern#"|"}" != "$core_pattern" ]; then tap_skip "a core is left" "cores go to $core_pattern"
else
    SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp
    export SHMEM_TRANSPORTS SHMEM_LIBFABRIC_PROVIDER
    cd "$tap_dir" || exit 99
    ulimit -c unlimited
    job 20000 -n 2 "$course" raise 11
    judge 139 "PE 1 .* killed by signal 11 .*core dumped"
    if [ -n "$why" ]; then tap_fail "a core is left" "$why"; else tap_ok "a core is left"; fi
fi
tap_done
