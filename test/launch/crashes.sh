#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PE that crashes at any time of its start or of its traffic ends the job with 128 + signal and oshrun's one line, over
# every network: no library that libfabric loads handles the signal in its place.
# timeout: 3000
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"
unset IPATH_NO_BACKTRACE HFI_NO_BACKTRACE HFI_BACKTRACE
SHMEM_SYMMETRIC_SIZE=16M
EFA_EMULATOR_QUIET=1
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0
TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0
export SHMEM_SYMMETRIC_SIZE EFA_EMULATOR_QUIET ASAN_OPTIONS TSAN_OPTIONS
crashes=20
[ "${WSH_TEST_LONG:-0}" = 1 ] && crashes=400
seed=${WSH_TEST_SEED:-$(date +%s)}
limit=20000
latest=600000

# crash SIGNAL MICROSECONDS BY ARGUMENTS…: one of the PEs gets the signal so long after its start.
# BY: oshrun, where the launcher keeps handlers away already; library, where its variables do not reach the PEs.
crash()
{
    sig=$1 after=$2 by=$3
    shift 3
    [ "$by" = oshrun ] && set -- "$@" "$course"
    [ "$by" = library ] && set -- "$@" env -u IPATH_NO_BACKTRACE -u HFI_NO_BACKTRACE "$course"
    job $limit "$@" timed "$sig" 1 "$after"
    judge $((128 + sig)) "PE 1 .* killed by signal $sig "
}

# over NETWORK: sets the variables that choose it, and $more to oshrun's arguments.
over()
{
    more="-n 2"
    unset SHMEM_TRANSPORTS SHMEM_LIBFABRIC_PROVIDER FI_PROVIDER
    case $1 in
        tcp) export SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=tcp ;;
        sockets) export SHMEM_TRANSPORTS=efa FI_PROVIDER=tcp,net,ofi_rxm ;;
        shm) export SHMEM_TRANSPORTS=efa SHMEM_LIBFABRIC_PROVIDER=shm ;;
        mixed) more="-n 4 --nodes-emulated 2" ;;
        efa) more="--emulate-efa -n 2" ;;
    esac
}

# one NUMBER: its network, signal, time and variables follow from the seed and the number.
one()
{
    # shellcheck disable=SC2046
    set -- "$1" $(awk -v seed="$seed" -v i="$1" -v latest=$latest 'BEGIN {
        split("tcp sockets shm mixed efa", network); split("11 6 15 7 8", sig)
        srand(seed + i); rand()
        print network[i % 5 + 1], sig[(i + int(i / 5)) % 5 + 1], int(rand() * latest), i % 2 ? "oshrun" : "library" }')
    [ "$2" = efa ] && [ -n "$no_efa" ] && return
    over "$2"
    # shellcheck disable=SC2086
    crash "$3" "$4" "$5" $more
    done_over="$done_over $2"
    [ -z "$why" ] && return
    wrong=$((wrong + 1))
    [ "$status" = 124 ] && hung=$((hung + 1))
    echo "# $2: signal $3 after $4 us, variables of the $5: exit status $status after $took ms: $why"
    tap_comment "$err"
}

no_efa=
[ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ] || no_efa="the emulator is not built (libibverbs-dev)"
case ${WSH_TEST_VARIANT:-clang} in clang) ;; *) no_efa="a preloaded library does not go with $WSH_TEST_VARIANT" ;; esac
wrong=0 hung=0 done_over=
for i in $(seq 0 $((crashes - 1))); do
    one "$i"
done
n=$(echo "$done_over" | wc -w)
echo "# seed $seed: $n crashes, $hung hung, $((n - wrong)) right:$(echo "$done_over" | tr ' ' '\n' | sort | uniq -c | tr '\n' ' ')"
tap_check "$n crashes end the job, with the right exit status" test "$wrong" = 0
[ -z "$no_efa" ] || tap_skip "crashes over emulated EFA" "$no_efa"

core_pattern=$(cat /proc/sys/kernel/core_pattern)
if [ "$(ulimit -Hc)" != unlimited ]; then tap_skip "a core is left" "the hard limit of ulimit -c is $(ulimit -Hc)"
elif [ "${core_pattern#"|"}" != "$core_pattern" ]; then tap_skip "a core is left" "cores go to $core_pattern"
else
    over tcp
    cd "$tap_dir" || exit 99
    ulimit -c unlimited
    crash 11 500000 oshrun -n 2
    [ -z "$why" ] && grep -q 'core dumped' "$tap_dir/said" || why=${why:-no core}
    if [ -n "$why" ]; then tap_fail "a core is left" "$why"; else tap_ok "a core is left"; fi
fi
tap_done
