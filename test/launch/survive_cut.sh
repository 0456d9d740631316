#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A host that is cut off while its PEs write to those of another one: these go on without it, within two leases and 2 s. The
# host comes back: its PEs have ended, and what they had sent is not written into memory after the shrink. Half a minute: in the
# long form only.
# timeout: 120
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
[ "${WSH_TEST_LONG:-0}" = 1 ] || tap_skip_all "long (make check-long)"
. "$top_srcdir/test/launch/uid_lib.sh"
[ "$(id -u)" = 0 ] || tap_skip_all "only root can make network name spaces"
command -v ip >/dev/null || tap_skip_all "no ip (apt-get install iproute2)"
command -v nsenter >/dev/null || tap_skip_all "no nsenter (apt-get install util-linux)"
cp "$(test_program test/launch/helper/cut)" "$uid" || exit 99
a=wsc$$a
b=wsc$$b
lease=${WSH_TEST_LEASE:-3}
away=$((3 * lease + 2))

clear_up()
{
    ip netns del "$a" 2>/dev/null
    ip netns del "$b" 2>/dev/null
    rm -rf "$tap_dir"
}
trap clear_up EXIT

host()
{
    ip -n "$1" link set lo up && ip -n "$1" link set eth0 up && ip -n "$1" addr add "10.99.9.$2/24" dev eth0 && ip -n "$1" route add default dev eth0
}

{
    ip netns add "$a" && ip netns add "$b" && ip link add "wsc$$" type veth peer name "wsc$$p" &&
        ip link set "wsc$$" netns "$a" name eth0 && ip link set "wsc$$p" netns "$b" name eth0 && host "$a" 1 && host "$b" 2
} >"$out" 2>&1 || tap_skip_all "this machine makes no network name spaces: $(head -n 1 "$out")"

SHMEM_ON_PE_FAILURE=continue SHMEM_FAILURE_LEASE=$lease UID_FILE=$id WORLD_SIZE=4
export SHMEM_ON_PE_FAILURE SHMEM_FAILURE_LEASE UID_FILE WORLD_SIZE
uid_clear
for rank in 0 1 2 3; do
    where=$a
    [ $rank -lt 2 ] || where=$b
    # shellcheck disable=SC2086
    RANK=$rank SHMEM_NODE_EMULATED=$((rank / 2)) timeout -k 2 60 nsenter --net="/run/netns/$where" ${WSH_TEST_WRAP:-} "$uid" $((away + 2)) \
        >"$tap_dir/out.$rank" 2>"$tap_dir/err.$rank" </dev/null &
    pids="$pids $rank:$!"
done
for _ in $(seq 300); do
    [ "$(cat "$tap_dir"/out.* | grep -c ready)" = 4 ] && break
    sleep 0.1
done
sleep 0.5
ip -n "$a" link set eth0 down
sleep $away
ended=$(grep -l 'has had no answer from the root of the job' "$tap_dir"/err.[23] | wc -l)
running=0
for rank in 2 3; do kill -0 "$(pid_of $rank)" 2>/dev/null && running=$((running + 1)); done
ip -n "$a" link set eth0 up
ip -n "$a" route add default dev eth0 2>/dev/null
uid_wait
echo "# $took ms"
uid_ended "the PEs of the host that is cut off have ended before it is back" test "$ended:$running" = 2:0
uid_ended "the others go on" test "$(grep -c 'went on' "$out"):$(grep -c 'has failed: nothing was heard of it for too long' "$err")" = 2:2
uid_ended "nothing is written after the shrink" test "$(grep -c 'after the shrink' "$err")" = 0
tap_done
