# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.utils.semantic: what a value is where it is not given."""

from __future__ import annotations

from typing import Any, Optional


def value_or(value: Optional[Any], default: Any) -> Any:
    """Return `value`, or `default` for None."""
    return default if value is None else value
