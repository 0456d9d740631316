# SPDX-License-Identifier: BSD-3-Clause
"""A block of symmetric memory, given back when nothing names it any more, and what any array looks
like to a routine."""

from __future__ import annotations

import weakref
from typing import Any, Dict, NamedTuple, Optional, Tuple

from . import _kept, _lib, _quick, dlpack, job
from .dtypes import TYPES, Type, dtype_name
from .errors import WarpshmemError, failed_text, last_line, refuse


def _give_back(address: int, world: int, free_later: Any, state: Any) -> None:
    """The destructor. Local, from any thread and in any order: the heap agrees on what is free when
    PEs next allocate."""
    if state.live and state.world == world:
        free_later(address)


class Memory:
    """`nbytes` bytes at `address`, with an array of `shape` and `kind` laid over them; offers the
    array protocols.

    Where it owns them, they are given back by shmemx_free_later when the last array over them is
    gone. `owner`: what it keeps alive besides.
    """

    def __init__(
        self,
        address: int,
        nbytes: int,
        shape: Tuple[int, ...],
        kind: Type,
        device: Optional[int],
        owns: bool,
        owner: Any = None,
    ) -> None:
        self.address, self.nbytes, self.shape, self.kind, self.device = (
            address,
            nbytes,
            shape,
            kind,
            device,
        )
        self.owner = owner
        self.world = job.state.world
        if device is None:
            _kept.watch(self)
        if owns:
            end = weakref.finalize(
                self, _give_back, address, job.state.world, _lib.core().shmemx_free_later, job.state
            )
            end.atexit = False

    def _interface(self) -> Dict[str, Any]:
        if self.kind.typestr is None:
            raise AttributeError("the array interface has no type %s; use DLPack" % self.kind.name)
        return {
            "shape": self.shape,
            "typestr": self.kind.typestr,
            "data": (self.address, False),
            "version": 3,
            "strides": None,
        }

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        if self.device is not None:
            raise AttributeError("memory of a GPU has no __array_interface__")
        return self._interface()

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        if self.device is None:
            raise AttributeError("memory of the host has no __cuda_array_interface__")
        return dict(self._interface(), stream=None)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (dlpack.CPU, 0) if self.device is None else (dlpack.CUDA, self.device)

    def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
        """Return a DLPack capsule over the memory. What other streams do with it is the caller's to
        order."""
        return dlpack.capsule(self, self.address, self.shape, self.kind, self.__dlpack_device__())

    def __repr__(self) -> str:
        where = "host" if self.device is None else "cuda:%d" % self.device
        return "<warpshmem.Memory %s%s at %#x, %s>" % (
            self.kind.name,
            list(self.shape),
            self.address,
            where,
        )


def allocate(call: str, nbytes: int, gpu: bool, zeroed: bool, team: Optional[int] = None) -> int:
    """Allocate symmetric memory, of the team of a handle alone, and return its address. Collective;
    WarpshmemError on all PEs where it does not fit."""
    _lib.hold_errors()
    core = _lib.core()
    if team is not None:
        address = (core.shmemx_team_malloc_device if gpu else core.shmemx_team_malloc)(team, nbytes)
    elif zeroed:
        address = (core.shmemx_calloc_device if gpu else core.shmem_calloc)(1, nbytes)
    else:
        address = (core.shmemx_malloc_device if gpu else core.shmem_malloc)(nbytes)
    if not address:
        size = "SHMEM_DEVICE_SYMMETRIC_MAX" if gpu else "SHMEM_SYMMETRIC_SIZE"
        raise WarpshmemError(
            last_line()
            or "warpshmem.%s: %d bytes of symmetric memory are not there on all PEs; %s"
            % (call, nbytes, failed_text() or "set " + size)
        )
    return address


class View(NamedTuple):
    """What a routine has to know of an array."""

    address: int
    size: int  # elements
    kind: Type
    gpu: bool
    readonly: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.kind.size


_by_typestr = {row.typestr: row for row in TYPES.values() if row.typestr}


def _interface_view(
    interface: Dict[str, Any], array: Any, gpu: bool, call: str, argument: str
) -> View:
    kind = _by_typestr.get(interface["typestr"])
    if kind is None:
        raise refuse(
            call, argument, interface["typestr"], "its dtype is none of " + ", ".join(TYPES)
        )
    size, dense = 1, kind.size
    for extent in interface["shape"]:
        if extent < 0:
            raise refuse(call, argument, interface["shape"], "no extent of a shape is below 0")
        size *= extent
    strides = interface.get("strides")
    if strides is not None and size:
        for extent, stride in zip(reversed(interface["shape"]), reversed(strides)):
            if extent != 1 and stride != dense:
                raise refuse(
                    call, argument, "strided", "pass an array that is contiguous in C order"
                )
            dense *= extent
    address, readonly = interface["data"]
    return View(address or 0, size, kind, gpu, bool(readonly))


def writable(seen: View, call: str, argument: str) -> View:
    """Return a description; ArgumentError where what it describes is read-only."""
    if seen.readonly:
        raise refuse(call, argument, "read-only", "pass an array that may be written")
    return seen


def has_memory(tensor: Any) -> bool:
    """Whether a tensor of torch lies in memory that the library knows: not on meta, for example."""
    device = getattr(tensor, "device", None)
    return getattr(device, "type", "cpu") in ("cpu", "cuda")


def view(array: Any, call: str, argument: str) -> View:
    """Describe an array of numpy, torch, cupy, or of the array interfaces; ArgumentError where it
    is not contiguous."""
    if _quick.waits:
        _quick.meet()
    pointer = getattr(array, "data_ptr", None)
    if pointer is not None:  # torch
        if not array.is_contiguous():
            raise refuse(call, argument, "strided", "pass a contiguous tensor: .contiguous()")
        if not has_memory(array):
            raise refuse(call, argument, "on %s" % array.device, "pass a tensor of the CPU or GPU")
        name = dtype_name(array.dtype)
        if name not in TYPES:
            raise refuse(call, argument, name, "its dtype is none of " + ", ".join(TYPES))
        return View(pointer(), array.numel(), TYPES[name], array.is_cuda)
    interface = getattr(array, "__array_interface__", None)
    if interface is not None:
        return _interface_view(interface, array, False, call, argument)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        return _interface_view(interface, array, True, call, argument)
    if isinstance(array, Memory):
        return View(
            array.address, array.nbytes // array.kind.size, array.kind, array.device is not None
        )
    raise refuse(call, argument, type(array).__name__, "pass an array of numpy, torch or cupy")


def symmetric(array: Any, call: str, argument: str) -> View:
    """Describe an array in symmetric memory; ArgumentError where it is not."""
    seen = view(array, call, argument)
    accessible, me = _lib.core().shmem_addr_accessible, job.state.me
    if seen.size and not (
        accessible(seen.address, me) and accessible(seen.address + seen.nbytes - 1, me)
    ):
        raise refuse(
            call,
            argument,
            type(array).__name__ + " at %#x" % seen.address,
            "it is not in symmetric memory: allocate it with warpshmem.empty or zeros",
        )
    return seen
