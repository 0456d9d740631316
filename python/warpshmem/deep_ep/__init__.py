# SPDX-License-Identifier: BSD-3-Clause
"""The names of DeepEP's package `deep_ep`, over warpshmem: frameworks that import it run unchanged.

docs/guide/deep-ep.md says what differs. What is not offered raises NotOffered and names the
argument.
"""

from __future__ import annotations

import sys
from typing import Any

from ._domains import get_logical_domain_size, get_physical_domain_size
from ._elastic_refused import MODULE, refusal
from ._handle import EPHandle
from .buffer import Buffer, topk_idx_t
from .config import Config
from .elastic import ElasticBuffer, EPBuffer
from .errors import NotOffered
from .utils import EventHandle, EventOverlap

__all__ = [
    "Buffer",
    "Config",
    "EPBuffer",
    "EPHandle",
    "ElasticBuffer",
    "EventHandle",
    "EventOverlap",
    "NotOffered",
    "get_logical_domain_size",
    "get_physical_domain_size",
    "topk_idx_t",
]


class _Missing(NotOffered, AttributeError):
    """A name that is not offered; hasattr() says that it is not there."""


__version__ = "1.2.1+warpshmem"


def __getattr__(name: str) -> Any:
    if name in MODULE:
        refused = refusal(name, MODULE[name])
        # `from deep_ep import …` drops the text of an AttributeError, and asks from there.
        asks = sys._getframe(1).f_code.co_name
        raise (ImportError if asks == "_handle_fromlist" else _Missing)(str(refused))
    raise AttributeError("module 'deep_ep' has no attribute %r" % name)
