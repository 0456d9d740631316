# SPDX-License-Identifier: BSD-3-Clause
"""What this package does not offer, said by name."""

from __future__ import annotations

from typing import Any


class NotOffered(NotImplementedError):
    """A feature of DeepEP that this package lacks. The text names the argument and what to do."""


def not_offered(call: str, argument: str, value: Any, cure: str) -> NotOffered:
    """Make the exception: `raise not_offered("Buffer", "enable_shrink", True, "leave it
    False")`."""
    return NotOffered("deep_ep.%s: %s=%r is not offered here; %s" % (call, argument, value, cure))


def wrong(call: str, argument: str, text: str) -> ValueError:
    """Make the exception of a wrong argument: name, what it is, what it should be."""
    return ValueError("deep_ep.%s: %s %s" % (call, argument, text))
