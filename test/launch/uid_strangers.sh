#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whoever connects to the root of a unique id without knowing its secret is refused, and holds up nobody: while a job
# starts, and while it runs.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/uid_lib.sh"
command -v python3 >/dev/null || tap_skip_all "no python3 (apt-get install python3)"

cat >"$tap_dir/stranger.py" <<'END'
# stranger.py FILE KIND N: N connections; says "there" once all are open, and how many the root closes within 2 s or before it
# is killed. It knows the id but its secret.
import os, select, socket, struct, sys, time
path, kind, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
while not os.path.exists(path):
    time.sleep(0.01)
uid = open(path, 'rb').read()
family, port, address = struct.unpack_from('=HH16s', uid, 32)
where = (socket.inet_ntop(socket.AF_INET if family == 4 else socket.AF_INET6, address[:4 if family == 4 else 16]), port)
def hello(challenge):
    # Magic and version as the root's; rank 0 of 8; a tag that is none.
    return challenge[:6] + b'\0\0' + struct.pack('=iiQQII', 0, 8, 1, 2, 3, 0) + b'host'.ljust(40, b'\0') + bytes(16) + bytes(8)
def talk(s):
    if kind == 'nothing':
        return
    if kind == 'garbage':
        s.sendall(os.urandom(4096))
        return
    challenge = s.recv(24, socket.MSG_WAITALL)
    whole = hello(challenge)
    if kind == 'half':
        s.sendall(whole[:40])
    elif kind == 'secret':
        s.sendall(whole)
    elif kind == 'echo':
        s.sendall(challenge * 8)
def connect():
    s = socket.socket(socket.AF_INET if family == 4 else socket.AF_INET6)
    s.settimeout(5)
    s.connect(where)
    try:
        talk(s)
    except OSError:
        pass
    return s
all = [connect() for _ in range(n)]
print('there', flush=True)
closed = 0
until = time.time() + 2
while all and time.time() < until:
    for s in select.select(all, [], [], 0.1)[0]:
        try:
            end = not s.recv(65536)
        except OSError:
            end = True
        if end:
            closed += 1
            all.remove(s)
print('closed', closed, flush=True)
while True:
    time.sleep(1)
END

# stranger KIND N: in the background.
strangers=
stranger()
{
    python3 "$tap_dir/stranger.py" "$id" "$1" "$2" >"$tap_dir/did.$1" 2>&1 &
    strangers="$strangers $!"
}

# They are connected.
strangers_there()
{
    for _ in $(seq 1000); do
        [ "$(cat "$tap_dir"/did.* 2>/dev/null | grep -c there)" = "$1" ] && return
        sleep 0.02
    done
    tap_comment "$tap_dir"/did.*
}

closed_of()
{
    for _ in $(seq 500); do grep -q closed "$tap_dir/did.$1" && break; sleep 0.02; done
    sed -n 's/^closed //p' "$tap_dir/did.$1"
}

strangers_end()
{
    # shellcheck disable=SC2086
    kill -9 $strangers
    # shellcheck disable=SC2086
    wait $strangers 2>/dev/null
    strangers=
}

# The root is a process of its own, so that strangers are there before the first PE.
uid_clear
"$uid" "$id" make >/dev/null 2>"$tap_dir/root" &
root=$!
carried=+
stranger nothing 100
stranger garbage 20
stranger half 100
stranger secret 20
stranger echo 20
strangers_there 5
began=$(now_ms)
rank=8
while [ $rank -gt 0 ]; do
    rank=$((rank - 1))
    uid_pe $rank 8 hello
done
uid_wait
echo "# 8 PEs start and end beside 260 strangers: $took ms"
tap_check "… soon" soon 5000
for kind in garbage secret echo; do
    tap_check "who sends $kind is closed" test "$(closed_of $kind)" = 20
done
strangers_end
kill $root
wait $root 2>/dev/null
uid_ended "a job starts beside strangers" hellos 8

# More than the root keeps open: the oldest go, and the job still starts.
uid_clear
rm -f "$tap_dir"/did.*
"$uid" "$id" make >/dev/null 2>"$tap_dir/root" &
root=$!
stranger nothing 800
strangers_there 1
began=$(now_ms)
for rank in 3 2 1 0; do uid_pe $rank 4 wait 0; done
for _ in $(seq 500); do
    [ "$(cat "$tap_dir"/out.* | grep -c ready)" = 4 ] && break
    sleep 0.02
done
tap_check "a job starts beside 800 that say nothing" test "$(cat "$tap_dir"/out.* | grep -c ready)" = 4
# In the middle of the job.
strangers_end
rm -f "$tap_dir"/did.*
stranger secret 50
stranger garbage 50
strangers_there 2
closed_of secret >/dev/null
for rank in 3 2 1 0; do
    tap_check "PE $rank goes on" kill -0 "$(pid_of $rank)"
done
strangers_end
kill -9 "$(pid_of 2)"
uid_wait
kill $root
wait $root 2>/dev/null
uid_ended "and the job ends as ever" one_line_each 3 "PE 2 .* has ended without shmem_finalize"
tap_done
