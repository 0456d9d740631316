# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.utils.semantic: what a value is where it is not given; results of methods that are
kept."""

from __future__ import annotations

import functools
import weakref
from typing import Any, Callable, Optional


def value_or(value: Optional[Any], default: Any) -> Any:
    """Return `value`, or `default` for None."""
    return default if value is None else value


def weak_lru(maxsize: Optional[int] = 128, typed: bool = False) -> Callable[..., Any]:
    """Make a decorator of methods like functools.lru_cache, whose results each object has for
    itself and which keeps no object alive."""

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        kept: Any = weakref.WeakKeyDictionary()

        @functools.wraps(method)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if self not in kept:
                bound = functools.partial(method, weakref.proxy(self))
                kept[self] = functools.lru_cache(maxsize, typed)(bound)
            return kept[self](*args, **kwargs)

        return call

    return decorate
