# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of arrays that the tests run with, one interface."""

from __future__ import annotations

import functools
import os
from typing import Any, List

import numpy as np

import warpshmem as shmem


class Arrays:
    """Makes and reads arrays of one framework."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.framework = kind.partition("-")[0]
        self.gpu = kind in ("torch", "cupy")
        self.where = "gpu" if self.gpu else "host"
        if self.framework == "torch":
            import torch

            self.torch = torch
        if self.framework == "cupy":
            import cupy

            self.cupy = cupy

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def of_environment() -> "Arrays":
        """Return those of WSH_PY_KIND."""
        return Arrays(os.environ.get("WSH_PY_KIND", "numpy"))

    def zeros(self, shape: Any, dtype: str = "int64") -> Any:
        """Return zeros in symmetric memory."""
        return shmem.zeros(shape, dtype, like=self.framework, device=self.where)

    def empty(self, shape: Any, dtype: str = "int64") -> Any:
        """Return symmetric memory."""
        return shmem.empty(shape, dtype, like=self.framework, device=self.where)

    def symmetric(self, values: Any, dtype: str = "int64") -> Any:
        """Return `values` in symmetric memory."""
        array = self.zeros(np.shape(values), dtype)
        self.fill(array, values)
        return array

    def private(self, values: Any, dtype: str = "int64") -> Any:
        """Return `values` in memory of this PE alone."""
        if self.framework == "numpy":
            return np.array(values, dtype=dtype)
        if self.framework == "cupy":
            made = self.cupy.array(np.array(values), dtype=dtype)
        else:
            made = self.torch.tensor(
                np.array(values).tolist(),
                dtype=getattr(self.torch, dtype),
                device="cuda" if self.gpu else "cpu",
            )
        self.ready()
        return made

    def fill(self, array: Any, values: Any) -> None:
        """Write `values` to an array."""
        array[...] = self.private(values, self.dtype(array))
        self.ready()

    def dtype(self, array: Any) -> str:
        """Return the name of an array's type."""
        return str(array.dtype).rpartition(".")[2]

    def ready(self) -> None:
        """Wait for the GPU."""
        if self.kind == "torch":
            self.torch.cuda.synchronize()
        if self.kind == "cupy":
            self.cupy.cuda.get_current_stream().synchronize()

    def list(self, array: Any) -> List[Any]:
        """Return what an array holds."""
        if self.kind == "torch":
            return array.cpu().tolist()
        return array.tolist()

    def stream(self) -> Any:
        """Return a stream of a GPU."""
        return (
            self.torch.cuda.Stream()
            if self.kind == "torch"
            else self.cupy.cuda.Stream(non_blocking=True)
        )
