# SPDX-License-Identifier: BSD-3-Clause
"""Routines of warpshmem for kernels of numba-cuda.

    from numba import cuda
    import warpshmem.numba as shmem

    @cuda.jit
    def send(dest, source, signal, pe):
        shmem.putmem_signal_nbi_block(dest, source, dest.size * 4, signal, 1, shmem.SIGNAL_SET, pe)

Names and arguments are NVSHMEM's: a thread makes a call for itself, and a warp or a block together
those with `_warp` and `_block` in their names. Memory is an array (its first element) or an address
as a number; the type of a typed routine is that of its array. `ptr` gives an address, `peer` the
array as it lies at another PE. Arguments go by position.

Kernels that call these are linked with libnvshmem_device.ltoir by nvJitLink, of the CUDA toolkit
that made that file or a newer one. Their modules are initialised when they are loaded, at the first
launch; with signatures in cuda.jit that is where the kernel is defined.

The list of routines is warpshmem._routines.ROUTINES; `help` of each shows its arguments.
"""
from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, List

try:
    from cuda.bindings import driver as _driver
    from llvmlite import ir as _ir
    from numba import cuda as _cuda
    from numba.cuda import cgutils as _cgutils
    from numba.cuda import types as _types
    from numba.cuda.core import errors as _errors
    from numba.cuda.extending import intrinsic as _intrinsic
except ImportError as error:
    raise ImportError(
        "warpshmem.numba: %s; it needs numba-cuda 0.30 or newer (pip install numba-cuda), and not "
        "the CUDA target of numba itself" % error
    ) from error

from . import _modules
from ._lib import library_path
from ._routines import CONSTANTS, ROUTINES, Routine, describe, thread_symbol
from .errors import WarpshmemError

_DEVICE_CODE = "libnvshmem_device.ltoir"
_TYPES = {
    "int8": _types.int8,
    "int16": _types.int16,
    "int32": _types.int32,
    "int64": _types.int64,
    "uint8": _types.uint8,
    "uint16": _types.uint16,
    "uint32": _types.uint32,
    "uint64": _types.uint64,
    "float": _types.float32,
    "double": _types.float64,
}
_NUMBERS = {
    "int": _types.int32,
    "size": _types.uint64,
    "uint64": _types.uint64,
    "address": _types.uint64,
}
_MEMORY = ("address", "signal", "word")


def _module_of(code: Any) -> int:
    status, module = _driver.cuLibraryGetModule(_driver.CUlibrary(int(code.handle)))
    if status != _driver.CUresult.CUDA_SUCCESS:
        raise WarpshmemError("cuLibraryGetModule of a kernel's code: %s" % status)
    return int(module)


def _loaded(code: Any) -> None:
    _modules.add(_module_of(code), "a kernel of numba")


def _unloading(code: Any) -> None:
    _modules.remove(_module_of(code))


@functools.lru_cache(maxsize=None)
def device_code() -> Any:
    """Return the device code as numba-cuda links it; calls bring it along by themselves.

    Raises WarpshmemError where libnvshmem_device.ltoir is not there: make device-library.
    """
    with open(library_path(_DEVICE_CODE), "rb") as file:
        return _cuda.LTOIR(
            file.read(), name=_DEVICE_CODE, setup_callback=_loaded, teardown_callback=_unloading
        )


def _refuse(call: str, name: str, given: Any, cure: str) -> Any:
    return _errors.TypingError("%s: %s is %s; %s" % (call, name, given, cure))


def _element(call: str, routine: Routine, arguments: Any) -> str:
    """The name of the type of a typed routine: that of the elements of its array."""
    at = next(i for i, (_, kind) in enumerate(routine.arguments) if kind == "word")
    given = getattr(arguments[at], "dtype", None)
    found = next((each for each in routine.types if _TYPES[each] == given), None)
    if found is None:
        raise _refuse(
            call,
            routine.arguments[at][0],
            arguments[at],
            "pass an array of " + " or ".join(routine.types),
        )
    return found


def _check(call: str, name: str, kind: str, given: Any) -> None:
    array, integer = isinstance(given, _types.Array), isinstance(given, _types.Integer)
    if kind in _MEMORY and not (array or integer or isinstance(given, _types.CPointer)):
        raise _refuse(call, name, given, "pass an array in symmetric memory, or an address")
    if kind == "signal" and array and given.dtype.bitwidth != 64:
        raise _refuse(call, name, given, "a signal has 64 bits: pass an array of uint64")
    if kind == "value" and not isinstance(given, (_types.Integer, _types.Float)):
        raise _refuse(call, name, given, "pass a number")
    if kind not in _MEMORY + ("value",) and not integer:
        raise _refuse(call, name, given, "pass an integer")


def _lower(context: Any, builder: Any, kind: str, value: Any, given: Any, element: Any) -> Any:
    """An argument as the C function takes it."""
    if kind not in _MEMORY:
        return context.cast(builder, value, given, element if kind == "value" else _NUMBERS[kind])
    if isinstance(given, _types.Array):
        value = context.make_array(given)(context, builder, value=value).data
    if isinstance(given, _types.Integer):
        return builder.inttoptr(
            context.cast(builder, value, given, _types.uint64), _cgutils.voidptr_t
        )
    return builder.bitcast(value, _cgutils.voidptr_t)


def _call(context: Any, builder: Any, symbol: str, result: Any, lowered: List[Any]) -> Any:
    """Call a C function of the device code, with which the kernel is then linked."""
    c_type = _ir.VoidType() if result is _types.void else context.get_value_type(result)
    function = _cgutils.get_or_insert_function(
        builder.module, _ir.FunctionType(c_type, [each.type for each in lowered]), symbol
    )
    context.active_code_library.add_linking_file(device_code())
    got = builder.call(function, lowered)
    return context.get_dummy_value() if result is _types.void else got


def _make(routine: Routine, scope: str) -> Callable[..., Any]:
    name = routine.name + ("_" + scope if scope in ("warp", "block") else "")
    call = "warpshmem.numba." + name

    def typed(typing_context: Any, *arguments: Any) -> Any:
        if len(arguments) != len(routine.arguments):
            raise _errors.TypingError(
                "%s takes %d arguments, and got %d: %s"
                % (call, len(routine.arguments), len(arguments), describe(routine))
            )
        for (each, kind), given in zip(routine.arguments, arguments):
            _check(call, each, kind, given)
        element = _element(call, routine, arguments) if routine.types else ""
        value: Any = _TYPES.get(element)
        result: Any = (
            value if routine.result == "value" else _NUMBERS.get(routine.result, _types.void)
        )

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            lowered = [
                _lower(context, builder, kind, each, given, value)
                for (_, kind), each, given in zip(routine.arguments, values, signature.args)
            ]
            if routine.result == "address":
                c_result = _call(context, builder, thread_symbol(routine), _types.voidptr, lowered)
                return builder.ptrtoint(c_result, context.get_value_type(result))
            return _call(context, builder, thread_symbol(routine, scope, element), result, lowered)

        return result(*arguments), generate

    typed.__name__ = typed.__qualname__ = name
    typed.__doc__ = describe(routine)
    # numba reads from it how many arguments there are.
    typed.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(each, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for each in ("typing_context", *(each for each, _ in routine.arguments))
        ]
    )
    return _intrinsic(typed)


@_intrinsic
def peer(typing_context: Any, dest: Any, pe: Any) -> Any:
    """peer(dest: array, pe: int): the array at another PE, for loads and stores.

    Its elements lie at address 0 where the GPU does not reach that PE so: `ptr` tells.
    """
    if not isinstance(dest, _types.Array) or not isinstance(pe, _types.Integer):
        raise _refuse(
            "warpshmem.numba.peer",
            "dest, pe",
            (dest, pe),
            "pass an array in symmetric memory and a PE",
        )
    routine = next(each for each in ROUTINES if each.name == "ptr")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(dest)(context, builder, value=values[0])
        lowered = [
            builder.bitcast(array.data, _cgutils.voidptr_t),
            context.cast(builder, values[1], pe, _types.int32),
        ]
        at = _call(context, builder, thread_symbol(routine), _types.voidptr, lowered)
        array.data = builder.bitcast(at, array.data.type)
        return array._getvalue()

    return dest(dest, pe), generate


def _all() -> List[str]:
    names = ["peer", "device_code", *CONSTANTS]
    for routine in ROUTINES:
        for scope in routine.scopes:
            made = _make(routine, scope)
            name = routine.name + ("_" + scope if scope in ("warp", "block") else "")
            globals()[name] = made
            names.append(name)
    return names


globals().update(CONSTANTS)
__all__ = _all()
