#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PEs on two hosts start by a unique id: each host is a network name space of its own, with a loopback, an interface to the
# other and a bridge of containers. The root is reached where the default route leads, over IPv4 and over IPv6.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/uid_lib.sh"
[ "$(id -u)" = 0 ] || tap_skip_all "only root can make network name spaces"
command -v ip >/dev/null || tap_skip_all "no ip (apt-get install iproute2)"
command -v nsenter >/dev/null || tap_skip_all "no nsenter (apt-get install util-linux)"
a=wsh$$a
b=wsh$$b

clear_up()
{
    ip netns del "$a" 2>/dev/null
    ip netns del "$b" 2>/dev/null
    rm -rf "$tap_dir"
}
trap clear_up EXIT

# host NAME NUMBER: its interfaces.
host()
{
    ip -n "$1" link set lo up && ip -n "$1" link set eth0 up &&
        ip -n "$1" addr add "10.99.7.$2/24" dev eth0 && ip -n "$1" addr add "fd99::$2/64" dev eth0 nodad &&
        ip -n "$1" route add default dev eth0 && ip -n "$1" -6 route add default dev eth0 &&
        ip -n "$1" link add docker0 type veth peer name veth1 && ip -n "$1" link set docker0 up && ip -n "$1" link set veth1 up && ip -n "$1" addr add 172.17.0.1/16 dev docker0
}

{
    ip netns add "$a" && ip netns add "$b" && ip link add "wsh$$" type veth peer name "wsh$$p" &&
        ip link set "wsh$$" netns "$a" name eth0 && ip link set "wsh$$p" netns "$b" name eth0 && host "$a" 1 && host "$b" 2
} >"$out" 2>&1 || tap_skip_all "this machine makes no network name spaces: $(head -n 1 "$out")"

# on HOST RANK N COURSE…: uid_pe there. Not by `ip netns exec`, which gives each PE a mount name space of its own: the kernel
# closes a killed PE's sockets when it has taken that down, which waits for kernel threads that had no processor for 44 s once.
on()
{
    WSH_TEST_WRAP="nsenter --net=/run/netns/$1 ${wrap:-}"
    shift
    uid_pe "$@"
}
wrap=${WSH_TEST_WRAP:-}

both()
{
    uid_clear
    on "$b" 3 4 "$@"
    on "$a" 2 4 "$@"
    on "$b" 1 4 "$@"
    on "$a" 0 4 "$@"
    uid_wait
    echo "# 2 PEs each on two hosts: $took ms"
}

both hello
uid_ended "2 PEs each on two hosts" hellos 4

for family in AF_INET AF_INET6; do
    SHMEM_BOOTSTRAP_UID_FAMILY=$family
    SHMEM_DEBUG=info,BOOTSTRAP
    export SHMEM_BOOTSTRAP_UID_FAMILY SHMEM_DEBUG
    both hello
    unset SHMEM_DEBUG
    where='10.99.7.1'
    [ $family = AF_INET6 ] && where='.fd99::1.'
    tap_check "$family: they start" test "$(grep -c ^hello "$out")" = 4
    tap_check "$family: the root listens on eth0" grep -q "root of a unique id at $where:[0-9]*: listens" "$err"
    tap_check "$family: and on no bridge" test "$(grep -c 'root of a unique id at' "$err")" = 2
done
unset SHMEM_BOOTSTRAP_UID_FAMILY

both kill 0 1
uid_ended "a PE of the other host is killed" one_line_each 3 "PE 1 .* has ended without shmem_finalize"

SHMEM_BOOTSTRAP_UID_SECONDS=2
ip -n "$b" addr flush dev eth0
ip -n "$b" route flush dev eth0 2>/dev/null
ip -n "$b" -6 route flush dev eth0 2>/dev/null
uid_clear
on "$b" 1 2 hello
on "$a" 0 2 hello
uid_wait
one_of="root of the unique id at 10.99.7.1:[0-9]* \(by no interface\) does not answer within 2 s: Network is unreachable"
uid_ended "the other host cannot reach it" sh -c "grep -qE '$one_of' '$tap_dir/err.1' && grep -q '1 of 2 ranks have not come' '$tap_dir/err.0'"

uid_clear
SHMEM_BOOTSTRAP_UID_IFNAME=lo on "$a" 0 2 hello
on "$b" 1 2 hello
uid_wait
uid_ended "the root listens on loopback only" grep -q "listens on loopback only and is on another machine" "$tap_dir/err.1"
tap_done
