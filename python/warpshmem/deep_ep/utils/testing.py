# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.utils.testing: how long calls take."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Any, Callable, List, Optional, Tuple

import torch

from ..errors import absent

__all__ = [
    "bench",
    "bench_kineto",
    "empty_suppress",
    "flush_l2_cache",
    "suppress_stdout_stderr",
]

_CACHE = 256 << 20  # bytes, more than any GPU's cache has


def bench(
    fn: Callable[[], Any],
    num_warmups: int = 50,
    num_tests: int = 50,
    post_fn: Optional[Callable[[], Any]] = None,
    flush_l2: bool = True,
) -> Tuple[float, float, float]:
    """Return the mean, the least and the most seconds of num_tests calls of fn, behind num_warmups
    of them: on the current stream by events, without a GPU by the clock. post_fn: called after each
    of those. flush_l2: before each the GPU's cache is overwritten."""
    gpu = torch.cuda.is_available()
    for _ in range(num_warmups):
        fn()
    timed: List[Tuple[Any, Any]] = []
    for _ in range(num_tests):
        flush_l2_cache(gpu and flush_l2)
        began = _mark(gpu)
        fn()
        timed.append((began, _mark(gpu)))
        if post_fn is not None:
            post_fn()
    seconds = _seconds(gpu, timed)
    return sum(seconds) / len(seconds), min(seconds), max(seconds)


def flush_l2_cache(enabled: bool = True) -> None:
    """Overwrite the GPU's cache, where enabled."""
    if enabled:
        torch.empty(_CACHE, dtype=torch.int8, device="cuda").zero_()


class empty_suppress(contextlib.nullcontext):  # type: ignore[type-arg]
    """A context that suppresses nothing."""


class suppress_stdout_stderr(contextlib.ExitStack):
    """A context in which descriptors 1 and 2, and so what libraries print, go to /dev/null."""

    def __enter__(self) -> "suppress_stdout_stderr":
        super().__enter__()
        nowhere = self.enter_context(open(os.devnull, "w"))
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number in (1, 2):
            kept = os.dup(number)
            self.callback(os.close, kept)
            self.callback(os.dup2, kept, number)
            os.dup2(nowhere.fileno(), number)
        self.callback(lambda: [stream.flush() for stream in (sys.stdout, sys.stderr)])
        return self


def _mark(gpu: bool) -> Any:
    if not gpu:
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def _seconds(gpu: bool, timed: List[Tuple[Any, Any]]) -> List[float]:
    if not gpu:
        return [float(end - began) for began, end in timed]
    torch.cuda.synchronize()
    return [began.elapsed_time(end) / 1000 for began, end in timed]


bench_kineto = absent(
    "utils.testing.bench_kineto",
    "it looks for DeepEP's kernels by name; use bench, or perftest/python/ep",
)
