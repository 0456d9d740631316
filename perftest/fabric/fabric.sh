#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The fabric tests over tcp, shm and the emulated EFA device, with one NIC and with several and every policy: right data
# in every row, every format, and one clear line for bad options.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
need_oshrun
EFA_EMULATOR_QUIET=1
export EFA_EMULATOR_QUIET
short='-n 2 -w 1 -k 1'
for name in $(env | sed -n 's/^\(FI_[A-Z_0-9]*\)=.*/\1/p'); do unset "$name"; done

libfabric=$(test_program perftest/fabric/libfabric)

# right NAME ROWS: the last job's table has so many rows, none of them with wrong data.
right()
{
    if [ "$status" = 77 ]; then tap_skip "$1" "$(sed -n 's/^.*skip: //p' "$err" | head -n 1)"
    elif [ "$status" != 0 ] || grep -q WRONG "$out"; then tap_fail "$1" "wrong data, or no end"
    elif [ "$(grep -vc '^#' "$out")" != "$2" ]; then tap_fail "$1" "wanted $2 rows"
    else tap_ok "$1"; fi
}

# over WORD: its words for oshrun and for the programs.
over()
{
    case $1 in
        tcp | shm) launch="" provider="-p $1" ;;
        efa) launch='--emulate-efa=p5en' provider='-p efa' ;;
        efa-direct) launch='--emulate-efa=p5en' provider='-p efa-direct' ;;
        *) launch="--emulate-efa=p4d" provider="" ;;
    esac
}

paths='tcp shm'
if [ ! -e "$top_builddir/emulator/.libs/libefa-emulator.so" ]; then
    tap_skip "the emulated device" "the emulator is not built (libibverbs-dev)"
else
    case ${WSH_TEST_VARIANT:-clang} in
        clang) paths='tcp shm efa efa-direct unnamed' ;;
        *) tap_skip "the emulated device" "a preloaded library does not go with $WSH_TEST_VARIANT" ;;
    esac
fi
for path in $paths; do
    over "$path"
    # shellcheck disable=SC2086
    {
        run_job 60 "$oshrun" $launch -n 2 "$libfabric" sendrecv $short -W 8 $provider -s 8,5000,300000
        right "sendrecv, $path" 12
        [ "$status" != 77 ] || continue
        run_job 60 "$oshrun" $launch -n 2 "$libfabric" write $short -W 8 $provider -s 8,5000,300000
        right "write, $path" 12
        run_job 60 "$oshrun" $launch -n 2 "$libfabric" limit $short -W 8 $provider -s 8,5000,300000
        right "limit, $path" 13
        run_job 60 "$oshrun" $launch -n 3 "$libfabric" all2all $short $provider -s 8,5000,300000
        right "all2all of 3, $path" 6
    }
    case $path in tcp | shm) continue ;; esac
    for policy in split roundrobin; do
        nics="--nics 4 --policy $policy -s 8,600001"
        # shellcheck disable=SC2086
        {
            run_job 60 "$oshrun" $launch -n 2 "$libfabric" sendrecv $short -W 8 $provider $nics
            right "sendrecv, $path, 4 NICs, $policy" 8
            run_job 60 "$oshrun" $launch -n 2 "$libfabric" write $short -W 8 $provider $nics
            right "write, $path, 4 NICs, $policy" 8
            run_job 60 "$oshrun" $launch -n 4 "$libfabric" all2all $short $provider $nics
            right "all2all of 4, $path, 4 NICs, $policy" 4
        }
    done
done
case $paths in *unnamed*)
    run_job 60 "$oshrun" --emulate-efa=p4d -n 2 "$libfabric" write -n 2 -w 0 -k 1 -s 8 -m write --nics all --policy split
    tap_check "without a name: all NICs that say their speed" grep -q ', efa (efa[^)]*), 4 NICs, split' "$out"
    tap_check "with the share of the bus" sh -c "tail -n 1 '$out' | awk '{ exit !(\$10 ~ /^[0-9.]+\$/) }'"
    # More immediates than a completion queue holds: the target's answers hold the writer back.
    run_job 100 "$oshrun" --emulate-efa=p5en -n 2 "$libfabric" write -p efa -n 1 -w 0 -k 200 -W 64 -s 8 \
        -m write_imm_window
    right "12,800 writes with immediate data" 1 ;;
esac

run_job 20 "$oshrun" -n 2 "$libfabric" write -n 2 -w 0 -k 1 -s 8 -p tcp --json "$tap_dir/json" --csv "$tap_dir/csv"
tap_check "CSV has all rows" test "$(grep -c '^write,2,tcp[^,]*,1,single,.*,yes$' "$tap_dir/csv")" = 4
tap_check "JSON has them too" test "$(grep -c '"cpu_ns": .*"right": true' "$tap_dir/json")" = 4
run_job 20 "$oshrun" -n 2 "$libfabric" write -p nothing
tap_check "an unknown provider: exit status 77, one line" \
    sh -c "[ $status = 77 ] && [ \$(grep -c '^write: skip: ' '$err') = 1 ]"
run_job 20 "$oshrun" -n 1 "$libfabric" write
tap_check "alone: exit status 2" sh -c "[ $status = 2 ] && grep -q 'needs at least 2 processes' '$err'"
for bad in '--nics 0' '--nics' '--policy=some' '-m nothing' '-n 1001' '--nonsense' '-b 1k -e 8'; do
    # shellcheck disable=SC2086
    run_job 20 "$oshrun" -n 2 "$libfabric" write $bad
    tap_check "$bad: exit status 2, one line" sh -c "[ $status = 2 ] && [ \$(grep -c '^write: ' '$err') = 1 ]"
done
for program in sendrecv write limit all2all; do
    run_job 20 "$libfabric" $program --help
    tap_check "$program --help" sh -c "[ $status = 0 ] && grep -q -- '--policy P' '$out'"
done
for bad in '' nothing '-s 8'; do
    # shellcheck disable=SC2086
    run_job 20 "$libfabric" $bad
    tap_check "libfabric ${bad:-alone}: exit status 2, one line" sh -c "[ $status = 2 ] && [ \$(grep -c '^libfabric: ' '$err') = 1 ]"
done
tap_done
