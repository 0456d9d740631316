#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A PMI server of one host for tests: starts PEs, speaks PMI-1 or PMI-2 with them, rightly or as --mode names.

usage: pmi_server.py -n PES [--version 1|2] [--mode MODE] PROGRAM ARGUMENT…
The exit status is that of abort, or the largest of the PEs.

modes   good     by the book
        other    knows the other version only
        small    values of at most 64 bytes (PMI-1)
        lazy     answers a fence at once; a get waits for its key (PMI-2)
        nohosts  says nothing of hosts;  badhosts: says what is no mapping;  twohosts: says that there are two
        closes   closes all sockets at the first fence;  cut: in the middle of the first answer to a fence
        garbage  answers what is no answer to the second question;  long: without an end;  refuses: with an error
        wrong    names a rank or limits that cannot be
        damaged  changes values;  silent: does not answer a get
"""
import argparse
import os
import selectors
import signal
import socket
import subprocess
import sys
import time

arguments = argparse.ArgumentParser()
arguments.add_argument("-n", type=int, required=True)
arguments.add_argument("--version", type=int, default=1)
arguments.add_argument("--mode", default="good")
arguments.add_argument("command", nargs=argparse.REMAINDER)
options = arguments.parse_args()
mode, speaks = options.mode, options.version
if mode == "other":
    speaks = 3 - speaks
space = {}
waiting = []  # PEs in a fence
aborted = None


class Pe:
    def __init__(self, rank):
        self.rank = rank
        self.buffer = b""
        self.version = 0  # until init
        self.questions = 0
        self.wants = None  # the key that a get waits for
        self.socket, theirs = socket.socketpair()
        env = dict(os.environ, PMI_FD=str(theirs.fileno()), PMI_RANK=str(rank), PMI_SIZE=str(options.n))
        if options.version == 2:
            env["PMI_JOBID"] = "job-7"
        self.process = subprocess.Popen(options.command, env=env, pass_fds=[theirs.fileno()])
        theirs.close()

    def send(self, command, **pairs):
        words = [("cmd", command)] + [(key.replace("__", "-"), value) for key, value in pairs.items()]
        if self.version == 2:
            text = "".join("%s=%s;" % word for word in words)
            self.raw(b"%-6d" % len(text) + text.encode())
        else:
            self.raw((" ".join("%s=%s" % word for word in words) + "\n").encode())

    def raw(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass

    def messages(self):
        """Whole messages among what came, as dictionaries."""
        while True:
            if self.version == 2:
                size = int(self.buffer[:6]) if len(self.buffer) >= 6 else 1 << 20
                if len(self.buffer) < 6 + size:
                    return
                text, self.buffer, ends = self.buffer[6 : 6 + size], self.buffer[6 + size :], ";"
            else:
                line, newline, rest = self.buffer.partition(b"\n")
                if not newline:
                    return
                text, self.buffer, ends = line, rest, " "
            yield dict(word.split("=", 1) for word in text.decode().split(ends) if "=" in word)


def close_all():
    for pe in pes:
        if pe.socket.fileno() >= 0:
            selector.unregister(pe.socket)
            pe.socket.close()


def mapping():
    n = options.n
    return {"badhosts": "(vector,(0,1", "twohosts": "(vector,(0,2,%d))" % max(n // 2, 1)}.get(mode, "(vector,(0,1,%d))" % n)


def fence(pe, command):
    if mode == "closes":
        return close_all()
    if mode == "cut":
        pe.raw(b"    21cmd=kvs-f" if pe.version == 2 else b"cmd=barrier_o")
        return close_all()
    waiting.append(pe)
    if mode == "lazy":
        waiting.remove(pe)
        pe.send(command, rc=0)
    elif len(waiting) == options.n:
        for one in waiting:
            one.send(command, rc=0) if one.version == 2 else one.send(command)
        waiting.clear()


def give(pe, answer, key, found):
    value = mapping() if key == "PMI_process_mapping" and mode != "nohosts" else space.get(key)
    if key.startswith("wsh") and mode == "silent":
        return
    if key.startswith("wsh") and mode == "lazy" and value is None:
        pe.wants = key
        return
    if value is not None and key.startswith("wsh") and mode == "damaged":
        value = value[: len(value) // 2] + "!" + value[len(value) // 2 + 1 :]
    if value is None:
        pe.send(answer, found="FALSE", rc=0) if found else pe.send(answer, rc=-1, msg="key_not_found", value="unknown")
    else:
        pe.send(answer, found="TRUE", value=value, rc=0) if found else pe.send(answer, rc=0, msg="success", value=value)


def store(key, value):
    assert key not in space and len(key) < 64 and len(value) < (64 if mode == "small" else 1024), (key, value)
    space[key] = value
    for pe in pes:
        if pe.wants == key:
            pe.wants = None
            give(pe, "kvs-get-response", key, True)


def misbehave(pe):
    """To the second question."""
    pe.questions += 1
    if pe.questions != 2 or mode not in ("garbage", "long", "refuses"):
        return False
    if mode == "garbage":
        pe.raw(bytes(range(128, 256)) + b"\n")
    elif mode == "long":
        pe.raw(b"999999" if pe.version == 2 else b"cmd=maxes " + b"x" * 10000)
    elif pe.version == 2:
        pe.send("fullinit-response", rc=3)
    else:
        pe.send("maxes", rc=-1)
    return True


def finalize(pe, command):
    pe.send(command, rc=0) if pe.version == 2 else pe.send(command)
    pe.socket.shutdown(socket.SHUT_WR)


def answer(pe, message):
    global aborted
    command = message["cmd"]
    if misbehave(pe):
        return
    if command == "init":
        asked = int(message["pmi_version"])
        pe.send("response_to_init", pmi_version=speaks, pmi_subversion=2 - speaks, rc=0 if asked == speaks else -1)
        pe.version = speaks if asked == speaks else 0
    elif command == "fullinit":
        assert int(message["pmirank"]) == pe.rank
        pe.send("fullinit-response", pmi__version=2, pmi__subversion=0, rank=pe.rank + (mode == "wrong"), size=options.n,
                appnum=0, rc=0)
    elif command == "get_maxes":
        limit = 7 if mode == "wrong" else 64 if mode == "small" else 1024
        pe.send("maxes", kvsname_max=256, keylen_max=64, vallen_max=limit)
    elif command == "get_my_kvsname":
        pe.send("my_kvsname", kvsname="kvs_7")
    elif command == "job-getid":
        pe.send("job-getid-response", jobid="job-7", rc=0)
    elif command == "put":
        assert message["kvsname"] == "kvs_7"
        store(message["key"], message["value"])
        pe.send("put_result", rc=0, msg="success")
    elif command == "kvs-put":
        store(message["key"], message["value"])
        pe.send("kvs-put-response", rc=0)
    elif command in ("barrier_in", "kvs-fence"):
        fence(pe, "barrier_out" if command == "barrier_in" else "kvs-fence-response")
    elif command == "get":
        give(pe, "get_result", message["key"], False)
    elif command in ("kvs-get", "info-getjobattr"):
        give(pe, command + "-response", message["key"], True)
    elif command == "finalize":
        finalize(pe, "finalize_ack" if pe.version == 1 else "finalize-response")
    elif command == "abort":
        aborted = int(message["exitcode"]) if pe.version == 1 else int(message["msg"].rsplit("_", 1)[1])
    else:
        raise SystemExit("pmi_server: unknown command %r" % command)


def take(pe):
    try:
        data = pe.socket.recv(65536)
    except OSError:
        data = b""
    if not data:
        selector.unregister(pe.socket)
        pe.socket.close()
        return
    pe.buffer += data
    for message in pe.messages():
        answer(pe, message)
        if pe.socket.fileno() < 0:
            return


selector = selectors.DefaultSelector()
pes = [Pe(rank) for rank in range(options.n)]
for pe in pes:
    selector.register(pe.socket, selectors.EVENT_READ, pe)
ended = None  # since when a PE has ended badly
while any(pe.process.poll() is None for pe in pes):
    if ended is None and (aborted is not None or any(pe.process.poll() for pe in pes)):
        ended = time.monotonic()
    if ended is not None and time.monotonic() > ended + 3:
        for pe in pes:
            pe.process.send_signal(signal.SIGKILL)
    if not selector.get_map():
        time.sleep(0.05)
        continue
    for key, _ in selector.select(0.05):
        if key.fileobj.fileno() >= 0:
            take(key.data)
statuses = [pe.process.wait() for pe in pes]
print("pmi_server: statuses %s" % statuses, file=sys.stderr)
sys.exit(aborted if aborted is not None else max(status if status >= 0 else 128 - status for status in statuses))
