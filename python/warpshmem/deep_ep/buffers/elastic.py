# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.buffers.elastic: the second interface."""

from .._handle import EPHandle
from ..elastic import ElasticBuffer, EPBuffer

__all__ = ["EPBuffer", "EPHandle", "ElasticBuffer"]
