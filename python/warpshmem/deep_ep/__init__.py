# SPDX-License-Identifier: BSD-3-Clause
"""The names of DeepEP's package `deep_ep`, over warpshmem: frameworks that import it run unchanged.

docs/guide/deep-ep.md says what differs. What is not offered raises NotOffered and names the
argument.
"""

from __future__ import annotations

import sys
from typing import Any

from .buffer import Buffer, topk_idx_t
from .config import Config
from .errors import NotOffered
from .utils import EventHandle, EventOverlap

__all__ = [
    "Buffer",
    "Config",
    "EventHandle",
    "EventOverlap",
    "NotOffered",
    "topk_idx_t",
]
__version__ = "1.2.1+warpshmem"

_V2 = ("ElasticBuffer", "EPHandle", "get_physical_domain_size", "get_logical_domain_size")


def __getattr__(name: str) -> Any:
    if name in _V2:
        text = (
            "deep_ep.%s is of DeepEP V2, which warpshmem's deep_ep does not offer; use "
            "deep_ep.Buffer, or a framework's backend of V1 (vLLM: deepep_low_latency)" % name
        )
        # `from deep_ep import …` drops the text of an AttributeError, and asks from there.
        asks = sys._getframe(1).f_code.co_name
        raise ImportError(text) if asks == "_handle_fromlist" else AttributeError(text)
    raise AttributeError("module 'deep_ep' has no attribute %r" % name)
