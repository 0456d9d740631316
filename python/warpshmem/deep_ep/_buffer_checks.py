# SPDX-License-Identifier: BSD-3-Clause
"""What arguments of Buffer's calls in normal mode, of its sizes and of its constructor are refused
for, before anything is sent."""

from __future__ import annotations

from typing import Any, Set, Tuple

import torch
from warpshmem import _quick

from . import _elastic_checks as checks
from ._layout import Layout
from .config import Config
from .errors import wrong

GIVEN = "num_tokens_per_rank", "is_token_in_rank", "num_tokens_per_expert"


def made(nvl: Any, rdma: Any, qps: Any) -> None:
    """Refuse the sizes of a Buffer."""
    checks.whole("Buffer", "num_nvl_bytes", nvl, 0)
    checks.whole("Buffer", "num_rdma_bytes", rdma, 0)
    checks.whole("Buffer", "num_qps_per_rank", qps, 0)


def call(name: str, config: Any, previous: Any, is_async: Any, on_stream: Any) -> None:
    """Refuse what any call takes."""
    checks.event(name, previous, True)
    checks.flag(name, "async_finish", is_async)
    checks.flag(name, "allocate_on_comm_stream", on_stream)
    if config is not None and not isinstance(config, Config):
        text = "is %s; give a deep_ep.Config, or None"
        raise wrong(name, "config", text % type(config).__name__)


class Seen:
    """Forms of what dispatches were given that was right: of tensors of a GPU no values are looked
    at, so others of these forms are right, too."""

    MOST = 64

    def __init__(self) -> None:
        self.forms: Set[bytes] = set()

    def first(
        self, x: Any, topk: Any, weights: Any, given: Tuple[Any, Any, Any, Any], ranks: int
    ) -> Layout:
        """Refuse a dispatch without a handle, or return its layout. given: as of `layout`."""
        rows, scales = x if isinstance(x, (tuple, list)) and len(x) == 2 else (x, None)
        per_rank, per_host, per_expert, inside = given
        form = _quick.forms(rows, scales, topk, weights, per_rank, per_expert, inside)
        if form is not None and form in self.forms:
            return Layout(per_rank, per_host, per_expert, inside)
        checks.rows("dispatch", x, 0, None)
        numbers = layout(given, rows, ranks)
        dispatch(x, topk, weights, numbers)
        if form is not None and rows.is_cuda and len(self.forms) < self.MOST:
            self.forms.add(form)
        return numbers


def dispatch(x: Any, topk: Any, weights: Any, numbers: Layout) -> None:
    """Refuse rows and their routing; x was looked at."""
    name, rows = "dispatch", x[0] if isinstance(x, (tuple, list)) else x
    if topk is not None:
        checks.choices(name, topk, rows, numbers.num_experts, _quick.module is not None)
        checks.weights(name, weights, rows, tuple(topk.shape))
    elif weights is not None:
        raise wrong(name, "topk_weights", "is given without topk_idx; give both, or neither")


def again(topk: Any, weights: Any) -> None:
    """Refuse what comes with a handle, which has it."""
    for name, value in (("topk_idx", topk), ("topk_weights", weights)):
        if value is not None:
            raise wrong("dispatch", name, "is given with a handle; leave it out")


def layout(given: Tuple[Any, Any, Any, Any], x: torch.Tensor, ranks: int) -> Layout:
    """Return the layout that a dispatch of x without a handle was given. given: the numbers for
    ranks, hosts, experts, and which token goes to which rank."""
    per_rank, per_host, per_expert, inside = given
    for name, value in zip(GIVEN, (per_rank, inside, per_expert)):
        if value is None:
            text = "is None without a handle; give what get_dispatch_layout returns"
            raise wrong("dispatch", name, text)
        checks.tensor("dispatch", name, value, x.device)
    _numbers(GIVEN[0], per_rank, per_rank.shape == (ranks,), "[%d]" % ranks)
    fits = per_expert.dim() == 1 and per_expert.shape[0] > 0 and not per_expert.shape[0] % ranks
    _numbers(GIVEN[2], per_expert, fits, "[experts], a multiple of the %d ranks" % ranks)
    checks.form("dispatch", GIVEN[1], inside, (x.shape[0], ranks), torch.bool)
    return Layout(per_rank, per_host, per_expert, inside)


def _numbers(name: str, given: torch.Tensor, fits: bool, wanted: str) -> None:
    if not fits or given.dtype not in (torch.int32, torch.int64):
        text = "has shape %s of %s; it is %s of torch.int32, as get_dispatch_layout returns it"
        raise wrong("dispatch", name, text % (tuple(given.shape), given.dtype, wanted))


def combine(x: Any, handle: Any, weights: Any, bias: Any) -> Tuple[torch.Tensor, ...]:
    """Refuse the rows of a combine and what comes with them; return the biases. handle: was looked
    at."""
    checks.tensor("combine", "x", x, handle.topk.device)
    if weights is not None:
        checks.tensor("combine", "topk_weights", weights, x.device)
        fits = x.dim() and weights.dim() == 2 and weights.shape[0] == x.shape[0]
        fits = fits and weights.shape[1] in (handle.columns, handle.own)
        if not fits or weights.dtype != torch.float32:
            text = "has shape %s of %s; it is [%d, %d] of torch.float32"
            given = tuple(weights.shape), weights.dtype, handle.rows, handle.columns
            raise wrong("combine", "topk_weights", text % given)
    if bias is None:
        return ()
    hidden = handle.entry.instance.config.hidden
    return checks.biases("combine", bias, torch.empty((0, hidden), device=x.device), handle.tokens)


def asked(topk: Any, experts: Any, ranks: int, previous: Any, is_async: Any) -> None:
    """Refuse what get_dispatch_layout cannot count."""
    name = "get_dispatch_layout"
    checks.flag(name, "async_finish", is_async)
    checks.event(name, previous, True)
    checks.tensor(name, "topk_idx", topk)
    checks.place(name, "topk_idx", topk)
    if topk.dim() != 2:
        text = "has shape %s; it is [tokens, top-k]"
        raise wrong(name, "topk_idx", text % (tuple(topk.shape),))
    shared(name, experts, ranks)


def shared(name: str, experts: Any, ranks: int) -> None:
    """Refuse experts that ranks cannot share."""
    if checks.whole(name, "num_experts", experts, 1, checks.EXPERTS_MOST) % ranks:
        text = "is %d; give a multiple of the %d ranks"
        raise wrong(name, "num_experts", text % (experts, ranks))


def hint(tokens: Any, hidden: Any, ranks: Any, experts: Any) -> None:
    """Refuse sizes that get_low_latency_rdma_size_hint is asked for."""
    name = "get_low_latency_rdma_size_hint"
    checks.whole(name, "num_max_dispatch_tokens_per_rank", tokens, 1)
    columns(name, hidden)
    checks.whole(name, "num_ranks", ranks, 1)
    shared(name, experts, ranks)


def columns(name: str, hidden: Any) -> None:
    """Refuse numbers of columns that no rows have."""
    if checks.whole(name, "hidden", hidden, 1, checks.HIDDEN_MOST) % checks.GROUP:
        raise wrong(name, "hidden", "is %d; give a multiple of %d" % (hidden, checks.GROUP))
