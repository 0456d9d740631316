#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Processes that no launcher has started become a job by a unique id, which a file carries: any number of them, over every
# path, over IPv4 and IPv6; several worlds in turn and side by side; the id made by a process that is no PE.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/uid_lib.sh"

run_hello()
{
    uid_start "$1" hello
    uid_wait
    echo "# $1 PEs: $took ms"
    uid_ended "$1 PEs$2" hellos "$1"
}

counts="1 2 3 8 64"
[ "${WSH_TEST_LONG:-0}" = 1 ] && counts="$counts 256"
case ${WSH_TEST_VARIANT:-} in asan | tsan) counts="1 2 3 8" ;; esac
for n in $counts; do
    run_hello "$n" ""
done

SHMEM_BOOTSTRAP_UID_FAMILY=AF_INET run_hello 3 " over IPv4"
if grep -q ' lo$' /proc/net/if_inet6 2>/dev/null; then
    SHMEM_BOOTSTRAP_UID_FAMILY=AF_INET6 run_hello 3 " over IPv6"
    NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY=AF_INET6 SHMEM_DEBUG=info,BOOTSTRAP uid_start 2 hello
    uid_wait
    tap_check "NVSHMEM's name of the setting: the root listens there" \
        sh -c "grep -q 'root of a unique id at .::1.:.* listens' '$err' && ! grep -q '127.0.0.1' '$err'"
else
    tap_skip "3 PEs over IPv6" "this machine has no IPv6"
fi

SHMEM_TRANSPORTS=efa FI_PROVIDER=tcp,net,ofi_rxm run_hello 4 " over sockets"

# emulated PES HOSTS: PEs learn from each other's host that memory is not shared.
emulated()
{
    uid_clear
    for rank in $(seq $(($1 - 1)) -1 0); do
        SHMEM_NODE_EMULATED=$((rank * $2 / $1)) SHMEM_LIBFABRIC_PROVIDER=tcp uid_pe "$rank" "$1" hello
    done
    uid_wait
}

emulated 4 2
uid_ended "4 PEs on two emulated hosts" hellos 4
SHMEM_PEERS_AT_START=1 emulated 6 3
uid_ended "6 PEs on three, which read addresses at their first use" hellos 6
SHMEM_DEBUG=info,BOOTSTRAP emulated 8 2
sed -n 's/.*addresses of 8 PEs of 2 hosts: \([0-9]*\) bytes, of \([0-9]*\)$/\1 \2/p' "$err" >"$tap_dir/bytes"
read -r packed plain <"$tap_dir/bytes"
echo "# 8 PEs on two emulated hosts: $packed bytes to each, of $plain"
tap_check "the root sends addresses packed by host" test "$packed" -gt 0 -a "$packed" -lt $((plain / 3))

# The GPU that the program names, where another would be taken by the PE's number.
fake=$top_builddir/test/fake_cuda
if [ -e "$fake/libcuda.so.1" ]; then
    uid_clear
    for rank in 1 0; do
        LD_LIBRARY_PATH=$fake:$LD_LIBRARY_PATH SHMEM_DEBUG=info,MEM SHMEM_DEVICE_SYMMETRIC_SIZE=4M uid_pe $rank 2 device 1
    done
    uid_wait
    grep -c 'device heap of .* on GPU 1 ' "$err" >"$tap_dir/on1"
    tap_check "attr.cuda_device names the GPU" test "$(cat "$tap_dir/on1")" = 2
else
    tap_skip "attr.cuda_device names the GPU" "test/fake_cuda/libcuda.so.1 was not built"
fi

uid_clear
"$uid" "$id" make >/dev/null 2>&1 &
root=$!
carried=+
for _ in $(seq 500); do [ -s "$id" ] && break; sleep 0.02; done
tap_check "a process that makes an id has a thread for it" grep -q shmem-uid-root /proc/$root/task/*/comm
for rank in 2 1 0; do uid_pe $rank 3 hello; done
uid_wait
carried=
for _ in $(seq 50); do grep -q shmem-uid-root /proc/$root/task/*/comm || break; sleep 0.02; done
tap_check "the process that made the id goes on" kill -0 $root
tap_check "… without its thread" sh -c "! grep -q shmem-uid-root /proc/$root/task/*/comm"
kill $root
wait $root 2>/dev/null
uid_ended "an id made by a process that is no PE" hellos 3

uid_clear
for rank in 2 1 0; do uid_pe $rank 3 worlds 10; done
uid_wait
echo "# 10 worlds: $took ms"
uid_ended "10 worlds in turn, with other ranks each" hellos 3

uid_clear
first=$id
for rank in 3 2 1 0; do uid_pe $rank 4 hello; done
id=$tap_dir/id2
rm -f "$id"
for rank in 3 2 1 0; do
    "$uid" "$id" $rank 4 hello >"$tap_dir/out.b$rank" 2>"$tap_dir/err.b$rank" </dev/null &
    pids="$pids b$rank:$!"
done
uid_wait
id=$first
uid_ended "two worlds side by side" hellos 8
tap_done
