# SPDX-License-Identifier: BSD-3-Clause
"""What arguments of EPBuffer and ElasticBuffer are refused for. Values are looked at where that
waits for no GPU."""

from __future__ import annotations

import operator
from typing import Any, Optional, Sequence, Tuple

import torch

from . import _topk
from ._expand import pair
from ._handle import EPHandle
from ._normal import Normal
from ._pool import TOKENS_MOST
from .errors import shown, wrong
from .utils.event import EventHandle, EventOverlap

TOPK_MOST = 16
GROUP = 128  # columns that hidden is a multiple of
# What the library has at most (ep/check.c; a test compares), to be refused in DeepEP's words: choices,
# columns, rows of all ranks, SMs; and experts of all ranks, which hosts tell each other one by one.
HIDDEN_MOST, ROWS_MOST, SMS_MOST = 65536, (1 << 25) - 1, 1024
EXPERTS_MOST = 65536
PLACES_MOST = (1 << 29) - 1  # of an alignment times the experts of a rank


def whole(call: str, name: str, value: Any, least: int, most: Optional[int] = None) -> int:
    """Refuse what is no whole number from `least` to `most`."""
    number = _number(call, name, value, least)
    if most is not None and number > most:
        raise wrong(call, name, "is %d; give %d at most" % (number, most))
    return number


def _number(call: str, name: str, value: Any, least: int) -> int:
    if value.__class__ is int and value >= least:
        return int(value)
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        text = "is %s; give a whole number, at least %d"
        raise wrong(call, name, text % (shown(value), least))
    return number


def flag(call: str, name: str, value: Any) -> None:
    """Refuse what is neither true nor false: an argument in the place of another."""
    if value is True or value is False or value is None:
        return
    alike = isinstance(value, int) or type(value).__name__ in ("bool_", "bool")
    if not alike or value not in (0, 1):
        said = type(value).__name__ if isinstance(value, torch.Tensor) else shown(value)
        raise wrong(call, name, "is %s; give True or False" % said)


def flags(call: str, **given: Any) -> None:
    """Refuse what is neither true nor false, by the names of the arguments."""
    for name, value in given.items():
        flag(call, name, value)


def tensor(call: str, name: str, value: Any, device: Optional[torch.device] = None) -> None:
    """Refuse what is no tensor, or on another device than x."""
    if not isinstance(value, torch.Tensor):
        raise wrong(call, name, "is %s; give a tensor" % type(value).__name__)
    if value.layout is not torch.strided:
        raise wrong(call, name, "is of %s; give one of torch.strided" % value.layout)
    if device is not None and value.device != device:
        raise wrong(call, name, "is on %s, and x on %s; give both on one" % (value.device, device))


def place(call: str, name: str, value: torch.Tensor) -> None:
    """Refuse a tensor without memory of the host or of a GPU of CUDA."""
    if value.device.type not in ("cpu", "cuda"):
        raise wrong(call, name, "is on %s; give it on the CPU or a GPU" % value.device)


def form(call: str, name: str, value: Any, shape: Sequence[int], dtype: torch.dtype) -> None:
    """Refuse a tensor of another shape or type."""
    if tuple(value.shape) != tuple(shape) or value.dtype != dtype:
        text = "has shape %s of %s; it is %s of %s"
        raise wrong(call, name, text % (tuple(value.shape), value.dtype, tuple(shape), dtype))


def shape(call: str, tokens: int, hidden: int, topk: int) -> None:
    """Refuse the sizes of a Buffer; 0: not said."""
    whole(call, "num_max_tokens_per_rank", tokens, 0, ROWS_MOST)
    if whole(call, "hidden", hidden, 0, HIDDEN_MOST) % GROUP:
        raise wrong(call, "hidden", "is %d; give a multiple of %d" % (hidden, GROUP))
    if whole(call, "num_topk", topk, 0) > TOPK_MOST:
        raise wrong(call, "num_topk", "is %d; there are %d at most" % (topk, TOPK_MOST))


def experts(call: str, given: Any, ranks: int) -> int:
    """Refuse numbers of experts that ranks cannot share."""
    if given is None:
        raise wrong(call, "num_experts", "is None without a handle; give the experts of all ranks")
    if whole(call, "num_experts", given, 1, EXPERTS_MOST) % ranks:
        raise wrong(call, "num_experts", "is %d; give a multiple of the %d ranks" % (given, ranks))
    return int(given)


def event(call: str, previous: Any, on_stream: bool, name: str = "previous_event") -> None:
    """Refuse what is no event, and one without allocate_on_comm_stream."""
    if previous is None:
        return
    if not isinstance(previous, (EventHandle, EventOverlap)):
        raise wrong(call, name, "is %s; give what capture() returns" % type(previous).__name__)
    if not on_stream and name == "previous_event":
        raise wrong(call, name, "is given; set allocate_on_comm_stream=True too")


def units(call: str, sms: Any, qps: Any, most: int) -> None:
    """Refuse numbers of SMs and queue pairs."""
    whole(call, "num_sms", sms, 0, SMS_MOST)
    if whole(call, "num_qps", qps, 0) > most:
        raise wrong(call, "num_qps", "is %d; num_allocated_qps of the Buffer is %d" % (qps, most))


def rows(call: str, x: Any, hidden: int, most: Optional[int]) -> None:
    """Refuse rows of a dispatch. hidden: of the Buffer, 0: any; most: tokens of a rank."""
    if isinstance(x, (tuple, list)) and len(x) != 2:
        raise wrong(call, "x", "has %d parts; give rows, or (rows, scales)" % len(x))
    given, scales = pair(x)
    tensor(call, "x", given)
    place(call, "x", given)
    if given.dim() != 2 or given.shape[1] % GROUP or not given.shape[1]:
        text = "has shape %s; it is [tokens, hidden], and hidden a multiple of %d"
        raise wrong(call, "x", text % (tuple(given.shape), GROUP))
    if given.shape[1] > HIDDEN_MOST:
        raise wrong(call, "x", "has %d columns; there are %d at most" % (given.shape[1], HIDDEN_MOST))
    if given.shape[0] > TOKENS_MOST:
        text = "has %d tokens; a call has %d at most, give them in parts"
        raise wrong(call, "x", text % (given.shape[0], TOKENS_MOST))
    if hidden and given.shape[1] != hidden:
        raise wrong(call, "x", "has %d columns; hidden is %d" % (given.shape[1], hidden))
    if most is not None and given.shape[0] > most:
        text = "has %d tokens; num_max_tokens_per_rank is %d, give all ranks more"
        raise wrong(call, "x", text % (given.shape[0], most))
    if scales is not None:
        tensor(call, "x[1]", scales, given.device)
        if scales.dim() != 2 or scales.shape[0] != given.shape[0]:
            text = "has shape %s; it has a row for each of the %d tokens"
            raise wrong(call, "x[1]", text % (tuple(scales.shape), given.shape[0]))
    Normal.dtype(given, scales, call)


def choices(call: str, topk: Any, x: torch.Tensor, count: int, twice: bool = True) -> None:
    """Refuse the experts of a dispatch. twice: look for one that a token names again, which takes
    operators of torch where the extension module is not there; the library finds it too."""
    if topk is None:
        raise wrong(call, "topk_idx", "is None without a handle; give each token's experts")
    tensor(call, "topk_idx", topk, x.device)
    if topk.dim() != 2 or topk.shape[0] != x.shape[0] or not 0 < topk.shape[1] <= TOPK_MOST:
        text = "has shape %s; it is [%d, top-k], top-k to %d"
        raise wrong(call, "topk_idx", text % (tuple(topk.shape), x.shape[0], TOPK_MOST))
    if _topk.are_right(topk, count):
        return
    _topk.check(call, topk, count)
    if twice and not topk.is_cuda and topk.numel() and topk.shape[1] > 1:
        ordered = topk.sort(1)[0]
        if bool(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any()):
            raise wrong(call, "topk_idx", "names an expert twice for one token; each comes once")


def weights(call: str, given: Any, x: torch.Tensor, wanted: Tuple[int, ...]) -> None:
    """Refuse weights, None or float32 of one shape."""
    if given is not None:
        tensor(call, "topk_weights", given, x.device)
        form(call, "topk_weights", given, wanted, torch.float32)


def stats(call: str, given: Any, x: torch.Tensor, local: int) -> None:
    """Refuse what counts cannot be added to."""
    if given is not None:
        name = "cumulative_local_expert_recv_stats"
        tensor(call, name, given, x.device)
        form(call, name, given, (local,), torch.int32)
        if local > 1 and not given.stride(0):
            raise wrong(call, name, "has one element for all experts; give one that is not expanded")


def handle(call: str, given: Any, owner: Any) -> EPHandle:
    """Refuse what is no handle of this Buffer."""
    if not isinstance(given, EPHandle):
        raise wrong(call, "handle", "is %s; give what dispatch returned" % type(given).__name__)
    if given._owner is not owner:
        raise wrong(call, "handle", "is of another Buffer; give one of this Buffer's dispatches")
    return given


def same(call: str, name: str, value: Any, before: Any) -> None:
    """Refuse what is given otherwise than the handle has it."""
    try:
        alike = value is None or bool(value == before)
    except (RuntimeError, ValueError):  # a tensor or an array of several
        alike = False
    if not alike:
        text = "is %s, and the handle's is %r; give that"
        raise wrong(call, name, text % (shown(value), before))


def biases(call: str, bias: Any, x: torch.Tensor, tokens: int) -> Tuple[torch.Tensor, ...]:
    """Return none, one or two biases, [T, hidden] bfloat16."""
    given = bias if isinstance(bias, (tuple, list)) else (bias,)
    if len(given) > 2:
        raise wrong(call, "bias", "has %d parts; give a tensor, or two" % len(given))
    for one in given:
        if one is not None:
            tensor(call, "bias", one, x.device)
            form(call, "bias", one, (tokens, x.shape[1]), torch.bfloat16)
    return tuple(one for one in given if one is not None)


def results(call: str, x: Any, made: EPHandle) -> None:
    """Refuse rows of a combine: one for each received, or expanded, row."""
    tensor(call, "x", x)
    if made._chosen.device != x.device:
        raise wrong(call, "x", "is on %s; the dispatch was on %s" % (x.device, made._chosen.device))
    rows = made.num_expanded_tokens if made.do_expand else made._inner.rows
    form(call, "x", x, (rows, made._inner.entry.fields["hidden"]), torch.bfloat16)


def combined_weights(call: str, given: Any, x: torch.Tensor, made: EPHandle, several: bool) -> None:
    """Refuse weights of a combine: [R, K], or [E] of expanded rows."""
    if given is None:
        return
    if made.do_expand and not several:
        text = "are given for expanded rows; leave them out, or set allow_multiple_reduction=True"
        raise wrong(call, "topk_weights", text)
    wanted = (x.shape[0],) if made.do_expand else tuple(made._chosen.shape)
    weights(call, given, x, wanted)
