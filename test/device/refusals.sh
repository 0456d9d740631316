#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A device call that cannot be executed ends the job with exit status 1 and one line: routine, argument, reason.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
[ -e /dev/nvidiactl ] || tap_skip_all "no NVIDIA GPU on this machine"
SHMEM_DEVICE_SYMMETRIC_SIZE=${SHMEM_DEVICE_SYMMETRIC_SIZE:-64M}
export SHMEM_DEVICE_SYMMETRIC_SIZE

# refused NAME PATTERN [ENVIRONMENT…]: exit status 1 ($exits), and one line of the library that matches
exits=1
refused()
{
    name=$1
    pattern=$2
    shift 2
    run_job 60 env "$@" "$oshrun" -n 2 "$top_builddir/test/device/helper/misuse" "$name"
    if [ "$status" = 77 ]; then
        tap_skip "$name" "no GPU that CUDA can use"
        return
    fi
    tap_check "$name: exit status $exits" test "$status" = $exits
    tap_check "$name: one line says it" test "$(cat "$out" "$err" | grep -c 'in a kernel')" = 1
    tap_check "$name: it matches $pattern" grep -qE "$pattern" "$out" "$err"
    tap_check "$name: nothing went on" sh -c "! grep -q 'went on' '$out'"
}

refused pe 'shmem_int_p: dest.*PE 2'
refused pe_negative 'shmem_putmem_warp: dest.*PE -1'
refused address 'shmem_int_put_block: dest.*symmetric'
refused length 'shmem_getmem: source.*1099511627776 bytes'
refused host_atomic 'shmem_int_atomic_inc: dest.*host memory'
refused host_add 'shmem_int_put_signal_warp.*host memory'
refused context 'shmem_ctx_int_p.*context'
refused scratch 'shmemx_putmem_bulk_warp.*scratch of 16 bytes'
refused stride 'shmem_int_iput: dest.*stride'
refused misaligned 'shmem_int_p: dest.*multiple of 4' SHMEM_DEBUG=check
refused null 'shmem_putmem.*NULL' SHMEM_DEBUG=check
refused cmp 'shmem_int_wait_until: ivar' SHMEM_DEBUG=check
refused sig_op 'shmem_int_put_signal' SHMEM_DEBUG=check
refused counts 'shmemx_alltoallvmem_block.*PE 0 one side has 3 bytes.*expects 0'
refused wait_address 'shmem_int_wait_until: ivar.*symmetric' SHMEM_DEBUG=check
exits=3
refused exit 'shmem_global_exit.*ends with status 3'
tap_done
