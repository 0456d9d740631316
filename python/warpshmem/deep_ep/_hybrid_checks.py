# SPDX-License-Identifier: BSD-3-Clause
"""What arguments of HybridEPBuffer are refused for, before EPBuffer's calls look at the rest."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import torch

from . import _elastic_checks as checks
from ._elastic_checks import TOPK_MOST, tensor, whole
from ._normal import Normal
from .errors import wrong

NAME = "HybridEPBuffer"


def sizes(hidden: Any, tokens: Any, experts: Any, sms: Any) -> None:
    """Refuse the sizes of a Buffer."""
    if whole(NAME, "hidden_dim", hidden, 1, checks.HIDDEN_MOST) % 128:
        raise wrong(NAME, "hidden_dim", "is %d; give a multiple of 128" % hidden)
    whole(NAME, "max_num_of_tokens_per_rank", tokens, 1, checks.ROWS_MOST)
    whole(NAME, "num_local_experts", experts, 1, checks.EXPERTS_MOST)
    if sms is not None:
        whole(NAME, "num_sms_dispatch_api", sms, 0, checks.SMS_MOST)


def tokens(call: str, given: Any) -> None:
    """Refuse a number of tokens of a rank."""
    whole(call, "num_of_tokens_per_rank", given, 0, checks.ROWS_MOST)


def hidden(call: str, given: Any, scales: Any) -> bool:
    """Return whether rows are of one byte; refuse what are no rows."""
    tensor(call, "hidden", given)
    checks.place(call, "hidden", given)
    if given.dim() != 2 or given.shape[1] % 128 or not given.shape[1]:
        text = "has shape %s; it is [tokens, hidden_dim], and hidden_dim a multiple of 128"
        raise wrong(call, "hidden", text % (tuple(given.shape),))
    if given.shape[0] > checks.TOKENS_MOST or given.shape[1] > checks.HIDDEN_MOST:
        text = "has shape %s; a call has %d tokens of %d columns at most, give tokens in parts"
        most = checks.TOKENS_MOST, checks.HIDDEN_MOST
        raise wrong(call, "hidden", text % ((tuple(given.shape),) + most))
    byte = bool(given.element_size() == 1)
    if byte and scales is None:
        text = "is None for rows of %s; give float32 scales, one for each 128 columns"
        raise wrong(call, "scaling_factor", text % given.dtype)
    if byte:
        tensor(call, "scaling_factor", scales, given.device)
        if scales.dim() != 2 or scales.shape[0] != given.shape[0]:
            text = "has shape %s; it has a row for each of the %d tokens"
            raise wrong(call, "scaling_factor", text % (tuple(scales.shape), given.shape[0]))
    if Normal.kind(given, scales if byte else None) is None:
        shown = " with scaling_factor %s of %s" % (tuple(scales.shape), scales.dtype) if byte else ""
        text = "is of %s%s; give torch.bfloat16, or torch.float8_e4m3fn with float32 scales"
        raise wrong(call, "hidden", text % (given.dtype, shown))
    return byte


def matrix(
    call: str,
    name: str,
    given: Any,
    shape: Sequence[Optional[int]],
    dtype: torch.dtype,
    like: torch.Tensor,
) -> None:
    """Refuse a tensor of another shape, of which None is any extent, or type, or on another device
    than `like`."""
    tensor(call, name, given)
    if given.device != like.device:
        text = "is on %s, and the other tensors on %s; give all on one"
        raise wrong(call, name, text % (given.device, like.device))
    fits = given.dim() == len(shape) and all(
        wanted in (None, extent) for wanted, extent in zip(shape, given.shape)
    )
    if not fits or given.dtype != dtype:
        wanted = "[%s]" % ", ".join("any" if one is None else str(one) for one in shape)
        text = "has shape %s of %s; it is %s of %s"
        raise wrong(call, name, text % (tuple(given.shape), given.dtype, wanted, dtype))


def results(call: str, given: Any, made: Any) -> None:
    """Refuse rows of a combine, by the EPHandle of their dispatch."""
    tensor(call, "hidden", given)
    if given.device != made._chosen.device:
        text = "is on %s; the dispatch was on %s"
        raise wrong(call, "hidden", text % (given.device, made._chosen.device))
    rows = made.num_expanded_tokens if made.do_expand else made.num_recv_tokens
    checks.form(call, "hidden", given, (rows, made._given_shape[1]), torch.bfloat16)


def indices(
    call: str, topk: Any, weights: Any, experts: Any, tokens: int, ranks: int = 1
) -> None:
    """Refuse a routing by experts' numbers."""
    if experts is None:
        raise wrong(call, "num_of_experts", "is None with topk_idx; give the experts of all ranks")
    if whole(call, "num_of_experts", experts, 1, checks.EXPERTS_MOST) % ranks:
        text = "is %d; give a multiple of the %d ranks"
        raise wrong(call, "num_of_experts", text % (experts, ranks))
    tensor(call, "topk_idx", topk)
    if topk.dim() != 2 or topk.shape[0] != tokens:
        text = "has shape %s; it is [%d, top-k]"
        raise wrong(call, "topk_idx", text % (tuple(topk.shape), tokens))
    if weights is not None:
        matrix(call, "topk_weights", weights, tuple(topk.shape), torch.float32, topk)


def shared(call: str, routing: torch.Tensor, ranks: int) -> None:
    """Refuse a map of experts that ranks cannot share."""
    if not 0 < routing.shape[1] <= checks.EXPERTS_MOST or routing.shape[1] % ranks:
        text = "has %d columns, one for each expert; give a multiple of the %d ranks, to %d"
        most = checks.EXPERTS_MOST
        raise wrong(call, "routing_map", text % (routing.shape[1], ranks, most))


def columns(call: str, routing: torch.Tensor, wait: bool) -> int:
    """Return how many experts a token has at most; what they can be where the host may not wait
    for a GPU."""
    if not wait and routing.is_cuda:
        return min(TOPK_MOST, routing.shape[1])
    most = int(routing.sum(1).max()) if routing.numel() else 0
    if most > TOPK_MOST:
        text = "has a token of %d experts; there are %d at most"
        raise wrong(call, "routing_map", text % (most, TOPK_MOST))
    return max(most, 1) if wait else min(TOPK_MOST, routing.shape[1])


def permuted(
    call: str, rows: Any, pad: Any, wait: bool, use_fp8: Any, given: torch.Tensor
) -> int:
    """Return the multiple that experts' rows are padded to."""
    if pad is not None:
        pad = whole(call, "pad_multiple", pad, 0, checks.PLACES_MOST)
    if rows is not None:
        whole(call, "num_permuted_tokens", rows, 0, checks.PLACES_MOST)
    if not wait:
        if rows is None:
            text = "is None with non_blocking=True; give how many rows there are to be"
            raise wrong(call, "num_permuted_tokens", text)
        if pad and rows % pad:
            text = "is %d; give a multiple of pad_multiple, %d"
            raise wrong(call, "num_permuted_tokens", text % (rows, pad))
    if use_fp8 is not None and isinstance(given, torch.Tensor):
        checks.flag(call, "use_fp8", use_fp8)
        if bool(use_fp8) != (given.element_size() == 1):
            text = "is %r for rows of %s; leave it out: hidden says what is sent"
            raise wrong(call, "use_fp8", text % (use_fp8, given.dtype))
    return pad or 1


def handle(call: str, given: Any, kind: Any, expanded: Optional[bool]) -> Any:
    """Return a handle, of dispatch_with_permute where `expanded` is True, of dispatch where it is
    False."""
    if not isinstance(given, kind):
        text = "is %s; give what a dispatch returned" % type(given).__name__
        raise wrong(call, "handle", text)
    if expanded is not None and given.inner.do_expand != expanded:
        names = "dispatch_with_permute", "dispatch"
        text = "is of %s; give one of %s" % (names[expanded], names[not expanded])
        raise wrong(call, "handle", text)
    return given


def again(call: str, given: Any, kind: Any, rows: Any, pad: Any) -> None:
    """Refuse what the handle of a dispatch_with_permute has otherwise."""
    made = handle(call, given, kind, True).inner
    if pad is not None:
        pad = whole(call, "pad_multiple", pad, 0, checks.PLACES_MOST)
    for name, value, before in (
        ("num_permuted_tokens", rows, made.num_expanded_tokens),
        ("pad_multiple", pad or None, made.expert_alignment),
    ):
        checks.same(call, name, value, before)
