# SPDX-License-Identifier: BSD-3-Clause
"""Calls of EPBuffer and ElasticBuffer that are not offered, by name."""

from __future__ import annotations

from .errors import absent

_CURES = {
    "engram": "keep such tables in symmetric memory (warpshmem.empty) and read them by get",
    "pp": "send between stages by torch.distributed, or by warpshmem's put_signal",
    "agrs": "gather and reduce by torch.distributed, or by warpshmem's collectives",
    "mask": "masks are those of low-latency calls: deep_ep.Buffer with enable_shrink=True",
}
_CALLS = {
    "engram": "engram_write engram_fetch get_engram_storage_size_hint",
    "pp": "pp_set_config pp_send pp_recv get_pp_buffer_size_hint",
    "agrs": (
        "create_agrs_session destroy_agrs_session agrs_new_session agrs_set_config "
        "agrs_get_inplace_tensor all_gather get_agrs_num_max_session_bytes "
        "get_agrs_buffer_size_hint"
    ),
    "mask": "update_mask_buffer query_mask_buffer clean_mask_buffer",
}


class Refused:
    """What EPBuffer and ElasticBuffer have by name alone."""


for _kind, _names in _CALLS.items():
    for _name in _names.split():
        setattr(Refused, _name, staticmethod(absent("EPBuffer." + _name, _CURES[_kind])))
