# SPDX-License-Identifier: BSD-3-Clause
"""What arguments of low-latency calls are refused for."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import torch
from warpshmem import ep

from . import _elastic_checks as checks, _topk
from ._elastic_checks import GROUP, TOPK_MOST, flag, tensor, whole
from .errors import wrong

TOKENS_MOST, EXPERTS_MOST = 2048, 65535  # the library's, in low latency
FP8_DTYPE = getattr(torch, "float8_e4m3fn", None)
_SIZES = "num_max_dispatch_tokens_per_rank", "num_experts"
_FLAGS = (
    "use_fp8 round_scale use_ue8m0 async_finish return_recv_hook use_logfmt zero_copy"
).split()


def odd(call: str, given: Dict[str, Any]) -> None:
    """Refuse what is neither true nor false, and what is no whole number, before anything asks
    which it is. given: the arguments of a call by name."""
    for name in _FLAGS:
        flag(call, name, given.get(name))
    for name in _SIZES:
        if name in given:
            whole(call, name, given[name], 1)


def dispatch(
    x: torch.Tensor,
    topk_idx: torch.Tensor,
    max_tokens: int,
    experts: int,
    ranks: int,
    dtype: int,
    packed: bool,
) -> None:
    call = "low_latency_dispatch"
    whole(call, "num_max_dispatch_tokens_per_rank", max_tokens, 1, TOKENS_MOST)
    if whole(call, "num_experts", experts, 1, EXPERTS_MOST) % ranks:
        raise wrong(call, "num_experts", "is %d; give a multiple of the %d ranks" % (experts, ranks))
    tensor(call, "x", x)
    tensor(call, "topk_idx", topk_idx, x.device)
    if x.dim() != 2 or x.dtype != torch.bfloat16:
        raise wrong(
            call,
            "x",
            "has shape %s of %s; it is [tokens, hidden] of torch.bfloat16"
            % (tuple(x.shape), x.dtype),
        )
    if not x.shape[1] or x.shape[1] % GROUP:
        text = "has shape %s; hidden, its last extent, is a multiple of %d"
        raise wrong(call, "x", text % (tuple(x.shape), GROUP))
    right = topk_idx.dim() == 2 and topk_idx.shape[0] == x.shape[0]
    if not right or not 0 < topk_idx.shape[1] <= TOPK_MOST:
        text = "has shape %s; it is [%d, top-k], top-k to %d"
        raise wrong(call, "topk_idx", text % (tuple(topk_idx.shape), x.shape[0], TOPK_MOST))
    _topk.check_type(call, topk_idx)
    if x.shape[0] > max_tokens:
        raise wrong(
            call,
            "x",
            "has %d tokens, and num_max_dispatch_tokens_per_rank is %d; raise it on all ranks"
            % (x.shape[0], max_tokens),
        )
    if dtype in (ep.FP8, ep.FP8_UE8M0) and FP8_DTYPE is None:
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


def experts(topk: torch.Tensor, count: int, error: Exception) -> None:
    """Of a dispatch that the library has refused, which looks at experts anyway where they are on
    the host: raise it as a wrong argument, where it is one."""
    call = "low_latency_dispatch"
    try:
        checks.choices(call, topk, topk, count)
    except ValueError:
        raise wrong(call, "topk_idx", "is wrong: %s" % error) from None


def stats(stats: Optional[torch.Tensor], local: int, x: torch.Tensor) -> None:
    name = "cumulative_local_expert_recv_stats"
    if stats is not None:
        tensor("low_latency_dispatch", name, stats, x.device)
    if stats is not None and (stats.shape != (local,) or stats.dtype != torch.int32):
        raise wrong(
            "low_latency_dispatch",
            name,
            "has shape %s of %s; it is [%d] of torch.int32"
            % (tuple(stats.shape), stats.dtype, local),
        )
    if stats is not None and not stats.is_contiguous():
        raise wrong("low_latency_dispatch", name, "is not contiguous; give a contiguous tensor")


def waits(kind: str, given: Optional[torch.Tensor], x: torch.Tensor, ranks: int) -> None:
    """Refuse what times cannot be added to."""
    if given is None:
        return
    call, name = "low_latency_" + kind, kind + "_wait_recv_cost_stats"
    tensor(call, name, given)
    if given.dtype != torch.int64 or given.dim() != 1 or given.shape[0] < ranks:
        text = "has shape %s of %s; it is [%d] of torch.int64, or longer"
        raise wrong(call, name, text % (tuple(given.shape), given.dtype, ranks))
    if given.device != x.device or not given.is_contiguous():
        raise wrong(call, name, "is not contiguous, or on another device than x; give such a one")


def combine(
    x: torch.Tensor,
    topk_idx: torch.Tensor,
    weights: torch.Tensor,
    handle: Any,
    out: Optional[torch.Tensor],
) -> None:
    call, rows, before = "low_latency_combine", handle.entry.rows, handle.given
    for name, value in (("x", x), ("topk_idx", topk_idx), ("topk_weights", weights), ("out", out)):
        if value is not None or name != "out":
            tensor(call, name, value)
            if value.device != before.device:  # type: ignore[union-attr]
                text = "is on %s; the dispatch was on %s"
                raise wrong(call, name, text % (value.device, before.device))  # type: ignore[union-attr]
    _form(call, "x", x, rows, torch.bfloat16)
    if topk_idx is not before or _topk.version(topk_idx) != handle.version:
        _same(topk_idx, before)
    if weights.dtype != torch.float32 or weights.shape != before.shape:
        _topk.check_weights(call, weights)
        text = "has shape %s; topk_idx of the dispatch has %s"
        raise wrong(call, "topk_weights", text % (tuple(weights.shape), tuple(before.shape)))
    if out is not None:
        _form(call, "out", out, (handle.tokens, rows[2]), torch.bfloat16)
        if not out.is_contiguous():
            raise wrong(call, "out", "is not contiguous; give a contiguous tensor, or None")


def _form(
    call: str, name: str, tensor: torch.Tensor, shape: Tuple[int, ...], dtype: torch.dtype
) -> None:
    if tensor.shape != shape or tensor.dtype != dtype:
        text = "has shape %s of %s; it is %s of %s"
        raise wrong(call, name, text % (tuple(tensor.shape), tensor.dtype, shape, dtype))


def _same(topk_idx: torch.Tensor, before: torch.Tensor) -> None:
    """The experts of a combine are those of its dispatch. Values are looked at on the host."""
    if (
        topk_idx.shape != before.shape
        or topk_idx.dtype != before.dtype
        or (not topk_idx.is_cuda and not torch.equal(topk_idx, before))
    ):
        raise wrong("low_latency_combine", "topk_idx", "is not that of the dispatch; give the same")
