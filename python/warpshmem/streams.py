# SPDX-License-Identifier: BSD-3-Clause
"""What a stream argument may be, and the routines on streams (libnvshmem_host's)."""

from __future__ import annotations

from typing import Any

from .errors import refuse


def handle(stream: Any, call: str) -> int:
    """Return the cudaStream_t of a number, of torch's stream or of cupy's."""
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    for name in ("cuda_stream", "ptr"):
        number = getattr(stream, name, None)
        if isinstance(number, int):
            return number
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return (protocol() if callable(protocol) else protocol)[1]
    raise refuse(
        call,
        "stream",
        stream,
        "pass None, a cudaStream_t as a number, or a stream of torch or cupy",
    )
