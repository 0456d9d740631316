# SPDX-License-Identifier: BSD-3-Clause
"""Stores of a unique id against another user of the machine, who knows ports, paths and protocol:
he learns no id, gives none that is taken, and stops no start. Needs root, for a second user."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import textwrap
import time
from typing import Any, Dict, Iterator

import pytest
from run import free_port
from test_process import RING, Running, by_uid, good

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
STRANGER = 64123  # no user of any system
WORD = "a-word-that-only-we-know-0123"
HEAD = """
import os, socket, struct, sys, time
def ask(family, address, key=b""):
    # What comes from there, whatever the protocol: bytes.
    with socket.socket(family) as connection:
        connection.settimeout(0.5)
        try:
            connection.connect(address)
            if key: connection.sendall(key.ljust(64, b"\\0"))
            data = b""
            while True:
                part = connection.recv(4096)
                if not part: return data
                data += part
        except OSError:
            return b""
def local(uid, port):
    return "\\0warpshmem-store-%d-%d" % (uid, port)
"""


class Stranger:
    """A program of another user; `out` is what it has printed when it is ended."""

    def __init__(self, program: str, *arguments: Any) -> None:
        self.out = ""
        self.process = subprocess.Popen(
            [sys.executable, "-c", HEAD + textwrap.dedent(program)]
            + [str(one) for one in arguments],
            user=STRANGER,
            group=STRANGER,
            extra_groups=[],
            env={},
            cwd="/",
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Stranger":
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.terminate()
        self.out = self.process.communicate()[0]


ASK = """
port, host = int(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
while True:
    there = socket.AF_INET, (host, port)
    got = ask(*there, b"warpshmem id") + ask(*there) + ask(socket.AF_UNIX, local(0, port))
    if got: print("got", got.hex(), flush=True)
    time.sleep(0.002)
"""


@pytest.fixture(name="port")
def _port() -> int:
    return free_port()


def own_address() -> str:
    """An address of this machine that is not loopback, or loopback where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


@pytest.mark.parametrize("loopback", (True, False))
def test_tcp_store_gives_nothing(port: int, loopback: bool) -> None:
    """He asks all the time, at both doors, while the ranks come late."""
    host = "127.0.0.1" if loopback else own_address()
    program = "time.sleep(0.5 * int(os.environ['RANK']))\nshmem.init()" + RING
    world = {"MASTER_PORT": str(port), "MASTER_ADDR": host}
    with Stranger(ASK, port, host) as stranger:
        assert good(by_uid(program, 3, world)).count("of 3") == 3
    assert "got" not in stranger.out


def test_tcp_store_sealed(port: int) -> None:
    """By a word other machines may ask; what he gets is no id, and the ranks come to each other."""
    host = own_address()
    if host == "127.0.0.1":
        pytest.skip("this machine has no address but loopback")
    program = "time.sleep(0.5 * int(os.environ['RANK']))\nshmem.init()" + RING
    world = {
        "MASTER_PORT": str(port),
        "MASTER_ADDR": host,
        "SHMEM_BOOTSTRAP_UID_SECRET": WORD,
    }
    with Stranger(ASK, port, host) as stranger:
        assert good(by_uid(program, 3, world)).count("of 3") == 3
    told = stranger.out.split()
    assert "got" in told
    assert all(b"warpshmem sealed" in bytes.fromhex(one) for one in told if one != "got")


LISTEN = """
port = int(sys.argv[1])
listener = socket.create_server(("127.0.0.1", port))
unix = socket.socket(socket.AF_UNIX)
unix.bind(local(0, port))
unix.listen(50)
print("ready", flush=True)
unix.settimeout(0.01)
listener.settimeout(0.01)
while True:
    for each in (unix, listener):
        try:
            with each.accept()[0] as connection:
                connection.sendall(b"wshstore" + struct.pack("!H", 128) + b"x" * 128)
        except OSError: continue
"""


def test_tcp_store_takes_nothing(port: int) -> None:
    """He listens before rank 0 does, and answers."""
    with Stranger(LISTEN, port):
        with by_uid("shmem.init()", 2, {"MASTER_PORT": str(port)}) as running:
            statuses, _, err = running.end(30)
    assert statuses == [1, 1]
    assert "rank 0 cannot listen at port %d" % port in err
    assert "is of user %d" % STRANGER in err


SILENT = """
port = int(sys.argv[1])
kept = []
print("ready", flush=True)
while True:
    for family, address in ((socket.AF_UNIX, local(0, port)), (socket.AF_INET, (sys.argv[2], port))):
        connection = socket.socket(family)
        try:
            connection.connect(address)
            kept.append(connection)
        except OSError:
            pass
    del kept[:-500]
"""


@pytest.mark.parametrize("loopback", (True, False))
def test_silent_connections(port: int, loopback: bool) -> None:
    """Hundreds of connections that send nothing do not keep a start waiting."""
    host = "127.0.0.1" if loopback else own_address()
    program = "time.sleep(0.5 * int(os.environ['RANK']))\nshmem.init()" + RING
    with Stranger(SILENT, port, host):
        began = time.monotonic()
        out = good(by_uid(program, 2, {"MASTER_PORT": str(port), "MASTER_ADDR": host}))
    assert out.count("of 2") == 2 and time.monotonic() - began < 30


@pytest.fixture(name="sticky")
def _sticky(tmp_path: Any) -> Iterator[str]:
    """A folder as /tmp is, in one that others enter."""
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        os.chmod(folder, 0o755)
    folder = tmp_path / "sticky"
    folder.mkdir()
    os.chmod(folder, 0o1777)
    yield str(folder)


PLACE = """
path, how = sys.argv[1:]
if how == "file":
    with open(path, "wb") as out: out.write(b"x" * 128)
    os.chmod(path, 0o600)
elif how == "link":
    with open(path + ".own", "wb") as out: out.write(b"x" * 128)
    os.symlink(path + ".own", path)
else:
    os.mkfifo(path)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", ("file", "link", "fifo"))
def test_a_file_of_another_user(sticky: str, how: str) -> None:
    """What lies where rank 0 is to write is not taken by the other ranks."""
    path = os.path.join(sticky, "id")
    with Stranger(PLACE, path, how):
        with by_uid("shmem.init(store=%r)" % path, 2) as running:
            statuses, _, err = running.end(30)
    assert statuses == [1, 1] and "is there already; remove it" in err
    wanted = {"file": "is of user %d" % STRANGER, "link": "no link", "fifo": "no ordinary file"}
    assert wanted[how] in err


def test_the_file_is_not_readable(sticky: str) -> None:
    """While it is there, only this user reads it."""
    path = os.path.join(sticky, "id")
    program = "time.sleep(int(os.environ['RANK']))\nshmem.init(store=%r)" % path + RING
    with by_uid(program, 2) as running:
        until = time.monotonic() + 30
        while not os.path.exists(path) and time.monotonic() < until:
            time.sleep(0.001)
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert not any(running.end()[0])


WORDS: Dict[str, Dict[str, str]] = {
    "rank 0 alone": {"0": WORD},
    "rank 1 alone": {"1": WORD},
    "two words": {"0": WORD, "1": WORD + "x"},
}


@pytest.mark.parametrize("case", WORDS)
def test_words_that_differ(tmp_path: Any, case: str) -> None:
    """Each case is one line at the rank that is given an id."""
    program = """
    word = %r.get(os.environ["RANK"])
    if word: os.environ["SHMEM_BOOTSTRAP_UID_SECRET"] = word
    shmem.init(store=%r)
    """ % (WORDS[case], str(tmp_path / "id"))
    with by_uid(program, 2, {"SHMEM_BOOTSTRAP_UID_SECONDS": "3"}) as running:
        statuses, _, err = running.end(40)
    assert statuses == [1, 1] and "SHMEM_BOOTSTRAP_UID_SECRET" in err
    assert "the same word" in err


def test_a_word_in_a_file(tmp_path: Any, port: int) -> None:
    """One of mode 0600 is read; one that others may read, or that is short, is refused."""
    path = tmp_path / "word"
    path.write_text(WORD + "\n")
    world = {"MASTER_PORT": str(port), "SHMEM_BOOTSTRAP_UID_SECRET": "file:%s" % path}
    path.chmod(0o600)
    assert good(by_uid("shmem.init()" + RING, 2, world)).count("of 2") == 2
    for mode, text, line in ((0o644, WORD, "has mode 0644"), (0o600, "short", "16 characters")):
        path.write_text(text)
        path.chmod(mode)
        with Running("shmem.init(0, 2)", [[]], [dict(world, MASTER_ADDR="127.0.0.1")]) as running:
            statuses, _, err = running.end()
        assert statuses == [1] and line in err
