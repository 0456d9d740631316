# SPDX-License-Identifier: BSD-3-Clause
"""Config, and how many bytes calls take: sizes that frameworks ask for before they make a
Buffer."""

from __future__ import annotations

from typing import Any

from . import _elastic_checks as checks

HINT_TOKENS = 4096  # tokens of a PE and call that the hints of Config are for
HINT_TOPK = 8


def bytes_for(**fields: Any) -> int:
    """Return the symmetric bytes of a PE for a configuration, all PEs on one host."""
    from warpshmem import ep

    n = fields.pop("n_pes")
    return int(ep.bytes_of(ep.config(**fields), n, n).symmetric)


class Config:
    """What DeepEP tunes calls by. All of it is kept, and no call uses it: buffers are the library's
    own, and Buffer.set_num_sms says how many SMs they take."""

    def __init__(
        self,
        num_sms: int = 20,
        num_max_nvl_chunked_send_tokens: int = 6,
        num_max_nvl_chunked_recv_tokens: int = 256,
        num_max_rdma_chunked_send_tokens: int = 6,
        num_max_rdma_chunked_recv_tokens: int = 256,
    ) -> None:
        self.num_sms = checks.whole("Config", "num_sms", num_sms, 1)
        self.num_max_nvl_chunked_send_tokens = num_max_nvl_chunked_send_tokens
        self.num_max_nvl_chunked_recv_tokens = num_max_nvl_chunked_recv_tokens
        self.num_max_rdma_chunked_send_tokens = num_max_rdma_chunked_send_tokens
        self.num_max_rdma_chunked_recv_tokens = num_max_rdma_chunked_recv_tokens
        for name, value in vars(self).items():
            checks.whole("Config", name, value, 1)

    def get_nvl_buffer_size_hint(self, hidden_bytes: int, num_ranks: int) -> int:
        """Return the bytes of symmetric memory for 4,096 tokens of `hidden_bytes` (BF16) with
        top-8."""
        from warpshmem import ep

        call = "Config.get_nvl_buffer_size_hint"
        checks.whole(call, "hidden_bytes", hidden_bytes, 1)
        checks.whole(call, "num_ranks", num_ranks, 1)
        hidden = ((hidden_bytes + 1) // 2 + 127) // 128 * 128
        return bytes_for(
            n_pes=num_ranks,
            mode=ep.HIGH_THROUGHPUT,
            hidden=hidden,
            tokens=HINT_TOKENS,
            topk=min(HINT_TOPK, 8 * num_ranks),
            experts=8 * num_ranks,
        )

    def get_rdma_buffer_size_hint(self, hidden_bytes: int, num_ranks: int) -> int:
        """Return 0: one memory serves both kinds of peers."""
        return 0
