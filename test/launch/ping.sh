#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# warpshmem-info --ping: two hosts over sockets, one NIC after another over the emulated EFA device; ends that differ, that
# are none, that are silent or gone are each one line, within the time.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
info=$(test_program warpshmem-info)
port=$((20000 + 3 * ($$ % 4000))) # below those that the kernel gives to others
SHMEM_LIBFABRIC_PROVIDER=${SHMEM_LIBFABRIC_PROVIDER:-tcp}
export SHMEM_LIBFABRIC_PROVIDER

# waits WORD…: the end that waits, in the background, with words before it; returns when it listens.
waits()
{
    : >"$tap_dir/there"
    timeout -k 2 60 "$@" "$info" --ping --port $port --seconds "${seconds:-20}" >"$tap_dir/there" 2>&1 &
    there=$!
    for _ in $(seq 200); do
        grep -q '^waiting at port' "$tap_dir/there" && return
        kill -0 $there 2>/dev/null || return
        sleep 0.05
    done
}

# there_ends: sets $there_status; what it printed is in $tap_dir/there.
there_ends()
{
    wait $there
    there_status=$?
    tap_comment "$tap_dir/there"
}

# Nobody comes to this one.
"$info" --ping --port $((port + 2)) --seconds 1 >"$tap_dir/nobody" 2>&1 &
nobody=$!

row='[^ ]+ +[^ ]+ +[^ ]+ +[0-9.]+ +[0-9.]+ +[0-9.]+  written and read back$'

waits
run_job 30 "$info" --json --ping="[::1]:$port"
there_ends
tap_check "one host by IPv6, as JSON" sh -c "[ $status = 0 ] && python3 -c 'import json; row = json.load(open(\"$out\"))[\"ping\"][0]; assert row[\"latency_us\"] > 0 and row[\"bandwidth_mbs\"] > 0'"

run_job 10 "$info" --ping 127.0.0.1 --port $port
tap_check "nobody waits" sh -c "[ $status = 1 ] && [ \$(wc -l <'$err') = 1 ] && grep -q 'Connection refused; start .* there first' '$err'"
run_job 10 "$info" --ping no-such-host.invalid --port $port
tap_check "no such host" sh -c "[ $status = 1 ] && [ \$(wc -l <'$err') = 1 ] && grep -q \"host 'no-such-host.invalid', port\" '$err'"
run_job 10 "$info" --ping --port 0
tap_check "no such port" test "$status" = 2
SHMEM_LIBFABRIC_PROVIDER=$(fi_info -l 2>/dev/null | grep -qx net: && echo net || echo sockets) waits
run_job 30 "$info" --ping 127.0.0.1 --port $port
there_ends
tap_check "another provider there: a line of both" sh -c "[ $status:$there_status = 1:1 ] && grep -q \"provider is tcp.* here and\" '$err' && grep -q 'here and tcp' '$tap_dir/there'"

# Ends that are none. The waiting end sends them away, and serves the next that pings.
python3 - $port "$info" >"$out" 2>"$err" <<'END'
import os, socket, subprocess, sys, time
port, info = int(sys.argv[1]), sys.argv[2]
HELLO = b"warpshmem-ping 1 0.1.0 stranger %s %s %s 1\n"
def wait():
    end = subprocess.Popen([info, "--ping", "--port", str(port), "--seconds", "20"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    end.stdout.readline()
    return end
def meet():
    s = socket.create_connection(("127.0.0.1", port))
    words = s.makefile().readline().split()
    return s, HELLO % tuple(word.encode() for word in words[4:7])
def tell(name, right):
    print("ok" if right else "not ok", "-", name)
end = wait()
for what in (b"GET / HTTP/1.0\r\n\r\n", b"\x00" * 64, b"x" * 5000, b"warpshmem-ping 1 a b c d e -7\n", b""):
    s, _ = meet()
    s.sendall(what)
    s.close()
s, hello = meet()
s.sendall(hello)
s.sendall(b"nic 0 eth0 %s ff 0 100000\n" % (b"41" * 256))
answer = s.makefile().readline()
s.close()
text, status = end.communicate(timeout=10)[0].decode(), end.returncode
tell("five strangers, a line each", text.count("has connected and does not ping") == 5)
tell("an address that cannot be is refused by the NIC", answer.startswith("failed ") and status == 1)
long = os.environ.get("WSH_TEST_LONG") == "1"
wrong = [("an escape", b"nic \x1b[2J\n")]
if long:
    wrong += [("a long address", b"nic 0 eth0 " + b"0" * 600 + b" 1 1 1\n")]
    wrong += [("a negative NIC", b"nic -1 eth0 00 ff 0 100000\n"), ("no hexadecimals", b"nic 0 eth0 zz 1 1 1\n"), ("another word", b"rm -rf\n")]
for name, line in wrong:
    end = wait()
    s, hello = meet()
    s.sendall(hello + line)
    text, status = end.communicate(timeout=10)[0].decode(), end.returncode
    tell(name + " ends it by one line", status == 1 and text.count("\n") == 1 and "makes no sense" in text and "\x1b" not in text)
    s.close()
# A server that says nothing, one that lies, one that goes.
listener = socket.create_server(("127.0.0.1", port + 1))
def called(*lines, close=True, seconds="20"):
    other = subprocess.Popen([info, "--ping", "127.0.0.1:%d" % (port + 1), "--seconds", seconds], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    s, _ = listener.accept()
    words = s.makefile().readline().split()
    began = time.time()
    for line in lines:
        s.sendall(line.replace(b"PROVIDER FABRIC FORMAT", b" ".join(w.encode() for w in words[4:7])))
    if close:
        s.close()
    text = other.communicate(timeout=30)[1].decode()
    s.close()
    return other.returncode, text, time.time() - began
hello = b"warpshmem-ping 1 0.1.0 there PROVIDER FABRIC FORMAT 1\n"
code, text, took = called(close=False, seconds="1")
tell("a silent server", code == 1 and "is something else than" in text and took < 15)
if long:
    code, text, took = called(b"SSH-2.0-OpenSSH\r\n")
    tell("another server", code == 1 and "is something else than" in text)
    code, text, took = called(hello)
    tell("a server that goes", code == 1 and "has ended, or does not understand" in text)
code, text, took = called(hello, b"nic 0 eth0 0200 1 ffffffffffffffff ffffffffffffffff\n", close=False)
tell("a server that lies of its memory", code == 1 and text.count("\n") == 1)
print("# end")
END
while IFS= read -r line; do
    case $line in
        "ok - "*) tap_ok "${line#ok - }" ;;
        "not ok - "*) tap_fail "${line#not ok - }" "as above" ;;
    esac
done <"$out"
tap_check "… and they were all asked" test "$(tail -n 1 "$out"):$(cat "$err")" = "# end:"

wait $nobody
nobody_status=$?
tap_comment "$tap_dir/nobody"
tap_check "nobody comes" test "$nobody_status:$(grep -c 'nobody has pinged within 1 s' "$tap_dir/nobody")" = 1:1

if [ "${WSH_TEST_VARIANT:-clang}" != clang ]; then
    tap_skip "the emulated EFA device" "a preloaded library does not go with $WSH_TEST_VARIANT"
elif [ -f "$top_builddir/emulator/.libs/libefa-emulator.so" ]; then
    SHMEM_LIBFABRIC_PROVIDER=efa
    run_job 40 sh "$top_srcdir/emulator/efa-emulate" --quiet --profile p5en --nics 0,1 -- sh -c "
        '$info' --ping --port $port --seconds 30 >'$tap_dir/there' 2>&1 &
        until grep -q '^waiting' '$tap_dir/there'; do sleep 0.1; done
        '$info' --ping 127.0.0.1 --port $port; ended=\$?; wait; exit \$ended"
    tap_check "two NICs of the emulated EFA device" test "$status:$(grep -cE "$row" "$out"):$(grep -c 'has pinged 2 NIC' "$tap_dir/there")" = 0:2:1
    tap_comment "$out"
else
    tap_skip "the emulated EFA device" "not built"
fi

# Two hosts: name spaces, an interface each.
SHMEM_LIBFABRIC_PROVIDER=tcp
a=wshp$$a
b=wshp$$b
clear_up()
{
    ip netns del "$a" 2>/dev/null
    ip netns del "$b" 2>/dev/null
    rm -rf "$tap_dir"
}
host()
{
    ip -n "$1" link set lo up && ip -n "$1" link set eth0 up && ip -n "$1" addr add "10.99.8.$2/24" dev eth0
}
if [ "$(id -u)" = 0 ] && command -v ip >/dev/null && ip netns add "$a" 2>/dev/null; then
    trap clear_up EXIT
    ip netns add "$b" && ip link add "wshp$$" type veth peer name "wshq$$" && ip link set "wshp$$" netns "$a" name eth0 &&
        ip link set "wshq$$" netns "$b" name eth0 && host "$a" 1 && host "$b" 2
    waits nsenter --net="/run/netns/$a"
    run_job 40 nsenter --net="/run/netns/$b" "$info" --ping 10.99.8.1 --port $port
    there_ends
    tap_comment "$out"
    tap_check "two hosts: each has its address" test "$status:$there_status:$(grep -cE "^eth0 +10[.]99[.]8[.]2 .*written" "$out")" = 0:0:1
else
    tap_skip "two hosts" "no network name spaces can be made here"
fi
tap_done
