# SPDX-License-Identifier: BSD-3-Clause
"""The store tcp://host:port: rank 0 gives one value to the other processes of its user.

On one machine they come by a local socket, whose peer's user the kernel names: neither gives to,
nor takes from, another user. From other machines they come by TCP, where only the word of
SHMEM_BOOTSTRAP_UID_SECRET tells them from strangers. Rank 0 reads nothing from anybody and answers
at once, so silent connections keep nobody waiting.
"""

from __future__ import annotations

import os
import selectors
import socket
import struct
import sys
import threading
import time
from typing import Any, List, Optional, Tuple

from . import _secret
from .errors import WarpshmemError

HEAD = struct.Struct("!8sH")  # MAGIC, bytes that follow
MAGIC = b"wshstore"
NOTE_SECONDS = 5.0
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def local_name(port: int) -> str:
    """Return the name of rank 0's local socket, which no file system has."""
    return "\0warpshmem-store-%d-%d" % (os.geteuid(), port)


def _peer_uid(connection: socket.socket) -> int:
    given = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", given)[1])


def _any_bind() -> bool:
    """Does the kernel let sockets bind to addresses of other machines too?"""
    try:
        with open("/proc/sys/net/ipv4/ip_nonlocal_bind", encoding="ascii") as file:
            return file.read().strip() != "0"
    except OSError:
        return False


def is_own(address: str) -> bool:
    """Is it an address of this machine?"""
    address = address[len("::ffff:") :] if address.startswith("::ffff:") else address
    if address.startswith("127.") or address == "::1":
        return True
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            if _any_bind():
                probe.connect((address, 9))
                return bool(probe.getsockname()[0] == address)
            probe.bind((address, 0))
            return True
        except OSError:
            return False


def say(kind: str, text: str) -> None:
    """Write a line."""
    sys.stderr.write("warpshmem: %s: %s\n" % (kind, text))
    sys.stderr.flush()


class _Server:
    """Gives a value from a thread, until it is closed."""

    def __init__(self, host: str, port: int, n: int) -> None:
        self.port, self.left = port, n - 1  # how many may still come by the local socket
        self.value, self.sealed, self.warned = b"", False, False
        self.listeners: List[socket.socket] = []
        try:
            local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.listeners.append(local)
            local.bind(local_name(port))
            local.listen(max(n, 16))
            if host not in LOOPBACK:
                self.listeners.append(self._tcp(n))
        except OSError as error:
            self._close()
            raise WarpshmemError(
                "warpshmem.init: rank 0 cannot listen at port %d: %s; choose another MASTER_PORT,"
                " or another store" % (port, error)
            ) from None
        self.woken, self.wake = os.pipe()
        self.thread = threading.Thread(target=self._run, name="warpshmem store", daemon=True)

    def _tcp(self, n: int) -> socket.socket:
        both = socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both else socket.AF_INET
        return socket.create_server(
            ("", self.port), family=family, backlog=max(n, 16), dualstack_ipv6=both
        )

    def start(self, value: bytes) -> None:
        """Give `value` to those who come."""
        self.sealed = value.startswith(_secret.MARK)
        self.value = HEAD.pack(MAGIC, len(value)) + value
        self.thread.start()

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for listener in self.listeners:
                listener.setblocking(False)
                selector.register(listener, selectors.EVENT_READ)
            selector.register(self.woken, selectors.EVENT_READ)
            while True:
                ready = [key.fileobj for key, _ in selector.select()]
                if self.woken in ready:
                    return
                for listener in ready:
                    self._answer(listener)

    def _answer(self, listener: Any) -> None:
        try:
            connection, address = listener.accept()
        except OSError:
            time.sleep(0.01)  # no descriptor is left, or it has gone
            return
        with connection:
            try:
                connection.setblocking(False)
                if self._may_have(connection, address):
                    connection.send(self.value)
            except OSError:
                pass

    def _may_have(self, connection: socket.socket, address: Any) -> bool:
        if connection.family == socket.AF_UNIX:
            good = _peer_uid(connection) == os.geteuid()
            self.left -= good
            return good
        if self.sealed:
            return True
        if self.left <= 0 or is_own(address[0]):
            return False
        if not self.warned:
            self.warned = True
            say(
                "warning", "PE 0: " + unprotected("reaches TCP port %d of this machine" % self.port)
            )
        return True

    def _close(self) -> None:
        for listener in self.listeners:
            listener.close()

    def close(self) -> None:
        """End the thread and close what it listens at."""
        if self.thread.is_alive():
            os.write(self.wake, b"x")
            self.thread.join()
        self._close()
        os.close(self.wake)
        os.close(self.woken)


def unprotected(who: str) -> str:
    """Return the line on an id that goes to whoever asks."""
    return (
        "the id of this job, which lets its holder read and write symmetric memory, goes to whoever "
        "%s; set %s to the same random word on all hosts" % (who, _secret.NAME)
    )


class TCPStore:
    """One value, which the server (rank 0) gives to the clients that connect to host:port."""

    def __init__(self, host: str, port: int, n: int, server: bool, seconds: float) -> None:
        self.host, self.port, self.seconds = host, port, seconds
        self._server = _Server(host, port, n) if server else None

    def set(self, key: str, value: bytes) -> None:
        """Give `value` to the clients, from a thread, while the server goes on."""
        assert self._server is not None
        self._server.start(value)

    def done(self, key: str) -> None:
        """End the server."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def get(self, key: str) -> bytes:
        """Connect, again and again until rank 0 is there, and return the value."""
        began, last, told = time.monotonic(), "no answer", False
        while time.monotonic() - began < self.seconds:
            try:
                return self._ask()
            except OSError as error:
                last, unknown = str(error), isinstance(error, socket.gaierror)
            if (
                unknown
                and not told
                and time.monotonic() - began > min(NOTE_SECONDS, self.seconds / 2)
            ):
                told = True
                text = "the host name %s is not known here (%s); it is tried for %g s; check MASTER_ADDR"
                say("note", text % (self.host, last, self.seconds))
            time.sleep(0.02)
        raise WarpshmemError(
            "warpshmem.init: rank 0 does not answer at %s port %d within %g s (%s); check"
            " MASTER_ADDR and MASTER_PORT, and that rank 0 runs"
            % (self.host, self.port, self.seconds, last)
        )

    def _ask(self) -> bytes:
        """Ask at each address of the host, once. OSError where nobody has answered."""
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        last: Optional[OSError] = None
        for family, _, _, _, address in found:
            try:
                if is_own(str(address[0])):
                    return self._ask_here()
                return self._ask_there(family, address)
            except OSError as error:
                last = error
        # The port of a container leads elsewhere, and by the word all are known.
        if _secret.word() is not None and self.host not in LOOPBACK:
            return self._ask_there(found[0][0], found[0][4])
        raise last or OSError("no address")

    def _ask_here(self) -> bytes:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(5)
            connection.connect(local_name(self.port))
            owner = _peer_uid(connection)
            if owner != os.geteuid():
                raise WarpshmemError(
                    "warpshmem.init: what answers for port %d is of user %d, and this process of user"
                    " %d; choose another MASTER_PORT, and start all ranks as one user"
                    % (self.port, owner, os.geteuid())
                )
            return _receive(connection)

    @staticmethod
    def _ask_there(family: int, address: Tuple[Any, ...]) -> bytes:
        with socket.socket(family, socket.SOCK_STREAM) as connection:
            connection.settimeout(5)
            connection.connect(address)
            return _receive(connection)


def _receive(connection: socket.socket) -> bytes:
    magic, size = HEAD.unpack(_exactly(connection, HEAD.size))
    if magic != MAGIC:
        raise ConnectionError("another program answers there")
    return _exactly(connection, size)


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("closed by the other side")
        data += part
    return data
