#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 64 PEs on 8 emulated hosts; with WSH_TEST_LONG=1 also 128 on 16 and 256 on 32, each within ten minutes and 16 GB, which
# are printed. tcp between hosts; however few cores there are.
# timeout: 700
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
program=$(test_program test/ep/scale)
[ "${WSH_TEST_PES_MAX:-64}" -ge 64 ] || tap_skip_all "64 PEs are more than WSH_TEST_PES_MAX=$WSH_TEST_PES_MAX"

SHMEM_LIBFABRIC_PROVIDER=tcp
SHMEM_SYMMETRIC_SIZE=64M
SHMEM_HANG_SECONDS=60
export SHMEM_LIBFABRIC_PROVIDER SHMEM_SYMMETRIC_SIZE SHMEM_HANG_SECONDS

used_mib()
{
    awk '/^MemTotal/ { all = $2 } /^MemAvailable/ { print int((all - $2) / 1024) }' /proc/meminfo
}

# The most that the machine uses until the process ends, beyond what it uses now, into a file.
watch_memory()
{
    before=$(used_mib)
    most=0
    while kill -0 "$1" 2>/dev/null; do
        now=$(($(used_mib) - before))
        [ "$now" -le "$most" ] || most=$now
        echo "$most" >"$2"
        sleep 1
    done
}

# scale PES HOSTS LIMIT
scale()
{
    WSH_TEST_HOSTS=$2
    export WSH_TEST_HOSTS
    began=$(date +%s)
    sleep "$3" &
    alarm=$!
    watch_memory $alarm "$tap_dir/memory" &
    watcher=$!
    run_job "$3" "$oshrun" --nodes-emulated "$2" -n "$1" "$program"
    kill $alarm
    wait $watcher $alarm 2>/dev/null
    memory=$(cat "$tap_dir/memory")
    tap_comment "$out" "$err"
    tap_check "$1 PEs on $2 hosts" test "$status" = 0
    echo "# took $(($(date +%s) - began)) s, $memory MiB in all"
    [ "${WSH_TEST_LONG:-0}" = 0 ] || tap_check "$1 PEs: at most 16 GB" test "$memory" -le 16384
}

scale 64 8 200
if [ "${WSH_TEST_LONG:-0}" = 1 ]; then
    scale 128 16 600
    scale 256 32 600
fi
tap_done
