# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of numpy and torch as calls of expert parallelism name them: addresses, checks, new
ones."""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _quick
from .errors import ArgumentError
from .memory import has_memory

_BYTES = {"bf16": 2, "e4m3": 1, "uint8": 1, "int32": 4, "int64": 8, "float32": 4}
# What may stand for a type: names of numpy's and torch's.
NAMES: Dict[str, Tuple[str, ...]] = {
    "bf16": ("bfloat16", "uint16", "int16"),
    "e4m3": ("float8_e4m3fn", "uint8", "int8"),
    "uint8": ("uint8", "int8"),
    "int32": ("int32",),
    "int64": ("int64",),
    "float32": ("float32",),
}


def _torch() -> Any:
    """Return torch where the program has imported it: who has a tensor has."""
    return sys.modules.get("torch")


def is_tensor(array: Any) -> bool:
    """Whether it is a tensor of torch."""
    torch = _torch()
    return torch is not None and isinstance(array, torch.Tensor)


def _numpy_type(kind: str) -> str:
    return {"bf16": "uint16", "e4m3": "uint8"}.get(kind, kind)


@functools.lru_cache(maxsize=None)
def _torch_type(kind: str) -> Any:
    torch = _torch()
    if kind == "bf16":
        return torch.bfloat16
    if kind == "e4m3":
        return getattr(torch, "float8_e4m3fn", torch.uint8)
    return getattr(torch, kind)


def maker(like: Any) -> Callable[[Tuple[int, ...], str], Any]:
    """Return a function that allocates an array: shape and type; as `like` is, and on its
    device."""
    if is_tensor(like):
        empty, device, short = _torch().empty, like.device, _shortest(like)
        if short is not None:
            return lambda shape, kind: short(shape, _dense(shape), _torch_type(kind))
        return lambda shape, kind: empty(shape, dtype=_torch_type(kind), device=device)
    import numpy

    return lambda shape, kind: numpy.empty(shape, dtype=_numpy_type(kind))


def made(like: Any, forms: Sequence[Any]) -> List[Any]:
    """Return an array of each shape and type, None for None; as `like` is, and on its device."""
    short = _shortest(like) if is_tensor(like) else None
    if short is None:
        new = maker(like)
        return [form and new(*form) for form in forms]
    return [form and short(form[0], _dense(form[0]), _torch_type(form[1])) for form in forms]


def tokens_of(x: Any, hidden: int) -> int:
    """Return T of x [T, hidden]."""
    shape = tuple(getattr(x, "shape", ()))
    if len(shape) != 2 or shape[1] != hidden:
        raise ArgumentError(
            "warpshmem.ep.dispatch: x has shape %s; it is [tokens, hidden], and hidden is %d"
            % (shape, hidden)
        )
    return int(shape[0])


_raw: Any = None  # torch's way, once it has been looked for


def raw_stream(gpu: int) -> int:
    """Return the cudaStream_t that is torch's current one on a GPU."""
    global _raw
    if _raw is None:
        torch = _torch()
        _raw = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (
            lambda at: torch.cuda.current_stream(at).cuda_stream
        )
    return _raw(gpu)  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=None)
def _short(on_gpu: bool) -> Any:
    """Return torch's shortest way to an empty tensor, of shape, strides and type; None: it has
    none."""
    guards = getattr(getattr(_torch()._C, "_dynamo", None), "guards", None)  # torch.compile's
    return getattr(guards, "_empty_strided_" + ("cuda" if on_gpu else "cpu"), None)


def _shortest(like: Any) -> Any:
    """Return that for tensors on the device of `like`; None where it would take another."""
    if like.is_cuda:
        return _short(True) if like.get_device() == _torch().cuda.current_device() else None
    return _short(False) if like.is_cpu else None


def allocator(like: Any) -> Callable[..., Tuple[Any, Tuple[Any, ...], Dict[str, Any]]]:
    """Return what makes arrays as `like` is, apart: shape, type, strides -> a callable and its
    arguments. torch's are of its caching allocator, by the shortest way that this torch has."""
    if not is_tensor(like):
        import numpy

        return lambda shape, kind, steps=None: (numpy.empty, (shape, _numpy_type(kind)), {})
    if _quick.waits:
        _quick.meet()
    torch, short = _torch(), _short(like.is_cuda) if _quick.exchanges else None

    def made(shape: Tuple[int, ...], kind: Any, steps: Any = None) -> Tuple[Any, ...]:
        dtype = _torch_type(kind) if isinstance(kind, str) else kind
        if short is not None:
            return short, (shape, steps or _dense(shape), dtype), {}
        keywords = dict(dtype=dtype, device=like.device)
        if steps:
            return torch.empty_strided, (shape, steps), keywords
        return torch.empty, (shape,), keywords

    return made


def _dense(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    """Return the strides of an array in C order."""
    if len(shape) == 2:
        return max(shape[1], 1), 1
    steps, step = [], 1
    for extent in reversed(shape):
        steps.append(step)
        step *= max(extent, 1)
    return tuple(reversed(steps))


def stream_of(stream: Any, like: Any) -> Optional[int]:
    """Return the cudaStream_t: of an int, of torch's or cupy's stream; None: torch's current
    one."""
    if stream is None:
        return raw_stream(like.get_device()) if is_tensor(like) else None
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    return int(stream)


# Arguments that calls write.
WRITTEN = frozenset(
    "row_sums rows row_scales counts sources row_topk row_weights ranges row_sources totals out out_weights"
    " expanded.rows expanded.row_scales expanded.weights expanded.ends expanded.places"
    " expanded.sources expanded.experts".split()
)


class Where:
    """Turns the arrays of one call into addresses; those that are wrong are refused by name."""

    def __init__(self, call: str, device: bool, like: Any) -> None:
        self.call, self.device, self.like = "warpshmem.ep." + call, device, like

    def refuse(self, name: str, text: str) -> ArgumentError:
        return ArgumentError("%s: %s %s" % (self.call, name, text))

    def pointer(
        self, name: str, array: Any, kind: str, last: Sequence[int], empty: bool = True
    ) -> Optional[int]:
        """Return the address of a contiguous array whose last dimensions are `last` (-1: any).

        None for None. An array without elements has no address of its own; it gets one that is
        never read, since the library takes NULL for something else.
        """
        if array is None:
            return None
        dtype = str(getattr(array, "dtype", type(array).__name__)).replace("torch.", "")
        if dtype not in NAMES[kind]:
            raise self.refuse(name, "is of %s; give %s" % (dtype, " or ".join(NAMES[kind][:2])))
        shape = tuple(array.shape)
        if len(shape) < len(last) or any(
            want not in (-1, got) for want, got in zip(last, shape[-len(last) :])
        ):
            raise self.refuse(
                name,
                "has shape %s; its last dimensions are %s"
                % (shape, ", ".join("any" if want < 0 else str(want) for want in last)),
            )
        address = self._tensor(name, array) if is_tensor(array) else self._array(name, array)
        return address if address and array_size(array) else nothing(self.device, self.like)

    def _tensor(self, name: str, tensor: Any) -> int:
        if not tensor.is_contiguous():
            raise self.refuse(name, "is not contiguous; give %s.contiguous()" % name)
        if tensor.is_cuda != self.device or not has_memory(tensor):
            raise self.refuse(
                name,
                "is on %s, and config.device is %d; give a tensor %s"
                % (tensor.device, self.device, "of the GPU" if self.device else "of the CPU"),
            )
        return tensor.data_ptr()

    def _array(self, name: str, array: Any) -> int:
        if self.device:
            raise self.refuse(
                name,
                "is in memory of the host, and config.device is 1; give a CUDA tensor of torch",
            )
        if not array.flags.c_contiguous:
            raise self.refuse(name, "is not contiguous; give numpy.ascontiguousarray(%s)" % name)
        if name in WRITTEN and not array.flags.writeable:
            raise self.refuse(name, "is read-only; give an array that may be written")
        return array.ctypes.data


_nothings: Dict[str, Any] = {}


def nothing(device: bool, like: Any) -> int:
    """Return an address, in memory of the host or of a GPU, for arrays without elements."""
    key = str(like.device) if device else "host"
    if key not in _nothings:
        _nothings[key] = maker(like)((64,), "int32") if device else (ctypes.c_int64 * 32)()
    made = _nothings[key]
    return int(made.data_ptr()) if device else ctypes.addressof(made)


def array_size(array: Any) -> int:
    """Return the number of elements."""
    return int(array.numel()) if is_tensor(array) else int(array.size)


class _DeviceMemory:
    """Device memory as torch takes it without a copy; `owner` lives as long."""

    def __init__(self, address: int, count: int, owner: Any) -> None:
        self.owner = owner
        self.__cuda_array_interface__ = {
            "shape": (count,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 2,
        }


def over_memory(address: int, shape: Tuple[int, ...], kind: str, like: Any, owner: Any) -> Any:
    """Return an array over memory at an address, of the framework and on the device that `like`
    is."""
    count = _BYTES[kind]
    for dimension in shape:
        count *= dimension
    if is_tensor(like) and like.is_cuda:
        memory = _torch().as_tensor(_DeviceMemory(address, count, owner), device=like.device)
        return memory.view(_torch_type(kind)).view(shape)
    memory = (ctypes.c_uint8 * count).from_address(address)
    memory.owner = owner
    if is_tensor(like):
        return (
            _torch()
            .frombuffer(memory, dtype=_torch_type(kind), count=count // _BYTES[kind])
            .view(shape)
        )
    import numpy

    return numpy.frombuffer(memory, dtype=_numpy_type(kind)).reshape(shape)
