# SPDX-License-Identifier: BSD-3-Clause
"""What carries a unique id from rank 0 to the others: files, TCP, torch.distributed, mpi4py, any
store of keys."""

from __future__ import annotations

import os
import re
import time
from typing import Any, Callable, List, Optional, Tuple, Union

from . import _lib, _secret
from ._tcp_store import TCPStore, say, unprotected
from .errors import WarpshmemError, refuse

SECONDS = 60.0
KEY = "warpshmem id"
_count = 0  # jobs that this process has taken part in
_used: List[Union["FileStore", TCPStore]] = []  # those of this package that this process serves


def _seconds() -> float:
    try:
        return float(_lib.setting("SHMEM_BOOTSTRAP_UID_SECONDS") or SECONDS)
    except ValueError:
        return SECONDS


class FileStore:
    """Keys in files whose names begin with `path`, in a folder that all processes see.

    An id is a secret: the files have mode 0600, and one of another user is refused.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)

    def _file(self, key: str) -> str:
        return (
            self.path if key == KEY else self.path + "." + key.replace(" ", "_").replace("/", "_")
        )

    def set(self, key: str, value: bytes) -> None:
        """Write a key, which must not be there yet."""
        part = "%s.part.%d" % (self._file(key), os.getpid())
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                out.write(value)
        except OSError as error:
            raise WarpshmemError(
                "warpshmem.init: rank 0 cannot write the file %s: %s; name a file in a folder that"
                " is there, and that all processes see" % (part, error.strerror)
            ) from None
        try:
            os.link(part, self._file(key))
        except FileExistsError:
            raise WarpshmemError(
                "warpshmem.init: the file %s is there already; remove it, or name another one: each"
                " job has a unique id of its own" % self._file(key)
            ) from None
        except OSError as error:
            raise WarpshmemError(
                "warpshmem.init: rank 0 cannot give the file %s its name: %s; name one in a folder"
                " whose file system has hard links" % (self._file(key), error.strerror)
            ) from None
        finally:
            os.unlink(part)

    def get(self, key: str) -> bytes:
        """Wait for a key and return it. WarpshmemError where another user may have written it."""
        path, until = self._file(key), time.monotonic() + _seconds()
        while time.monotonic() < until:
            try:
                return _secret.read_own(path, "the file", _secret.word() is not None)
            except FileNotFoundError:
                time.sleep(0.01)
            except OSError as error:
                cure = "name a file that this user may read, and no link"
                raise WarpshmemError(
                    "warpshmem.init: the file %s cannot be read: %s; %s"
                    % (path, error.strerror, cure)
                ) from None
        raise WarpshmemError(
            "warpshmem.init: rank 0 has not written the file %s within %g s; name a file that all "
            "processes see, and start rank 0" % (path, _seconds())
        )

    def done(self, key: str) -> None:
        """Remove a key that all have read."""
        try:
            os.unlink(self._file(key))
        except FileNotFoundError:
            pass


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


def _one_host() -> bool:
    """Are all processes on this machine, as torchrun says?"""
    here = os.environ.get("LOCAL_WORLD_SIZE")
    return here is not None and here == os.environ.get("WORLD_SIZE")


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
    if _one_host():
        return "tcp://localhost:%d" % port  # by a local socket, beside what torchrun serves there
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        if os.environ.get("RANK") == "0" and _secret.word() is None:
            say("warning", "PE 0: " + unprotected("reaches torchrun's store at MASTER_PORT"))
        return _agent_store(host, port)
    return "tcp://%s:%d" % (host, port)


def _tcp_address(text: str) -> Tuple[str, int]:
    host, colon, port = text[len("tcp://") :].rpartition(":")
    if not host or not colon or not port.isdigit() or int(port) > 65535:
        raise refuse("init", "store", text, "write tcp://host:port")
    return host.strip("[]"), int(port)


def _keyed(store: Any, rank: int, n: int) -> Any:
    """Return the store of a path, an address or an object with set and get."""
    if isinstance(store, str) and store.startswith("tcp://"):
        return TCPStore(*_tcp_address(store), n, rank == 0, _seconds())
    if isinstance(store, str) and store.startswith("file://"):
        return FileStore(store[len("file://") :])
    if isinstance(store, str) and re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", store):
        raise refuse(
            "init",
            "store",
            store,
            "addresses are tcp://host:port and file:///path; for others "
            "pass an object with set(key, bytes) and get(key)",
        )
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
    box = [_secret.seal(make()) if rank == 0 else None]
    source = distributed.get_global_rank(group, 0) if group is not None else 0
    distributed.broadcast_object_list(box, src=source, group=group)
    return _secret.unseal(bytes(box[0]))  # type: ignore[arg-type]


def exchange(store: Any, rank: int, n: int, make: Callable[[], bytes]) -> bytes:
    """Return the unique id on all ranks: rank 0 makes it, the store carries it, sealed by the word
    that processes share (_secret)."""
    global _count
    if is_communicator(store):
        return store.bcast(make() if rank == 0 else None, root=0)
    if getattr(store, "__name__", "") == "torch.distributed":
        return _torch_broadcast(store, None, rank, make)
    if type(store).__name__ == "ProcessGroup" or type(store).__name__.startswith("ProcessGroup"):
        import torch.distributed

        return _torch_broadcast(torch.distributed, store, rank, make)
    keyed = _keyed(store, rank, n)
    own = isinstance(keyed, (FileStore, TCPStore))
    # A store of others keeps its keys: each job has one of its own.
    key = KEY if own else "%s %d" % (KEY, _count)
    _count += 1
    if rank:
        return _secret.unseal(bytes(keyed.get(key)))
    if isinstance(keyed, TCPStore):
        _used.append(keyed)
    unique = make()
    keyed.set(key, _secret.seal(unique))
    if isinstance(keyed, FileStore):
        _used.append(keyed)
    return unique


def clean() -> None:
    """Remove what this process wrote, and end what it serves: all PEs have come, or none will."""
    while _used:
        _used.pop().done(KEY)
