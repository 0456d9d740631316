# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of arrays that the tests run with, one interface."""

from __future__ import annotations

import functools
import os
from typing import Any, List

import numpy as np

import warpshmem as shmem


class Fake:
    """An array in memory of the driver without a GPU (test/fake_cuda), which loads and stores do not reach."""

    is_cuda = True

    def __init__(self, memory: shmem.Memory, index: Any) -> None:
        self.memory, self.index = memory, index  # which elements, as an array of numpy
        self.shape, self.dtype = index.shape, np.dtype(memory.kind.name)

    def data_ptr(self) -> int:
        """As torch has it; and so the next two."""
        first = int(self.index.flat[0]) if self.index.size else 0
        return self.memory.address + first * self.dtype.itemsize

    def numel(self) -> int:
        """How many elements."""
        return int(self.index.size)

    def is_contiguous(self) -> bool:
        """In C order, without gaps?"""
        return bool(self.index.flags.c_contiguous)

    def __getitem__(self, key: Any) -> "Fake":
        return Fake(self.memory, self.index[key])

    def reshape(self, *shape: int) -> "Fake":
        """The same elements."""
        return Fake(self.memory, self.index.reshape(*shape))

    @property
    def T(self) -> "Fake":
        """Transposed."""
        return Fake(self.memory, self.index.T)

    def __setitem__(self, key: Any, values: Any) -> None:
        data = np.ascontiguousarray(values, self.dtype)
        shmem.put(self[key], data, shmem.my_pe())
        shmem.quiet()

    def tolist(self) -> Any:
        """Copied to the host."""
        data = np.empty(self.shape, self.dtype)
        shmem.get(data, self, shmem.my_pe())
        return data.tolist()


class Arrays:
    """Makes and reads arrays of one framework."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.framework = kind.partition("-")[0]
        self.gpu = kind in ("torch", "cupy", "fake")
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
        if self.kind == "fake":
            return self.fake(shmem.zeros(shape, dtype, like=None, device="gpu"))
        return shmem.zeros(shape, dtype, like=self.framework, device=self.where)

    def empty(self, shape: Any, dtype: str = "int64") -> Any:
        """Return symmetric memory."""
        if self.kind == "fake":
            return self.fake(shmem.empty(shape, dtype, like=None, device="gpu"))
        return shmem.empty(shape, dtype, like=self.framework, device=self.where)

    @staticmethod
    def fake(memory: shmem.Memory) -> Fake:
        """Return an array over memory of the driver without a GPU."""
        return Fake(memory, np.arange(int(np.prod(memory.shape))).reshape(memory.shape))

    def symmetric(self, values: Any, dtype: str = "int64") -> Any:
        """Return `values` in symmetric memory."""
        array = self.zeros(np.shape(values), dtype)
        self.fill(array, values)
        return array

    def private(self, values: Any, dtype: str = "int64") -> Any:
        """Return `values` in memory of this PE alone."""
        if self.framework in ("numpy", "fake"):
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
