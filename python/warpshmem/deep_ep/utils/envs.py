# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.utils.envs: which ranks share a host; start, seeds and lines of programs that test."""

from __future__ import annotations

import os
import random
from typing import Tuple

import torch
import torch.distributed as dist

from .._domains import get_logical_domain_size, get_physical_domain_size
from ._absent import routines
from .event import check_nvlink_connections

__all__ = [
    "check_nvlink_connections",
    "check_torch_deterministic",
    "dist_print",
    "get_global_seed",
    "get_local_seed",
    "get_logical_domain_size",
    "get_physical_domain_size",
    "init_dist",
    "init_seed",
]
globals().update(routines("envs"))
_PORT = "8361"  # DeepEP's, where MASTER_PORT names no other


class _Here:
    """What init_dist and init_seed were told."""

    rank_of_host = 0
    seed = 0
    own_seed = 0


def init_dist(
    local_rank: int, num_local_ranks: int, seed: int = 0
) -> Tuple[int, int, dist.ProcessGroup]:
    """Make torch's default group of num_local_ranks processes on each host, and return rank, ranks
    and the group: RANK and WORLD_SIZE are this host's number and that of all (0 and 1), MASTER_ADDR
    and MASTER_PORT where rank 0 is. With GPUs the group is NCCL's, and the GPU local_rank and
    bfloat16 are torch's defaults from then on; without it is gloo's."""
    gpu = torch.cuda.is_available()
    host, hosts = (int(os.environ.get(name, at)) for name, at in (("RANK", "0"), ("WORLD_SIZE", 1)))
    address = os.environ.get("MASTER_ADDR", "127.0.0.1"), os.environ.get("MASTER_PORT", _PORT)
    if gpu:
        torch.cuda.set_device(local_rank)
        torch.set_default_device("cuda:%d" % local_rank)
    torch.set_default_dtype(torch.bfloat16)
    dist.init_process_group(
        "nccl" if gpu else "gloo",
        init_method="tcp://%s:%s" % address,
        rank=host * num_local_ranks + local_rank,
        world_size=hosts * num_local_ranks,
    )
    _Here.rank_of_host = local_rank
    init_seed(seed)
    return dist.get_rank(), dist.get_world_size(), dist.group.WORLD


def init_seed(global_seed: int) -> None:
    """Seed torch and Python with global_seed and this rank, so that ranks differ."""
    _Here.seed, _Here.own_seed = global_seed, global_seed + dist.get_rank()
    torch.manual_seed(_Here.own_seed)
    random.seed(_Here.own_seed)


def get_global_seed() -> int:
    """Return what init_seed was given; 0 before."""
    return _Here.seed


def get_local_seed() -> int:
    """Return this rank's seed; 0 before init_seed."""
    return _Here.own_seed


def dist_print(s: str = "", once_in_node: bool = False) -> None:
    """Print a line on every rank, or on the first of each host, and wait for all ranks."""
    if _Here.rank_of_host == 0 or not once_in_node:
        print(s, flush=True)
    dist.barrier()


def check_torch_deterministic() -> None:
    """RuntimeError unless torch.use_deterministic_algorithms(True) was called."""
    if not torch.are_deterministic_algorithms_enabled():
        raise RuntimeError(
            "deep_ep.utils.envs.check_torch_deterministic: torch may choose algorithms that are "
            "not deterministic; call torch.use_deterministic_algorithms(True)"
        )
