# SPDX-License-Identifier: BSD-3-Clause
"""Routines of DeepEP's modules of tests and of its own libraries, by name alone: module, name, what
to do."""

from __future__ import annotations

from typing import Any, Dict

from ..errors import absent

_REFERENCE = "compute what you compare with from all ranks' tensors (torch.distributed.all_gather)"
_ROUTES = "make scores by torch.rand, with more for some experts"
_NCCL = "warpshmem needs no communicator of NCCL"
_FILES = "warpshmem needs no file of NCCL or NVSHMEM; python3 -m warpshmem.info names its libraries"
_RATES = "no call asks for rates; get_theoretical_num_sms takes them and needs none"
_CURES = {
    "refs": ("dispatch combine generate_pre_combine_data ordered_accumulate", _REFERENCE),
    "gate": (
        "generate_topk_idx generate_rank_count get_precise_unbalanced_scores get_scores_by_factor "
        "map_unbalanced_ratio_to_factor get_random_unbalanced_scores get_unbalanced_scores",
        _ROUTES,
    ),
    "comm": ("NCCLCommHandle get_nccl_comm_handle", _NCCL),
    "find_pkgs": ("find_pkg_root find_nccl_root find_nvshmem_root", _FILES),
    "envs": ("get_nvlink_gbs get_rdma_gbs check_fast_rdma_atomic_support", _RATES),
}


def routines(module: str) -> Dict[str, Any]:
    """Return what a module has by name alone."""
    names, cure = _CURES[module]
    return {name: absent("utils.%s.%s" % (module, name), cure) for name in names.split()}
