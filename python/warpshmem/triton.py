# SPDX-License-Identifier: BSD-3-Clause
"""Routines of warpshmem for Triton's kernels (Triton 3.6 or newer).

    import warpshmem.triton as shmem

    @shmem.kernel
    @triton.jit
    def send(dest, source, nbytes, signal, pe):
        shmem.putmem_signal_nbi_block(dest, source, nbytes, signal, 1, shmem.SIGNAL_SET, pe)

A program makes each call with all its threads: routines with `_block` in their names share the work
among them, those without act once, and what they give is there for the program. What the program
did before a call is before it. Names and arguments are NVSHMEM's. Pointers are scalars, Triton's or
addresses as numbers; the type of a typed routine is that of its pointer. `ptr` gives a pointer of
the type of the one that it is passed, 0 where the GPU does not reach that PE by loads and stores.
Programs that Triton divides among warps (warp specialisation) cannot make calls.

The list of routines is warpshmem._routines.ROUTINES; `help` of each shows its arguments.
"""
from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Dict, List

import triton as _triton
import triton.language as tl
from triton.language import core as _core

from . import _modules
from ._lib import library_path
from ._routines import CONSTANTS, ROUTINES, Routine, block_symbol, describe
from .errors import WarpshmemError

_LIBRARY = "warpshmem"
_BITCODE = "libnvshmem_device.bc"
_TYPES = {
    "int8": tl.int8,
    "int16": tl.int16,
    "int32": tl.int32,
    "int64": tl.int64,
    "uint8": tl.uint8,
    "uint16": tl.uint16,
    "uint32": tl.uint32,
    "uint64": tl.uint64,
    "float": tl.float32,
    "double": tl.float64,
}
_NUMBERS = {"int": tl.int32, "size": tl.int64, "uint64": tl.uint64}


def _element(call: str, routine: Routine, arguments: Dict[str, Any]) -> str:
    """The name of the type of a typed routine: that of what its pointer points to."""
    name = next(name for name, kind in routine.arguments if kind == "word")
    given = getattr(getattr(arguments[name], "dtype", None), "element_ty", None)
    found = next((each for each in routine.types if _TYPES[each] == given), None)
    if found is None:
        raise WarpshmemError(
            "%s: %s is %s; pass a scalar pointer to %s"
            % (
                call,
                name,
                getattr(arguments[name], "type", arguments[name]),
                " or ".join(routine.types),
            )
        )
    return found


def _lower(call: str, name: str, kind: str, value: Any, element: str, semantic: Any) -> Any:
    """An argument as the C function takes it: a pointer as its address."""
    value = semantic.to_tensor(_core._unwrap_if_constexpr(value))
    if value.type.is_block():
        raise WarpshmemError(
            "%s: %s is a block of %s; the whole program makes one call: pass a scalar"
            % (call, name, value.type)
        )
    if kind in ("address", "signal", "word"):
        if not (value.type.is_ptr() or value.dtype.is_int()):
            raise WarpshmemError("%s: %s is %s; pass a pointer" % (call, name, value.type))
        width = value.dtype.element_ty.primitive_bitwidth if value.type.is_ptr() else 64
        if kind == "signal" and width != 64:
            raise WarpshmemError(
                "%s: %s points to %s; a signal has 64 bits" % (call, name, value.dtype.element_ty)
            )
        return tl.cast(value, tl.int64, _semantic=semantic)
    if kind != "value" and not value.dtype.is_int():
        raise WarpshmemError("%s: %s is %s; pass an integer" % (call, name, value.type))
    return tl.cast(
        value, _TYPES[element] if kind == "value" else _NUMBERS[kind], _semantic=semantic
    )


def _attached(call: str, semantic: Any) -> None:
    libraries = dict(semantic.builder.options.extern_libs or ())
    if _LIBRARY not in libraries:
        raise WarpshmemError(
            "%s: the kernel is compiled without the device code of warpshmem; put "
            "@warpshmem.triton.kernel above its @triton.jit" % call
        )


def _result(routine: Routine, element: str) -> Any:
    if routine.result == "value":
        return _TYPES[element]
    return {"": tl.int32, "address": tl.int64}.get(routine.result) or _NUMBERS[routine.result]


def _make(routine: Routine) -> Callable[..., Any]:
    name = routine.name + ("_block" if "block" in routine.scopes else "")
    call = "warpshmem.triton." + name
    parameters = [
        inspect.Parameter(each, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for each, _ in routine.arguments
    ]
    signature = inspect.Signature(parameters)

    def function(*args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        _attached(call, _semantic)
        element = _element(call, routine, given) if routine.types else ""
        lowered = [
            _lower(call, each, kind, given[each], element, _semantic)
            for each, kind in routine.arguments
        ]
        types = tuple(each.dtype for each in lowered)
        got = _core.extern_elementwise(
            "",
            "",
            lowered,
            {types: (block_symbol(routine, element), _result(routine, element))},
            is_pure=False,
            _semantic=_semantic,
        )
        if routine.result == "address" and given["dest"].dtype.is_ptr():
            return tl.cast(got, given["dest"].dtype, _semantic=_semantic)
        return got if routine.result else None

    function.__name__ = function.__qualname__ = name
    function.__doc__ = describe(routine)
    made = _core.extern(function)
    made.__signature__ = signature.replace(
        parameters=parameters
        + [inspect.Parameter("_semantic", inspect.Parameter.KEYWORD_ONLY, default=None)]
    )
    return made


class Kernel:
    """A kernel of Triton that calls routines of warpshmem: `kernel[grid](...)`."""

    def __init__(self, function: Any) -> None:
        self.function = function
        functools.update_wrapper(self, function)  # type: ignore[arg-type]

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return functools.partial(self.run, grid=grid, warmup=False)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **options: Any) -> Any:
        """Compile with the device code, and launch unless `warmup`.

        Raises WarpshmemError where this is no PE, has no GPU or no libnvshmem_device.bc.
        """
        if not warmup:
            _modules.ready("the kernel %s" % getattr(self.function, "__name__", ""))
        options["extern_libs"] = extern_libs(options.get("extern_libs"))
        return self.function.run(*args, grid=grid, warmup=warmup, **options)

    def warmup(self, *args: Any, grid: Any, **options: Any) -> Any:
        """Compile and do not launch."""
        return self.run(*args, grid=grid, warmup=True, **options)


def kernel(function: Any) -> Kernel:
    """Decorate what triton.jit or triton.heuristics made, so that it calls routines of warpshmem.

    Not what triton.autotune made of a kernel that waits for peers: each PE launches it as often as
    it likes.
    """
    return Kernel(function if hasattr(function, "run") else _triton.jit(function))


@functools.lru_cache(maxsize=None)
def _bitcode() -> str:
    return library_path(_BITCODE)


def extern_libs(others: Any = None) -> Dict[str, str]:
    """Return Triton's option extern_libs, with `others`: for triton.compile."""
    return {**dict(others or {}), _LIBRARY: _bitcode()}


def _kernel_loaded(module: Any, function: Any, name: str, metadata_group: Any, hash: str) -> None:
    """Triton's hook for each kernel that it has loaded."""
    if module and _modules.calls_library(module):
        _modules.add(module, "the kernel %s" % name)


def _hook() -> None:
    chain = getattr(
        getattr(getattr(_triton, "knobs", None), "runtime", None), "kernel_load_end_hook", None
    )
    if not hasattr(chain, "add"):
        raise ImportError(
            "warpshmem.triton: Triton %s has no hook for loaded kernels; use Triton 3.6 or newer"
            % _triton.__version__
        )
    chain.add(_kernel_loaded)


_made: List[Callable[..., Any]] = [_make(routine) for routine in ROUTINES]
globals().update({each.__name__: each for each in _made})
globals().update({name: tl.constexpr(number) for name, number in CONSTANTS.items()})
__all__ = ["Kernel", "kernel", "extern_libs", *(each.__name__ for each in _made), *CONSTANTS]
_hook()
