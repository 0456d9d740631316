#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Of a PE that crashes oshrun prints the routine and the program's line; without oshrun's folder the PE does. The status is
# that of the signal, and handlers of the program stay.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
[ "${WSH_TEST_VARIANT:-clang}" = clang ] || tap_skip_all "$WSH_TEST_VARIANT prints its own"
crasher=$(test_program test/launch/helper/crasher)
source=$top_srcdir/test/launch/helper/crasher.c
ulimit -c 0
unset SHMEM_BACKTRACE

# at LABEL: "crasher.c:42", of the line with that label; where addr2line or -g is missing any address in the program.
at()
{
    if command -v addr2line >/dev/null; then
        echo "crasher[.]c:$(grep -n "LINE $1 " "$source" | cut -d : -f 1)"
    else
        echo "crasher"
    fi
}

# crashed NAME STATUS PATTERN HOW [WORD…]: the words go before the program. One line of the crash, and the status.
crashed()
{
    name=$1 wanted=$2 pattern=$3 how=$4
    shift 4
    run_job 30 "$@" "$crasher" "$how"
    tap_check "$name" test "$status:$(grep -acE ' crashed (by SIG[A-Z]+ )?' "$err"):$(grep -acE -- "$pattern" "$err")" = "$wanted:1:1"
}

pe="oshrun: PE 1 crashed"
crashed "a store to nowhere" 139 "^$pe at address 0x0 in store [(]$(at store)[)], called by crash [(].*, main [(]" store "$oshrun" -n 2
crashed "a division by zero" 136 "^$pe in divide [(]$(at divide)[)], called by crash" divide "$oshrun" -n 2
crashed "abort" 134 "^$pe in abort [(]libc[^)]*[)], called by give_up [(]$(at give_up)[)]" abort "$oshrun" -n 2
crashed "an instruction that is none" 132 "^$pe in crash [(]$(at trap)[)], called by main" trap "$oshrun" -n 2
crashed "memory of a file that is too short" 135 "^$pe at address 0x[0-9a-f]+ in beyond [(]$(at beyond)[)]" beyond "$oshrun" -n 2
crashed "a stack that is too deep" 139 "^$pe at address 0x[0-9a-f]+ in deep [(]crasher[^)]*[)]" deep "$oshrun" -n 2
crashed "a call of no code" 139 "^$pe at address 0x0 in code of no file, called by jump [(]$(at jump)[)]" jump "$oshrun" -n 2
crashed "a call of what is no address, which the unwinder reads" 139 "^$pe at address 0x10 in code of no file, called by jump [(]$(at jump)[)]" wild "$oshrun" -n 2
crashed "… by a PE that prints itself" 139 "^warpshmem: PE 0 .*: crashed by SIGSEGV at address 0x10 in code of no file, called by jump" wild env
crashed "a thread of the library" 139 "^$pe in " library env SHMEM_PROGRESS=thread SHMEM_TRANSPORTS=efa "$oshrun" -n 2
crashed "another thread" 139 "^$pe at address 0x0 in store [(]$(at store)[)], called by other_thread" thread "$oshrun" -n 2
crashed "a signal that was sent" 139 "^$pe in .*kill" sent "$oshrun" -n 2
crashed "a PE that a script starts" 139 "^$pe at address 0x0 in store" store "$oshrun" -n 2 sh -c '"$@"; exit $?' sh
put="^$pe at address 0x10 in shmem_int_put [(]libwarpshmem[^)]*[)], called by put [(]$(at put)[)], crash [(]"
crashed "a routine of the library, local" 139 "$put" put "$oshrun" -n 2
crashed "… over the network" 139 "$put" put env SHMEM_TRANSPORTS=efa "$oshrun" -n 2
crashed "… between hosts" 139 "$put" put "$oshrun" -n 2 --nodes-emulated 2
crashed "… over the emulated EFA" 139 "$put" put "$oshrun" --emulate-efa -n 2
if [ -e "$top_builddir/test/fake_cuda/libcuda.so.1" ]; then
    crashed "… with a GPU and its proxy" 139 "$put" put env LD_LIBRARY_PATH="$top_builddir/test/fake_cuda:${LD_LIBRARY_PATH:-}" \
        CRASHER_DEVICE=1 SHMEM_DEVICE_SYMMETRIC_SIZE=16M "$oshrun" -n 2 --nodes-emulated 2
else
    tap_skip "… with a GPU and its proxy" "no driver without a GPU was built"
fi
crashed "one PE, which prints itself" 139 "^warpshmem: PE 0 .*: crashed by SIGSEGV at address 0x0 in store [(]$(at store)[)]" store env
. "$top_srcdir/test/launch/uid_lib.sh"
uid_start 2 crash 0 1
uid_wait
tap_check "a PE of a unique id, which prints itself" \
    test "$statuses:$(grep -acE '^warpshmem: PE 1 .*: crashed by SIGSEGV in .*called by end [(]' "$err"):$(grep -ac ' crashed ' "$err")" = " 139 1:1:1"
run_job 30 env SHMEM_BACKTRACE=none "$oshrun" -n 2 "$crasher" store
tap_check "SHMEM_BACKTRACE=none: only how to have a core" \
    test "$status:$(grep -ac ' crashed ' "$err"):$(grep -ac 'for its stack run it again after' "$err")" = 139:0:1
for how in own early; do
    run_job 30 "$oshrun" -n 2 "$crasher" $how
    tap_check "a handler of the program, set $how" \
        test "$status:$(grep -ac ' crashed ' "$err"):$(grep -c 'own handler' "$out")" = 139:0:1
done
run_job 30 "$oshrun" -n 2 "$crasher" after
tap_check "after shmem_finalize the signal is the program's" test "$status:$(grep -ac ' crashed ' "$err")" = 139:0
run_job 30 env SHMEM_BACKTRACE=dbx "$crasher" store
tap_check "a word that is none" grep -aq 'SHMEM_BACKTRACE.*execinfo' "$err"
if ! command -v gdb >/dev/null; then tap_skip "gdb" "no gdb"
else
    run_job 60 env SHMEM_BACKTRACE=gdb "$oshrun" -n 2 "$crasher" store
    if grep -aq 'ptrace: Operation not permitted' "$err"; then tap_skip "gdb" "no process may be traced here"
    else tap_check "gdb: its own text too" test "$status:$(grep -aEc '#[0-9]+ .*store [(][)] at .*crasher.c' "$err")" = 139:1; fi
fi
tap_done
