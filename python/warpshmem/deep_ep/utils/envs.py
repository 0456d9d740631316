# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.utils.envs: which ranks share a host."""

from .._domains import get_logical_domain_size, get_physical_domain_size
from .event import check_nvlink_connections

__all__ = ["check_nvlink_connections", "get_logical_domain_size", "get_physical_domain_size"]
