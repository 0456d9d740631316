# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.buffers.legacy: the first interface."""

from ..buffer import Buffer

__all__ = ["Buffer"]
