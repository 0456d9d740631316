#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kernels that post to NICs (emulated ones; a thread of the CPU plays the kernel) when something is wrong. Where they cannot,
# SHMEM_GDA=on says in one line what is missing and its cure, and the default goes by the proxy. A completion with an error, a
# peer that dies, a watcher that has ended or does not run: the job ends with a line, leaves no process, and a new one
# runs. A watcher that stands still for less than a queue is long delays nothing but the notes.
# timeout: 300
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/mp/gda_lib.sh"
fault=$(test_program test/mp/helper/gda_fault)

# says NAME LINE PROFILE ENVIRONMENT…: PE 0 ends with that line, and no other error.
says()
{
    name=$1 line=$2 nics=$3
    shift 3
    gda_job 60 "$nics" env "$@" "$fault" works
    tap_check "$name: one line" test "$status $(grep -c 'PE 0 .*SHMEM_GDA' "$err") $(grep -c "PE 0 .*$line" "$err")" = '77 1 1'
    grep 'PE 0 .*SHMEM_GDA' "$err" | sed 's/^/# /'
}

fault()
{
    gda_job 60 p5en "$fault" "$1"
    tap_comment "$out" "$err"
}

# ends MODE LINE: with that line, and no process of it is left.
ends()
{
    fault "$1"
    tap_check "$1: the job ends" sh -c "[ $status != 0 ] && [ $status -lt 124 ] || [ $status = 137 ]"
    tap_check "$1: one line" test "$(grep -c "$2" "$err")" = 1
    tap_check "$1: nothing is left" sh -c "! ps -eo pid,args | grep -v grep | grep -q '$fault $1'"
}

fault works
tap_check "where kernels can post they do" sh -c "[ $status = 0 ] && grep -q 'works: all is there' '$out'"
fault held
tap_check "a watcher that stands still: all arrives, nothing is noted" grep -q 'held: all 4095 arrived, 0 noted' "$out"
tap_check "a watcher that goes on: all is noted" sh -c "[ $status = 0 ] && grep -q 'held: all 4095 noted' '$out'"

run_job 60 env EFA_EMULATOR_QUEUE=64 EFA_EMULATOR_FAULTS='drop 5% late 2ms' \
    "$oshrun" --emulate-efa=p5en --nodes-emulated 2 -n 2 "$fault" works
tap_check "a short queue goes on while some of its requests take long" \
    sh -c "[ $status = 0 ] && grep -q 'works: all is there' '$out'"
ends key 'PE 0 .*put to PE 1 over .*, posted by a kernel, failed: .*(code 7); is all of it in symmetric memory?'
ends killed 'PE 1 .*killed by signal 9'
fault works
tap_check "a new job after that" test "$status" = 0
ends ended 'PE 0 .*the watcher of queues, .* has ended before shmem_finalize'
SHMEM_HANG_SECONDS=2
export SHMEM_HANG_SECONDS
ends stopped 'PE 0 .*the watcher of queues .*, has not run for 2'
SHMEM_HANG_SECONDS=20

"$oshrun" --emulate-efa=p5en --nodes-emulated 2 -n 2 "$fault" stopped >"$out" 2>"$err" &
job=$!
sleep 4
kill -USR1 $job
sleep 1
kill -TERM $job
wait $job
tap_check "SIGUSR1: who waits says for what" \
    grep -q 'PE 0 .*shmem_quiet has waited .* 4095 requests of kernels in queue 0 of NIC 0' "$err"
tap_check "SIGUSR1: the other PE's watcher tells" grep -q 'PE 1 .*kernels have posted 0 requests to [0-9]* queues' "$err"
tap_comment "$err"

cannot='SHMEM_GDA=on: kernels cannot post to NICs: '
says "p5" "$cannot.*does not say where its queues lie.*p5en or p6 instances and the EFA driver" p5
says "the GPU does not reach the NIC" "$cannot.*PeerMappingOverride=1" p5en FAKE_CUDA_FAIL=cuMemHostGetDevicePointer_v2=801
says "no proxy" "$cannot.*SHMEM_PROXY=off" p5en SHMEM_PROXY=off
says "another provider" "$cannot.*the NICs are .*, not EFA" p5en SHMEM_LIBFABRIC_PROVIDER=tcp
says "too many queues" 'SHMEM_GDA_QUEUES=33: there may be 1, 2, 4, 8, 16 or 32' p5en SHMEM_GDA_QUEUES=33
says "three queues" 'SHMEM_GDA_QUEUES=3: there may be 1, 2, 4, 8, 16 or 32' p5en SHMEM_GDA_QUEUES=3
run_job 100 env SHMEM_GDA_QUEUES=32 EFA_EMULATOR_NICS=0 "$oshrun" --emulate-efa=p5en --nodes-emulated 2 -n 10 "$fault" works
tap_check "beyond the NIC's share" test \
    "$(grep -c 'PE 0 .*SHMEM_GDA_QUEUES=32: a PE may have at most 16 here, where 5 PEs share 1 NICs with 256' "$err")" = 1
run_job 100 env SHMEM_GDA_QUEUES=32 SHMEM_GDA_INLINE=on EFA_EMULATOR_NICS=0 \
    "$oshrun" --emulate-efa=p5en --nodes-emulated 2 -n 8 "$fault" works
tap_check "values that are asked for, and no queue pair is left" test \
    "$(grep -c "PE 0 .*SHMEM_GDA_INLINE=on: the PE's share of queue pairs is used up" "$err")" = 1
gda_job 60 p5 env SHMEM_GDA=auto SHMEM_DEBUG=info,PROXY "$fault" works
tap_check "by default all goes by the proxy" \
    sh -c "[ \$(grep -c 'PE 0 .*kernels do not post to NICs themselves: .*p5en or p6' '$err') = 1 ]"
tap_done
