#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Another user of the machine, who knows the ports of a PE and the layout of its memory and messages but not the secret of
# the job, neither changes nor reads memory, nor ends the job, nor makes it stand still: forged writes, reads and
# messages, a flood, connections that send rubbish or nothing. Prints what that costs.
# timeout: 900
set -u
. "${top_srcdir:-.}/test/common/tap.sh"

[ "$(id -u)" = 0 ] || tap_skip_all "only root can run the attacker as another user"
command -v setpriv >/dev/null || tap_skip_all "no setpriv (apt-get install util-linux)"
attacked=$(test_program test/mp/helper/attacked)
writes=100 messages=300 flood=20000 raw=100
[ "${WSH_TEST_LONG:-0}" = 1 ] && writes=10000 messages=10000 flood=1000000 raw=1000

# The build folder may lie where others cannot read.
chmod 755 "$tap_dir"
cp "$(test_program test/mp/helper/stranger)" "$tap_dir/stranger"
stop=$tap_dir/stop

# ports PID: addresses and ports where that process listens. /proc/net/tcp has them in hexadecimal, the bytes of an address
# in the processor's order; 0A means that it listens.
ports()
{
    for fd in /proc/"$1"/fd/*; do
        inode=$(readlink "$fd" | sed -n 's/socket:\[\(.*\)\]/\1/p')
        [ -z "$inode" ] || awk -v i="$inode" '$10 == i && $4 == "0A" { print $2 }' /proc/net/tcp
    done | sort -u | sed 's/\(..\)\(..\)\(..\)\(..\):\(.*\)/0x\4 0x\3 0x\2 0x\1 0x\5/' | while read -r a b c d port; do
        printf '%d.%d.%d.%d %d\n' "$a" "$b" "$c" "$d" "$port"
    done
}

# attack NAME PROVIDER KIND N: a job of 2 PEs over the provider works while the stranger does so at PE 0.
attack()
{
    rm -f "$stop"
    : >"$out"
    env SHMEM_TRANSPORTS=efa "SHMEM_LIBFABRIC_PROVIDER=$2" SHMEM_DEBUG=info,TRANSPORT \
        timeout -k 10 "${WSH_TEST_LIMIT:-600}" "$oshrun" -n 2 "$attacked" "$stop" >"$out" 2>"$err" </dev/null &
    job=$!
    for _ in $(seq 200); do [ "$(grep -c ready "$out")" -lt 2 ] || break; sleep 0.1; done
    sleep 1 # of work undisturbed
    : >"$tap_dir/did"
    ports "$(awk '/^ready 0/ { print $3 }' "$out")" >"$tap_dir/ports"
    while read -r address port; do
        setpriv --reuid=65534 --regid=65534 --clear-groups timeout "${WSH_TEST_LIMIT:-600}" \
            "$tap_dir/stranger" "$2" "$address" "$port" "$3" "$4" >>"$tap_dir/did" 2>&1 </dev/null
        echo "stranger at $address port $port: exit status $?" >>"$tap_dir/did"
    done <"$tap_dir/ports"
    attack_end "$1"
}

# attack_end NAME: lets the job end, prints what the attack cost and judges it.
attack_end()
{
    sleep 0.5
    touch "$stop"
    wait "$job"
    status=$?
    tap_comment "$tap_dir/did"
    grep -E '^PE |dropped' "$out" "$err" | sed "s|^$tap_dir/[a-z]*:|# |"
    judge "$1"
}

judge()
{
    if grep -q '^skip: no ' "$tap_dir/did"; then tap_skip "$1" "$(sed -n 's/^skip: //p' "$tap_dir/did" | head -n 1)"
    elif [ "$status" != 0 ]; then tap_fail "$1" "the job did not end well"
    elif ! grep -q 'exit status 0' "$tap_dir/did" || grep -qE '^(messages|connections): 0 ' "$tap_dir/did"; then
        tap_fail "$1" "the attack was not made"
    elif grep -q 'reads: [1-9]' "$tap_dir/did"; then tap_fail "$1" "memory was read"
    elif [ "$(grep -c 'dropped, ' "$err")" -gt "${lines:-1}" ]; then tap_fail "$1" "more than $lines lines"
    elif ! awk '/^PE/ { for (i = 1; i < NF; i++) if ($i == "->" && $(i + 1) - $(i - 1) > 192) exit 1 }' "$out"; then
        tap_fail "$1" "more than 192 MiB were taken"
    else
        tap_ok "$1"
    fi
}

# Over the emulated EFA device, which the stranger joins: one NIC a process, the address of each endpoint of PE 0 known.
attack_efa()
{
    rm -f "$stop"
    : >"$out"
    timeout -k 10 "${WSH_TEST_LIMIT:-600}" env SHMEM_DEBUG=info,TRANSPORT EFA_EMULATOR_NICS=0 EFA_EMULATOR_QUIET=1 \
        "$oshrun" --emulate-efa -n 2 "$attacked" "$stop" >"$out" 2>"$err" </dev/null &
    job=$!
    for _ in $(seq 200); do [ "$(grep -c ready "$out")" -lt 2 ] || break; sleep 0.1; done
    sleep 1
    : >"$tap_dir/did"
    pid=$(awk '/^ready 0/ { print $3 }' "$out")
    tr '\0' '\n' <"/proc/$pid/environ" | grep -E '^(LD_PRELOAD|EFA_EMULATOR_[A-Z_]*|FI_[A-Z_]*|IPATH_[A-Z_]*|HFI_[A-Z_]*)=' \
        >"$tap_dir/device"
    "$tap_dir/stranger" list "$(sed -n 's/^EFA_EMULATOR_DIR=//p' "$tap_dir/device")" "$pid" >"$tap_dir/ports"
    while read -r address port; do
        # shellcheck disable=SC2046
        env $(cat "$tap_dir/device") timeout "${WSH_TEST_LIMIT:-600}" \
            "$tap_dir/stranger" efa "$address" "$port" "$2" "$3" >>"$tap_dir/did" 2>&1 </dev/null
        echo "stranger at endpoint $port: exit status $?" >>"$tap_dir/did"
    done <"$tap_dir/ports"
    attack_end "$1"
}

for provider in tcp net; do
    attack "$provider: $writes forged writes and reads" "$provider" writes "$writes"
    attack "$provider: $messages forged messages" "$provider" messages "$messages"
    lines=$((1 + flood / 100000)) # one a minute
    attack "$provider: $flood messages as fast as they go" "$provider" flood "$flood"
    lines=1
    attack "$provider: $raw connections" "$provider" raw "$raw"
done
if [ -e "$top_builddir/emulator/.libs/libefa-emulator.so" ]; then
    case $("$tap_dir/stranger" version) in
        1.1[0-7]) tap_skip "emulated EFA: forged writes and reads" \
            "this libfabric's provider efa ends by SIGSEGV on a key that it does not know" ;;
        *) attack_efa "emulated EFA: $writes forged writes and reads" writes "$writes" ;;
    esac
    attack_efa "emulated EFA: $messages forged messages" messages "$messages"
    lines=$((1 + flood / 100000))
    attack_efa "emulated EFA: $flood messages as fast as they go" flood "$flood"
else
    tap_skip "emulated EFA" "the emulator is not built (libibverbs-dev)"
fi
tap_done
