# SPDX-License-Identifier: BSD-3-Clause
"""EPHandle: what a dispatch of EPBuffer or ElasticBuffer leaves for its combine and for later
dispatches of its routing."""

from __future__ import annotations

import sys
from typing import Any, List, Optional, Tuple

import torch
from warpshmem import _ep_arrays

from . import _by_expert, _topk
from ._expand import Places, aligned

_users = getattr(torch._C, "_storage_Use_Count", None)  # of a tensor's memory


class EPHandle:
    """A dispatch made it; programs read its attributes.

    do_expand, num_experts, expert_alignment, num_max_tokens_per_rank, num_sms: of the dispatch.
    topk_idx: [T, K], the dispatch's. num_recv_tokens: R received rows; num_expanded_tokens: the sum
    of the aligned counts. Both are what can come at most without do_cpu_sync.
    num_recv_tokens_per_expert_list: the aligned counts of the L experts here, empty without
    do_cpu_sync. All tensors are int32: psum_num_recv_tokens_per_scaleup_rank, inclusive sums of
    rows by source; psum_num_recv_tokens_per_expert [L], inclusive sums of aligned counts, with
    do_expand each expert's first row plus its real count; num_unaligned_recv_tokens_per_expert [L],
    with do_expand; recv_src_metadata [R, K + 2]: source rank * num_max_tokens_per_rank + token,
    then the row's number among those of its source * K + the first choice that is here, then, with
    do_expand, each choice's expanded row; -1 where there is none. recv_expert_ids, with
    emit_expert_ids: the expert here of each expanded row, -1: no token's. token_metadata_at_forward
    and channel_linked_list are None: rows are not forwarded by channels.
    """

    do_expand: bool
    num_experts: int
    expert_alignment: int
    num_max_tokens_per_rank: int
    num_sms: int
    topk_idx: torch.Tensor
    num_recv_tokens: int
    num_expanded_tokens: int
    num_recv_tokens_per_expert_list: List[int]
    num_unaligned_recv_tokens_per_expert: Optional[torch.Tensor] = None
    token_metadata_at_forward: Optional[torch.Tensor] = None
    channel_linked_list: Optional[torch.Tensor] = None
    recv_expert_ids: Optional[torch.Tensor] = None

    # Of this package.
    _inner: Any  # the handle of normal mode
    _owner: Any = None  # the calls that made it
    _counts: torch.Tensor  # [L], not aligned
    _chosen: torch.Tensor  # [R, K] int64: experts here of each row, -1: another rank's
    _places: Optional[Places] = None
    _wide: Optional[torch.Tensor] = None  # [R, K of the instance]: its rows, as a combine takes them
    _most: int  # rows that any rank receives, at most
    _given_shape: torch.Size  # of x
    _told: Optional[torch.Tensor] = None  # the last recv_topk_idx
    _told_version = 0
    _told_stream = 0  # whose memory it is
    _fresh: Optional[Tuple[torch.Tensor, int]] = None  # the first one, and whose memory it is
    _captured = False  # by a graph, whose replays have other routings
    _sources: torch.Tensor  # [n, 2] int32: first row and rows of each source
    _tokens: torch.Tensor  # [R] int32: of which token of its source each row is
    _metadata: Optional[torch.Tensor] = None
    _shown: Optional[torch.Tensor] = None  # what a program has set in its place
    _slots: Optional[torch.Tensor] = None
    _psums: Optional[Tuple[torch.Tensor, torch.Tensor]] = None

    def psums(self) -> Tuple[torch.Tensor, torch.Tensor]:
        """Return inclusive sums by scale-up rank and by expert; made when they are first asked
        for."""
        if self._psums is None:
            inside = self._owner.logical[1]
            wanted = self._counts if self._places is None else None
            made = _by_expert.sums(self._sources, wanted, inside, self.expert_alignment)
            if made is not None:
                self._psums = made[0], made[1] if self._places is None else self._places.ends
                return self._psums
            out = self._owner.logical[0]
            come = self._sources[:, 1].view(out, inside).sum(0).cumsum(0).int()
            if self._places is not None:
                self._psums = come, self._places.ends
            else:
                padded = aligned(self._counts, self.expert_alignment)
                self._psums = come, padded.cumsum(0, dtype=torch.int32)
        return self._psums

    def copied(self, rows: int, copy: torch.Tensor, stream: int) -> None:
        """Take a copy of the choices of all rows that there is room for as the first recv_topk_idx,
        made on a stream while the host waited for their number."""
        if copy.shape[1] == self._chosen.shape[1]:
            some = copy if copy.shape[0] == rows else copy[:rows]
            self._fresh = some.clone() if rows * 2 < copy.shape[0] else some, stream

    def chosen(self) -> torch.Tensor:
        """Return recv_topk_idx: the last one, if nobody has it any more and nobody has written it."""
        told, made = self._told, self._chosen
        stream = _ep_arrays.raw_stream(made.get_device()) if made.is_cuda else 0
        if stream != self._told_stream:
            told = None  # torch orders memory by the stream that has made it
        if told is not None and sys.getrefcount(told) <= _ALONE[0]:
            if _topk.version(told) == self._told_version and _used(told) == _ALONE[1]:
                return told
        fresh, self._fresh = self._fresh, None
        if fresh is not None and fresh[1] == stream:
            told = fresh[0]
        else:
            told = made.to(self.topk_idx.dtype, copy=True).contiguous()
        fresh = None  # who looks next counts who has it
        version = _topk.version(told)
        captured = told.is_cuda and torch.cuda.is_current_stream_capturing()
        if _users is not None and version is not None and not captured and not self._captured:
            self._told, self._told_version, self._told_stream = told, version, stream
        return told

    @property
    def psum_num_recv_tokens_per_scaleup_rank(self) -> torch.Tensor:
        """[ranks] int32."""
        return self.psums()[0]

    @property
    def psum_num_recv_tokens_per_expert(self) -> torch.Tensor:
        """[L] int32."""
        return self.psums()[1]

    @property
    def recv_src_metadata(self) -> torch.Tensor:
        """[R, K + 2] int32; made when it is first asked for."""
        return self.metadata() if self._shown is None else self._shown

    @recv_src_metadata.setter
    def recv_src_metadata(self, value: torch.Tensor) -> None:
        self._shown = value

    def metadata(self) -> torch.Tensor:
        """Return recv_src_metadata, whatever a program has set."""
        if self._metadata is None:
            self._metadata = self._name()
        return self._metadata

    def _name(self) -> torch.Tensor:
        rows, columns = self._chosen.shape
        first, counts = self._sources[:, 0], self._sources[:, 1]
        numbers = torch.arange(rows, dtype=torch.int32, device=first.device)
        source = torch.bucketize(numbers, (first + counts).contiguous(), right=True)
        source = source.clamp(max=first.shape[0] - 1)
        made = torch.full((rows, columns + 2), -1, dtype=torch.int32, device=first.device)
        chosen = (self._chosen >= 0).int().argmax(1) if rows else numbers
        made[:, 0] = source * self.num_max_tokens_per_rank + self._tokens[:rows]
        made[:, 1] = (numbers - first[source]) * columns + chosen
        if self._places is not None:
            made[:, 2:] = self._places.rows
        if not self.num_recv_tokens_per_expert_list:  # rows that may not have come
            made.masked_fill_((numbers >= counts.sum())[:, None], -1)
        return made

    @property
    def dst_buffer_slot_idx(self) -> torch.Tensor:
        """[T, K] int32: of each choice, rank * num_max_tokens_per_rank + the token's number among
        those that this rank sends to the expert's rank; -1: no expert."""
        if self._slots is None:
            n, owner = self._owner.size, self._owner.rank
            ranks = torch.div(self.topk_idx, self.num_experts // n, rounding_mode="floor").long()
            valid = self.topk_idx >= 0
            at = torch.where(valid, ranks, torch.full_like(ranks, n))
            inside = torch.zeros((at.shape[0], n + 1), dtype=torch.int64, device=at.device)
            inside.scatter_(1, at, 1)
            number = (inside.cumsum(0) - 1).gather(1, at) + owner * self.num_max_tokens_per_rank
            self._slots = torch.where(valid, number, torch.full_like(number, -1)).int()
        return self._slots


def _used(tensor: torch.Tensor) -> int:
    """Return how many tensors, and views, have the memory, and what this takes itself."""
    return int(_users(tensor.untyped_storage()._cdata)) if _users is not None else 0


class _Sample:
    _told: Optional[torch.Tensor] = None


def _alone() -> Tuple[int, int]:
    """Return what counts of a tensor say, that one attribute and a variable have."""
    sample = _Sample()
    sample._told = torch.empty(1)
    told = sample._told
    return sys.getrefcount(told), _used(told)


_ALONE = _alone()
