# SPDX-License-Identifier: BSD-3-Clause
"""The masks of a Buffer with enable_shrink: ranks that its low-latency calls go on without."""

from __future__ import annotations

from typing import Any, List, Set

import torch

from . import _elastic_checks as checks
from .errors import wrong

LIMIT_SECS = 100.0  # that a call waits for a rank, as DeepEP's kernels


class Masks:
    """Masks are this rank's own, and each instance of the library has its own: what the program
    sets is set in all of them, and a rank that one of them has masked is shown."""

    enable_shrink: bool
    group_size: int
    rank: int
    low_latency_limit_secs: float = LIMIT_SECS
    _low: Any
    _masked: Set[int]

    def _instances(self, call: str) -> List[Any]:
        """Return the instances that there are. Shapes whose first call is still to come: _masked."""
        if not self.enable_shrink:
            text = "is False; make the Buffer with enable_shrink=True"
            raise wrong("Buffer." + call, "enable_shrink", text)
        entries = [entry for made in self._low.entries.values() for entry in made]
        for entry in entries:
            for hook in list(entry.pending.values()):  # masks change between calls
                hook.run()
        return [entry.instance for entry in entries]

    def low_latency_update_mask_buffer(self, rank_to_mask: int, mask: bool = False) -> None:
        """Mask a rank, or take it back: every rank that is to go on with it does so, it cleans its
        masks itself, and all meet, before the next call."""
        call = "low_latency_update_mask_buffer"
        made = self._instances(call)
        checks.flag("Buffer." + call, "mask", mask)
        checks.whole("Buffer." + call, "rank_to_mask", rank_to_mask, 0)
        if rank_to_mask >= self.group_size or rank_to_mask == self.rank:
            text = "is %r; give another rank of the group" % (rank_to_mask,)
            raise wrong("Buffer." + call, "rank_to_mask", text)
        (self._masked.add if mask else self._masked.discard)(rank_to_mask)
        for one in made:
            one.mask_update(rank_to_mask, bool(mask))

    def low_latency_query_mask_buffer(self, mask_status: torch.Tensor) -> None:
        """Write 1 for each masked rank, else 0: [ranks] int32."""
        call = "low_latency_query_mask_buffer"
        made = self._instances(call)
        checks.tensor("Buffer." + call, "mask_status", mask_status)
        if mask_status.dtype != torch.int32 or tuple(mask_status.shape) != (self.group_size,):
            text = "is %s %s; give int32 [%d]"
            text %= (mask_status.dtype, tuple(mask_status.shape), self.group_size)
            raise wrong("Buffer." + call, "mask_status", text)
        found = [0] * self.group_size
        for one in made:
            found = [a | b for a, b in zip(found, one.mask_query())]
        for rank in self._masked:
            found[rank] = 1
        mask_status.copy_(torch.tensor(found, dtype=torch.int32))

    def low_latency_clean_mask_buffer(self) -> None:
        """Take all ranks back; a rank that comes back calls it too, and then all meet."""
        made = self._instances("low_latency_clean_mask_buffer")
        self._masked.clear()
        for one in made:
            one.mask_clean()
