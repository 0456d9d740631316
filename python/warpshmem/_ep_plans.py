# SPDX-License-Identifier: BSD-3-Clause
"""Plans of calls of expert parallelism (_quick.py): what arrays of a call must be, once a shape."""

from __future__ import annotations

import functools
from typing import Any, Dict, NamedTuple, Optional, Tuple

from . import _ep_arrays as arrays
from . import _quick

ANY, TOKENS, COLUMNS = -1, -2, -3  # extents that are no numbers
WRITTEN, LEADING, NEEDED = 1, 2, 4
_NUMBERS = ("halves", "handle", "stream", "tokens", "columns")


class Slot(NamedTuple):
    """A pointer in the struct of a call. maker: what makes the array where none is given, with its
    arguments."""

    field: str
    flags: int
    kinds: Tuple[str, ...]
    extents: Tuple[int, ...]
    maker: Any = None
    args: Tuple[Any, ...] = ()
    keywords: Optional[Dict[str, Any]] = None

    def row(self, struct: Any) -> Tuple[Any, ...]:
        """Return it as the extension takes it."""
        return (
            getattr(struct, self.field).offset,
            self.flags,
            _quick.kinds(self.kinds),
            self.extents,
            self.maker,
            self.args,
            self.keywords,
        )


def fits(instance: Any, like: Any) -> bool:
    """Is this an array as the plans of an instance take them?"""
    if _quick.module is None or not instance._ep:
        return False
    if _quick.waits:
        _quick.meet()
    seen = _quick.module.look(like)
    return seen is not None and bool(seen[3]) == bool(instance.config.device)


def stream(instance: Any, given: Any, like: Any) -> Optional[int]:
    """Return the stream of a call as a number; None where `like` is no tensor of a GPU, and is to
    be."""
    if not instance.config.device:
        return 0
    return arrays.stream_of(given, like) if getattr(like, "is_cuda", False) else None


def plan(instance: Any, name: str, begin: Any, slots: Tuple[Slot, ...], like: Any) -> Any:
    """Return the plan of calls that begin as the struct `begin`; None without the extension.

    name: dispatch or combine; like: an array where those of calls are.
    """
    if _quick.module is None or not instance._ep:
        return None
    from . import ep

    struct, given = type(begin), instance.config
    made = _quick.module.Plan(
        _quick.address(getattr(instance, "_" + name)),
        instance._ep.value,
        bytes(begin),
        tuple(getattr(getattr(struct, one, None), "offset", -1) for one in _NUMBERS),
        given.tokens,
        given.topk,
        bool(given.device),
        arrays.nothing(bool(given.device), like),
        functools.partial(ep.check, 1, "shmemx_ep_" + name),
        tuple(slot.row(struct) for slot in slots),
    )
    instance.made_plans.append(made)
    return made


_OUTPUTS = "rows row_scales counts sources row_topk row_weights ranges row_sources totals".split()


def dispatch(instance: Any, begin: Any, scaled: bool, makes: bool, like: Any) -> Any:
    """Return the plan of ExpertParallel.dispatch, of rows with or without scales. makes: outputs
    are new ones."""
    hidden, names = instance.config.hidden, arrays.NAMES
    kind, width = instance.given_row(scaled)
    slots: Tuple[Slot, ...] = (
        Slot("x", NEEDED, names[kind], (TOKENS, width)),
        Slot("x_scales", LEADING, names["float32"], (TOKENS, hidden // 128)),
        Slot("topk", LEADING, names[instance._number()], (TOKENS, COLUMNS)),
        Slot("weights", LEADING, names["float32"], (TOKENS, COLUMNS)),
    )
    new = arrays.allocator(like)
    for name, form in zip(_OUTPUTS, instance.forms() if makes else (None,) * len(_OUTPUTS)):
        kind, extents = instance._form(name)
        maker = new(*form) if form else ()
        slots += (Slot(name, WRITTEN | LEADING, names[kind], extents, *maker),)
    slots += (Slot("row_sums", WRITTEN, names["int32"], (instance.n_pes, instance.n_pes)),)
    slots += (Slot("global_scale", LEADING, names["float32"], ()),)
    return plan(instance, "dispatch", begin, slots, like)


def combine(instance: Any, begin: Any, scaled: bool, makes: bool, like: Any) -> Any:
    """Return the plan of ExpertParallel.combine."""
    hidden, most, names = instance.config.hidden, instance.config.topk, arrays.NAMES
    slots: Tuple[Slot, ...] = (
        Slot("y", NEEDED | LEADING, names["bf16"], instance.results()),
        Slot("y_weights", LEADING, names["float32"], (ANY, most)),
        Slot("weights", LEADING, names["float32"], (TOKENS, COLUMNS)),
        Slot("out", NEEDED | LEADING | WRITTEN, names["bf16"], (TOKENS, hidden)),
        Slot("out_weights", LEADING | WRITTEN, names["float32"], (TOKENS, most)),
        Slot("places", LEADING, names["int32"], (ANY, most)),
    )
    return plan(instance, "combine", begin, slots, like)
