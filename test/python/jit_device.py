# SPDX-License-Identifier: BSD-3-Clause
"""What the kernels of jit_device_triton.py and jit_device_numba.py share: a job, and the checks.

Arrays, of one PE: data int32[4 * N], words int64[8], sums float32[2 * N], signal, out int64[8].
A kernel writes the words of the next PE and says in `out` what its calls returned.
"""
import os

os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")

import numpy as np

import warpshmem

N = 5000
ROUNDS = 3


def refused(launch, says):
    """A launch raises WarpshmemError whose text has these words."""
    try:
        launch()
    except warpshmem.WarpshmemError as error:
        assert says in str(error), error
        return
    raise AssertionError("launched: no error that says " + says)


class Arrays:
    """Symmetric arrays as what `like` says; `host` makes numpy's of one."""

    def __init__(self, like, host):
        self.host = host
        self.data = warpshmem.zeros(4 * N, "int32", like=like, device="gpu")
        self.words = warpshmem.zeros(8, "int64", like=like, device="gpu")
        self.sums = warpshmem.zeros(2 * N, "float32", like=like, device="gpu")
        self.signal = warpshmem.zeros(1, "int64", like=like, device="gpu")
        self.out = warpshmem.zeros(8, "int64", like=like, device="gpu")
        self.all = (self.data, self.words, self.sums, self.signal, self.out)
        warpshmem.barrier_all()

    def check(self):
        """What all PEs' kernels have written: see the kernels."""
        me, n = warpshmem.my_pe(), warpshmem.n_pes()
        left, right = (me + n - 1) % n, (me + 1) % n
        own = np.arange(N, dtype=np.int32)
        data, words, sums, signal, out = [self.host(each) for each in self.all]
        for part, pe in enumerate((me, left, left, right)):
            got = data[part * N : (part + 1) * N]
            assert (got == own + 1000 * pe).all(), ("data", part, got[got != own + 1000 * pe][:4])
        at_0 = (n, (1 << n) - 1) if me == 0 else (0, 0)
        expected = [left + 50, left + 100, 5, left + 7, left + 9, at_0[0], at_0[1], 42]
        assert list(words) == expected, ("words", words, expected)
        assert list(out) == [me + 100, 0, 0, 0, 42, 0, 3, 1], ("out", out)
        assert signal[0] == 3, ("signal", signal)
        assert (sums[N:] == n * own + sum(range(n))).all(), ("sums", sums[N : N + 4])
        warpshmem.barrier_all()
