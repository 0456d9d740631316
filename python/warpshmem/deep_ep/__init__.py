# SPDX-License-Identifier: BSD-3-Clause
"""The names of DeepEP's package `deep_ep`, over warpshmem: frameworks that import it run unchanged.

docs/guide/deep-ep.md says what differs. What is not offered raises NotOffered and names the
argument.
"""

from __future__ import annotations

from ._domains import get_logical_domain_size, get_physical_domain_size
from ._handle import EPHandle
from ._redundant import BufferAllocator
from .buffer import Buffer, topk_idx_t
from .config import Config
from .elastic import ElasticBuffer, EPBuffer
from .errors import NotOffered
from .hybrid import HybridEPBuffer
from .utils import EventHandle, EventOverlap

__all__ = [
    "Buffer",
    "BufferAllocator",
    "Config",
    "EPBuffer",
    "EPHandle",
    "ElasticBuffer",
    "EventHandle",
    "EventOverlap",
    "HybridEPBuffer",
    "NotOffered",
    "get_logical_domain_size",
    "get_physical_domain_size",
    "topk_idx_t",
]

__version__ = "1.2.1+warpshmem"
