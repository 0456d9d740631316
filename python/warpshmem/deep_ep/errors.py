# SPDX-License-Identifier: BSD-3-Clause
"""What this package does not offer, and what is wrong, said by name."""

from __future__ import annotations

from typing import Any, Callable, Dict

from warpshmem.errors import ArgumentError

SHOWN = 80  # characters of a value in a line


class NotOffered(NotImplementedError):
    """A feature of DeepEP that this package lacks. The text names the argument and what to do."""


def not_offered(call: str, argument: str, value: Any, cure: str) -> NotOffered:
    """Make the exception: `raise not_offered("Buffer", "use_logfmt", True, "leave it
    False")`."""
    return NotOffered("deep_ep.%s: %s=%r is not offered here; %s" % (call, argument, value, cure))


def wrong(call: str, argument: str, text: str) -> ArgumentError:
    """Make the exception of a wrong argument, a ValueError: name, what it is, what it should be.

    call: of Buffer where it names no class and no module.
    """
    place = call if call[0].isupper() or "." in call else "Buffer." + call
    if "\n" in text:  # the value is an array
        text = " ".join(text.split())
    return ArgumentError("deep_ep.%s: %s %s" % (place, argument, text))


def shown(value: Any) -> str:
    """Return a value that may be anything as a part of a line; of arrays no elements, which may be
    a GPU's."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return "%s %s of %s" % (type(value).__name__, list(value.shape), value.dtype)
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def refuse_others(call: str, cures: Dict[str, str], given: Dict[str, Any]) -> None:
    """Refuse arguments of other versions of DeepEP, unless they ask for nothing. `cures`: their
    names, and what to do."""
    for name, value in given.items():
        if name not in cures:
            raise TypeError("deep_ep.Buffer.%s: there is no argument %s" % (call, name))
        if value is not None and value is not False:
            shown = value if isinstance(value, (bool, int, str)) else type(value).__name__
            raise not_offered("Buffer." + call, name, shown, cures[name])


def absent(place: str, cure: str) -> Callable[..., Any]:
    """Make what stands for a routine of DeepEP that is imported by name and not offered: each call
    raises NotOffered. An import that fails would take the rest of a module with it."""

    def refused(*_: Any, **__: Any) -> Any:
        raise NotOffered("deep_ep.%s is not offered here; %s" % (place, cure))

    refused.__name__ = refused.__qualname__ = place.rpartition(".")[2]
    refused.__doc__ = "Raises NotOffered."
    return refused
