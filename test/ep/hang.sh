#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE that waits for long inside a call says in which mode and call, for what, and for which PEs: how far their counters
# have come. After SHMEM_HANG_SECONDS, and on SIGUSR1.
# timeout: 100
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
stuck=$(test_program test/ep/stuck)

export SHMEM_HANG_SECONDS=1
run_job 30 "$oshrun" -n 3 "$stuck" dispatch low
reported "dispatch on a host" "low latency: dispatch 1 waits until its counts have come: PE 2"
run_job 30 "$oshrun" -n 3 "$stuck" combine low
reported "combine on a host" "low latency: combine 1 waits until it is in this combine: PE 2"
export SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp
run_job 30 "$oshrun" -n 2 "$stuck" dispatch low
reported "dispatch, tcp" "low latency: dispatch 1 waits until its part has come: PE 1 (0 of 1)"
run_job 30 "$oshrun" -n 2 "$stuck" combine high
reported "combine, tcp" "high throughput: combine 1 waits until its results have come: PE 1 (0 of 1)"

export SHMEM_HANG_SECONDS=0
"$oshrun" -n 2 "$stuck" dispatch high >"$out" 2>"$err" &
job=$!
sleep 1.5
kill -USR1 $job
wait $job
status=$?
reported "SIGUSR1" "high throughput: dispatch 1 waits until its part has come: PE 1 (0 of 1)"
tap_done
