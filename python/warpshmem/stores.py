# SPDX-License-Identifier: BSD-3-Clause
"""What carries a unique id from rank 0 to the others: files, TCP, torch.distributed, mpi4py, any
store of keys."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from typing import Any, Callable, List, Optional, Tuple, Union

from .errors import WarpshmemError, refuse

SECONDS = 60.0
KEY = "warpshmem id"
_count = 0  # jobs that this process has taken part in
_written: List["FileStore"] = []


def _seconds() -> float:
    try:
        return float(os.environ.get("SHMEM_BOOTSTRAP_UID_SECONDS", SECONDS))
    except ValueError:
        return SECONDS


class FileStore:
    """Keys in files whose names begin with `path`, in a folder that all processes see. An id is a
    secret: mode 0600."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)

    def _file(self, key: str) -> str:
        return (
            self.path if key == KEY else self.path + "." + key.replace(" ", "_").replace("/", "_")
        )

    def set(self, key: str, value: bytes) -> None:
        """Write a key, which must not be there yet."""
        part = "%s.part.%d" % (self._file(key), os.getpid())
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(value)
        try:
            os.link(part, self._file(key))
        except FileExistsError:
            raise WarpshmemError(
                "warpshmem.init: the file %s is there already; remove it, or name another one: each"
                " job has a unique id of its own"
                % self._file(key)
            ) from None
        finally:
            os.unlink(part)

    def get(self, key: str) -> bytes:
        """Wait for a key and return it."""
        until = time.monotonic() + _seconds()
        while not os.path.exists(self._file(key)):
            if time.monotonic() > until:
                raise WarpshmemError(
                    "warpshmem.init: rank 0 has not written the file %s within %g s; name a file"
                    " that all processes see, and start rank 0" % (self._file(key), _seconds())
                )
            time.sleep(0.01)
        with open(self._file(key), "rb") as given:
            return given.read()

    def done(self, key: str) -> None:
        """Remove a key that all have read."""
        try:
            os.unlink(self._file(key))
        except FileNotFoundError:
            pass


def _send(connection: socket.socket, data: bytes) -> None:
    connection.sendall(struct.pack("!I", len(data)) + data)


def _receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("closed by the other side")
        data += part
    return data


class TCPStore:
    """One value, which the server (rank 0) gives to n - 1 clients that connect to host:port."""

    def __init__(self, host: str, port: int, n: int, server: bool) -> None:
        self.address, self.n = (host, port), n
        self._listener: Optional[socket.socket] = self._listen() if server else None

    def _listen(self) -> socket.socket:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                (
                    None
                    if self.address[0] not in ("localhost", "127.0.0.1", "::1")
                    else self.address[0]
                ),
                self.address[1],
                type=socket.SOCK_STREAM,
                flags=socket.AI_PASSIVE,
            )[0]
            listener = socket.socket(family, kind, protocol)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(max(self.n, 16))
            return listener
        except OSError as error:
            raise WarpshmemError(
                "warpshmem.init: rank 0 cannot listen at port %d: %s; choose another MASTER_PORT,"
                " or another store" % (self.address[1], error)
            ) from None

    def set(self, key: str, value: bytes) -> None:
        """Give `value` to the clients, from a thread, while the server goes on."""
        threading.Thread(
            target=self._serve, args=(key.encode(), value), name="warpshmem store", daemon=True
        ).start()

    def _serve(self, key: bytes, value: bytes) -> None:
        left = self.n - 1
        assert self._listener is not None
        self._listener.settimeout(_seconds())
        try:
            while left > 0:
                connection, _ = self._listener.accept()
                with connection:
                    connection.settimeout(5)
                    try:
                        if _receive(connection, 64).rstrip(b"\0") == key:
                            _send(connection, value)
                            left -= 1
                    except OSError:
                        continue
        except OSError:
            pass  # those that have not come say so themselves
        finally:
            self._listener.close()

    def get(self, key: str) -> bytes:
        """Connect, again and again until rank 0 is there, and return the value."""
        until, last = time.monotonic() + _seconds(), "no answer"
        while time.monotonic() < until:
            try:
                with socket.create_connection(self.address, timeout=5) as connection:
                    connection.sendall(key.encode().ljust(64, b"\0"))
                    return _receive(connection, struct.unpack("!I", _receive(connection, 4))[0])
            except OSError as error:
                last = str(error)
                time.sleep(0.02)
        raise WarpshmemError(
            "warpshmem.init: rank 0 does not answer at %s port %d within %g s (%s); check"
            " MASTER_ADDR and MASTER_PORT, and that rank 0 runs"
            % (self.address + (_seconds(), last))
        )


def is_communicator(store: Any) -> bool:
    """Is it a communicator of mpi4py?"""
    return hasattr(store, "Get_rank") and hasattr(store, "bcast")


def _torch_of_environment() -> Optional[Any]:
    """Return torch.distributed where torch is loaded and its default group is there."""
    import sys

    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed
    return None


def _agent_store(host: str, port: int) -> Any:
    """Return the store that torchrun itself serves at MASTER_PORT."""
    try:
        from torch.distributed import TCPStore as Agent
    except ImportError as error:
        raise WarpshmemError(
            "warpshmem.init: torchrun serves its own store at MASTER_PORT, and torch.distributed, "
            "which speaks to it, is not there: %s; pass store= or uid=" % error
        ) from None
    return Agent(host, port, is_master=False)


def from_environment() -> Any:
    """Return the store that MASTER_ADDR and MASTER_PORT name, as torchrun sets them."""
    group = _torch_of_environment()
    if group is not None:
        return group
    try:
        host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    except (KeyError, ValueError):
        raise WarpshmemError(
            "warpshmem.init: neither uid= nor store= is given, and MASTER_ADDR and MASTER_PORT name"
            " no store; pass one of them, set both, or start with oshrun, srun --mpi=pmix or mpirun"
        ) from None
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        return _agent_store(host, port)
    return "tcp://%s:%d" % (host, port)


def _tcp_address(text: str) -> Tuple[str, int]:
    host, colon, port = text[len("tcp://") :].rpartition(":")
    if not colon or not port.isdigit():
        raise refuse("init", "store", text, "write tcp://host:port")
    return host.strip("[]"), int(port)


def _keyed(store: Any, rank: int, n: int) -> Any:
    """Return the store of a path, an address or an object with set and get."""
    if isinstance(store, str) and store.startswith("tcp://"):
        return TCPStore(*_tcp_address(store), n, rank == 0)
    if isinstance(store, str) and store.startswith("file://"):
        return FileStore(store[len("file://") :])
    if isinstance(store, (str, os.PathLike)):
        return FileStore(store)
    if hasattr(store, "set") and hasattr(store, "get"):
        return store
    raise refuse(
        "init",
        "store",
        store,
        "pass a store of torch.distributed, torch.distributed, a communicator of "
        "mpi4py, a path, tcp://host:port, or an object with set(key, bytes) and get(key)",
    )


def _torch_broadcast(distributed: Any, group: Any, rank: int, make: Callable[[], bytes]) -> bytes:
    box = [make() if rank == 0 else None]
    source = distributed.get_global_rank(group, 0) if group is not None else 0
    distributed.broadcast_object_list(box, src=source, group=group)
    return box[0]


def exchange(store: Any, rank: int, n: int, make: Callable[[], bytes]) -> bytes:
    """Return the unique id on all ranks: rank 0 makes it, the store carries it."""
    global _count
    if is_communicator(store):
        return store.bcast(make() if rank == 0 else None, root=0)
    if getattr(store, "__name__", "") == "torch.distributed":
        return _torch_broadcast(store, None, rank, make)
    if type(store).__name__ == "ProcessGroup" or type(store).__name__.startswith("ProcessGroup"):
        import torch.distributed

        return _torch_broadcast(torch.distributed, store, rank, make)
    keyed = _keyed(store, rank, n)
    # A store of others keeps its keys: each job has one of its own.
    key = KEY if isinstance(keyed, (FileStore, TCPStore)) else "%s %d" % (KEY, _count)
    _count += 1
    if rank:
        return bytes(keyed.get(key))
    unique = make()
    keyed.set(key, unique)
    if isinstance(keyed, FileStore):
        _written.append(keyed)
    return unique


def clean() -> None:
    """Remove the files that this process wrote: all PEs have come."""
    while _written:
        _written.pop().done(KEY)
