# SPDX-License-Identifier: BSD-3-Clause
"""The quick path: frequent calls by the extension module _calls (python/ext), where it is there.

A routine here returns None or False where a call is not plain, or where there is no extension: then
the package's own code does it by ctypes, and raises what is to be raised.
WARPSHMEM_PYTHON_CALLS=ctypes leaves the extension aside, =extension raises where it is not there.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any, Callable, Dict, List

from . import _lib, job
from .errors import WarpshmemError

NAME = "_calls"
FILE = NAME + ".abi3.so"
VERSION = 4  # of python/ext/module.c
CHOICE = "WARPSHMEM_PYTHON_CALLS"
_CURE = (
    "; install a wheel of warpshmem, or python3-dev and build again (%s=ctypes: no line)" % CHOICE
)


def _no(*_: Any) -> Any:
    return None


put = put_nbi = get = get_nbi = put_signal = signal_wait = wait = test = _no
stream_follow = event_mark = event_wait = forms = _no
ROUTINES = ("put", "put_nbi", "get", "get_nbi", "put_signal", "signal_wait", "wait", "test")
ROUTINES += ("stream_follow", "event_mark", "event_wait", "forms")
module: Any = None  # the extension, while it is used
waits = False  # for numpy or torch, which the program has not imported yet
exchanges = False  # this torch shows C its tensors, by DLPack
driver = False  # the extension has been told of it, or need not
_met: List[str] = []
_said = False  # that there is no extension


class _Missing(Exception):
    """Why there is no extension."""


def _path() -> str:
    chosen = os.environ.get("WARPSHMEM_LIBRARY_DIR")
    folder = os.path.abspath(chosen) if chosen else os.path.dirname(os.path.abspath(__file__))
    return os.path.join(folder, FILE)


def _load() -> Any:
    """Return the extension module; _Missing where there is none for this Python."""
    name, path = __package__ + "." + NAME, _path()
    if name in sys.modules:
        return sys.modules[name]
    if ".abi3.so" not in importlib.machinery.EXTENSION_SUFFIXES:
        raise _Missing("this Python loads no modules of CPython's stable ABI")
    if not os.path.exists(path):
        raise _Missing("there is no " + path + _CURE)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    try:
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    except ImportError as error:
        raise _Missing(str(error) + _CURE) from None
    if found.VERSION != VERSION:  # type: ignore[attr-defined]
        raise _Missing(path + " is of another version of the package" + _CURE)
    sys.modules[name] = found
    return found


def _start() -> None:
    """The job has begun: tell the extension, or let PE 0 say, once, why there is none."""
    global module, waits, _said
    choice = os.environ.get(CHOICE, "")
    if choice == "ctypes":
        return
    try:
        module = _load()
    except _Missing as why:
        if choice == "extension":
            raise WarpshmemError("%s is extension, and %s" % (CHOICE, why)) from None
        if job.state.me == 0 and not _said:
            _said = True
            _say("warpshmem: Python calls go by ctypes, which takes longer: %s\n" % why)
        return
    core = _lib.core()
    addresses = {name: address(getattr(core, name)) for name in module.ROUTINES}
    module.start(job.state.me, job.state.n, addresses)
    globals().update((name, getattr(module, name)) for name in ROUTINES)
    waits = len(_met) < len(_MEETINGS)
    meet()


def _say(line: str) -> None:
    try:
        os.write(2, line.encode(errors="replace"))
    except OSError:
        pass


def _stop() -> None:
    """This process is no PE any more."""
    global module, waits
    if module is not None:
        module.stop()
    module, waits = None, False
    globals().update((name, _no) for name in ROUTINES)


def address(routine: Any) -> int:
    """Return the address of a routine of a library."""
    return ctypes.cast(routine, ctypes.c_void_p).value or 0


def _numpy(numpy: Any) -> None:
    module.numpy(numpy.ndarray)
    probe = numpy.zeros((2, 3), "int16")
    if module.look(probe) != (probe.ctypes.data, "int16", (2, 3), 0, 0):
        raise _Missing("this numpy shows its arrays otherwise")


def _torch(torch: Any) -> None:
    global exchanges
    kinds = {
        getattr(torch, name): at for at, name in enumerate(module.KINDS) if hasattr(torch, name)
    }
    methods = torch.Tensor.data_ptr, torch.Tensor.is_contiguous
    tensor = torch.Tensor
    for name in ("__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__", ""):
        exchange = getattr(tensor, name, None)
        if name and type(exchange).__name__ != "PyCapsule":
            continue
        try:
            exchanges = module.torch(tensor, torch.nn.Parameter, kinds, *methods, exchange)
        except ValueError:  # a capsule of something else
            continue
        probe = torch.zeros((2, 3), dtype=torch.int16, device="cpu")
        if module.look(probe) == (probe.data_ptr(), "int16", (2, 3), 0, 0):
            return
    raise _Missing("this torch shows its tensors otherwise")


def meet_driver() -> None:
    """Tell the extension about CUDA's driver, which the process has loaded by now."""
    global driver
    if driver or module is None:
        return
    driver = True
    try:
        found = ctypes.CDLL("libcuda.so.1")
        module.driver(address(found.cuEventRecord), address(found.cuStreamWaitEvent))
    except (OSError, AttributeError):  # torch does it
        pass


_MEETINGS: Dict[str, Callable[[Any], None]] = {"numpy": _numpy, "torch": _torch}


def meet() -> None:
    """Tell the extension about numpy and torch, where the program has imported them by now."""
    global waits
    for name, tell in _MEETINGS.items():
        found = sys.modules.get(name)
        if name in _met or found is None or _importing(found):
            continue
        _met.append(name)
        try:
            tell(found)
        except Exception:  # it is none that is known, and its arrays are not plain
            _forget(name)
    waits = len(_met) < len(_MEETINGS)


def _forget(name: str) -> None:
    """Let no array of a framework be plain: _Missing is no type of arrays."""
    global exchanges
    if name == "numpy":
        module.numpy(_Missing)
    else:
        exchanges = module.torch(_Missing, _Missing, {}, None, None, None)


def _importing(found: Any) -> bool:
    """Is a module's import still going on?"""
    return bool(getattr(getattr(found, "__spec__", None), "_initializing", False))


def describe() -> str:
    """Say how calls go in this process."""
    if os.environ.get(CHOICE) == "ctypes":
        return "by ctypes: %s=ctypes" % CHOICE
    try:
        return "by " + str(_load().__file__)
    except _Missing as why:
        return "by ctypes: %s" % why


def kinds(names: Any) -> int:
    """Return the mask of types of elements with these names."""
    return sum(1 << at for at, name in enumerate(module.KINDS) if name in names)


job.at_start.append(_start)
job.at_end.append(_stop)
os.register_at_fork(after_in_child=_stop)
