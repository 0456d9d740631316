# SPDX-License-Identifier: BSD-3-Clause
"""Single-batch overlap: a low-latency combine that begins while experts still compute, and reads
rows when their signals have come. With tensors of the CPU; on a GPU it is not offered."""

from __future__ import annotations

import threading
import time
from typing import Any, Dict, NamedTuple, Optional

import torch
import warpshmem

from ._elastic_checks import flag
from .errors import not_offered, wrong

CALL = "Buffer.low_latency_combine"
NAMES = (
    "overlap src_signals src_signal_expect_value packed_recv_count comp_signal block_m threshold "
    "num_sms"
).split()
BLOCK = 64  # block_m that is not given
PAUSE = 2e-5  # seconds between two looks at words


class Signals(NamedTuple):
    """Words, the value at which rows are there, and how many rows of an expert a word is for, 0:
    all."""

    words: torch.Tensor
    value: int
    rows: int


class Shown:
    """The words of a call in symmetric memory, which the library waits on: while the call is made a
    thread shows there what becomes of the program's."""

    def __init__(self, team: Optional[warpshmem.Team]) -> None:
        self.team = warpshmem.TEAM_WORLD if team is None else team
        self.memory: Optional[torch.Tensor] = None

    def begin(self, signals: Signals, most: int) -> int:
        """Return the address of the words. most: of any call, one for each row; the first call is
        collective over the group."""
        if self.memory is None:
            self.memory = self.team.empty(most, "int32", like="torch")
            self.memory.zero_()
        self.copy = self.memory[: len(signals.words)]
        self.words = signals.words.view(torch.int32)
        self.copy.copy_(self.words)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._show, daemon=True)
        self.thread.start()
        return int(self.memory.data_ptr())

    def end(self) -> None:
        """The call has been made."""
        self.ended.set()
        self.thread.join()

    def close(self) -> None:
        """Give the memory back. Collective over the group."""
        if self.memory is not None:
            self.team.free(self.memory)
        self.memory = None

    def _show(self) -> None:
        while not self.ended.is_set():
            self.copy.copy_(self.words)
            time.sleep(PAUSE)


def known(given: Dict[str, Any]) -> None:
    """Refuse arguments that there are not."""
    for name in given:
        if name not in NAMES:
            raise TypeError("deep_ep.%s: there is no argument %s" % (CALL, name))


def asked(given: Dict[str, Any], x: torch.Tensor, buffer: Any) -> Optional[Signals]:
    """Return what arguments of single-batch overlap ask for; None: nothing. x: [experts here, rows,
    hidden].

    src_signals [experts here] and src_signal_expect_value; or, with overlap, comp_signal [experts
    here * ceil(rows / block_m)], or longer, and threshold. packed_recv_count and num_sms change
    nothing.
    """
    flag(CALL, "overlap", given.get("overlap"))
    words = given.get("src_signals")
    if words is None and not given.get("overlap"):
        return None
    name = "src_signals"
    if words is None and given.get("comp_signal") is None:
        raise wrong(CALL, "overlap", "is True without signals; give src_signals or comp_signal")
    if words is not None:
        rows, value = 0, _number(given, "src_signal_expect_value", 0)
    else:
        name, words = "comp_signal", given["comp_signal"]
        rows, value = _number(given, "block_m", BLOCK), _number(given, "threshold", None)
    _offered(name, x, buffer)
    least = x.shape[0] * (-(-x.shape[1] // rows) if rows else 1)
    if not isinstance(words, torch.Tensor) or words.element_size() != 4 or words.dim() != 1:
        shown = getattr(words, "dtype", type(words).__name__)
        raise wrong(CALL, name, "is of %s; give a tensor of int32, or uint32" % shown)
    right = least <= words.shape[0] and words.is_contiguous() and words.device == x.device
    if not right:
        text = "has shape %s on %s; it is [%d], contiguous, on %s"
        raise wrong(CALL, name, text % (tuple(words.shape), words.device, least, x.device))
    return Signals(words[:least], value, rows)


def _number(given: Dict[str, Any], name: str, default: Optional[int]) -> int:
    value = given.get(name, default)
    least = 0 if default == 0 else 1
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 1 << 31:
        raise wrong(CALL, name, "is %r; give a whole number, at least %d" % (value, least))
    return value


def _offered(name: str, x: torch.Tensor, buffer: Any) -> None:
    """Refuse signals where rows cannot wait for them."""
    cure = "leave it out, and combine when all rows are there: with %s there is no single-batch overlap"
    team = warpshmem.TEAM_WORLD if buffer.team is None else buffer.team
    if x.is_cuda:  # kernels that write the rows have not started while the combine waited for them
        raise not_offered(CALL, name, "a tensor", cure % "tensors of a GPU")
    if any(team.translate(at, warpshmem.TEAM_SHARED) is None for at in range(team.n_pes)):
        raise not_offered(CALL, name, "a tensor", cure % "ranks on several hosts")
