# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.utils: events, and what programs import from there."""

from .event import EventHandle, EventOverlap, check_nvlink_connections

__all__ = ["EventHandle", "EventOverlap", "check_nvlink_connections"]
