# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.utils.testing: how long calls take."""

from __future__ import annotations

import time
from typing import Any, Callable, List, Optional, Tuple

import torch

from ..errors import absent

__all__ = ["bench", "bench_kineto"]

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
        if gpu and flush_l2:
            _flush()
        began = _mark(gpu)
        fn()
        timed.append((began, _mark(gpu)))
        if post_fn is not None:
            post_fn()
    seconds = _seconds(gpu, timed)
    return sum(seconds) / len(seconds), min(seconds), max(seconds)


def _flush() -> None:
    torch.empty(_CACHE, dtype=torch.int8, device="cuda").zero_()


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
