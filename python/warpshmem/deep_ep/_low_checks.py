# SPDX-License-Identifier: BSD-3-Clause
"""What arguments of low-latency calls are refused for."""

from __future__ import annotations

from typing import Any, Optional

import torch
from warpshmem import ep

from . import _topk
from .errors import wrong

FP8_DTYPE = getattr(torch, "float8_e4m3fn", None)


def dispatch(
    x: torch.Tensor, topk_idx: torch.Tensor, max_tokens: int, dtype: int, packed: bool
) -> None:
    call = "low_latency_dispatch"
    if x.dim() != 2 or x.dtype != torch.bfloat16:
        raise wrong(
            call,
            "x",
            "has shape %s of %s; it is [tokens, hidden] of torch.bfloat16"
            % (tuple(x.shape), x.dtype),
        )
    if topk_idx.dim() != 2 or topk_idx.shape[0] != x.shape[0]:
        raise wrong(
            call,
            "topk_idx",
            "has shape %s; it is [%d, top-k]" % (tuple(topk_idx.shape), x.shape[0]),
        )
    if x.shape[0] > max_tokens:
        raise wrong(
            call,
            "x",
            "has %d tokens, and num_max_dispatch_tokens_per_rank is %d; raise it on all ranks"
            % (x.shape[0], max_tokens),
        )
    if dtype != ep.BF16 and FP8_DTYPE is None:
        raise wrong(
            call,
            "use_fp8",
            "is True, and this torch has no float8_e4m3fn; use torch 2.1 or newer, or "
            "use_fp8=False",
        )
    if packed and x.shape[1] % 512:
        raise wrong(
            call, "use_ue8m0", "is True, and hidden is %d; it takes multiples of 512" % x.shape[1]
        )


def stats(stats: Optional[torch.Tensor], local: int) -> None:
    if stats is not None and (tuple(stats.shape) != (local,) or stats.dtype != torch.int32):
        raise wrong(
            "low_latency_dispatch",
            "cumulative_local_expert_recv_stats",
            "has shape %s of %s; it is [%d] of torch.int32"
            % (tuple(stats.shape), stats.dtype, local),
        )


def topk(topk_idx: torch.Tensor, handle: Any) -> None:
    """The experts of a combine are those of its dispatch. Values are looked at on the host."""
    before = handle.given
    if (
        tuple(topk_idx.shape) != tuple(before.shape)
        or topk_idx.dtype != before.dtype
        or (not topk_idx.is_cuda and not torch.equal(topk_idx, before))
    ):
        raise wrong("low_latency_combine", "topk_idx", "is not that of the dispatch; give the same")


def weights(weights: torch.Tensor, handle: Any) -> None:
    """Weights that have travelled with the rows are those of the combine."""
    call, before = "low_latency_combine", handle.weights
    _topk.check_weights(call, weights)
    if tuple(weights.shape) != tuple(handle.given.shape):
        raise wrong(
            call,
            "topk_weights",
            "has shape %s; topk_idx of the dispatch has %s"
            % (tuple(weights.shape), tuple(handle.given.shape)),
        )
    if before is not None and handle.tokens and before.data_ptr() != weights.data_ptr():
        raise wrong(
            call,
            "topk_weights",
            "is another tensor than the one announced for the dispatch; give the same, or "
            "do not announce it: leave the plug-in out (docs/guide/deep-ep.md)",
        )
    if before is not None and handle.tokens and _topk.version(weights) != handle.version:
        raise wrong(
            call,
            "topk_weights",
            "was changed in place since the dispatch, with whose rows its values have travelled; "
            "change it before, or do not announce it: leave the plug-in out (docs/guide/deep-ep.md)",
        )
