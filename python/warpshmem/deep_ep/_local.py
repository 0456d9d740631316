# SPDX-License-Identifier: BSD-3-Clause
"""Memory that a Buffer lends to programs, which use DeepEP's between calls."""

from __future__ import annotations

from typing import Any, Dict, Optional

import torch

from . import _elastic_checks as checks
from .errors import shown, wrong


class Local:
    """What get_local_buffer_tensor needs of a Buffer."""

    num_nvl_bytes: int
    num_rdma_bytes: int
    _lent: Optional[Dict[bool, torch.Tensor]] = None

    def get_local_buffer_tensor(
        self, dtype: torch.dtype, size: Any = None, offset: int = 0, use_rdma_buffer: bool = False
    ) -> torch.Tensor:
        """Return this rank's memory of num_nvl_bytes, or of num_rdma_bytes, from element `offset`
        on; with `size` as many as that shape has. The same in each call, and apart from what calls
        use: it is the library's own."""
        call, lent = "Buffer.get_local_buffer_tensor", self._lent
        checks.flag(call, "use_rdma_buffer", use_rdma_buffer)
        use_rdma_buffer = bool(use_rdma_buffer)
        given = self.num_rdma_bytes if use_rdma_buffer else self.num_nvl_bytes
        lent = self._lent = {} if lent is None else lent
        if use_rdma_buffer not in lent:
            device = "cuda" if torch.cuda.is_available() else "cpu"
            lent[use_rdma_buffer] = torch.empty(given, dtype=torch.uint8, device=device)
        if not isinstance(dtype, torch.dtype):
            raise wrong(call, "dtype", "is %s; give a type of torch" % shown(dtype))
        each = torch.empty(0, dtype=dtype).element_size()
        found = lent[use_rdma_buffer][: given // each * each].view(dtype)
        if isinstance(offset, bool) or not isinstance(offset, int) or not 0 <= offset <= len(found):
            text = "is %s; there are %d elements: num_%s_bytes of the Buffer is %d"
            name = "rdma" if use_rdma_buffer else "nvl"
            raise wrong(call, "offset", text % (shown(offset), len(found), name, given))
        found = found[offset:]
        if size is None:
            return found
        try:
            shape = torch.Size(size)
        except (TypeError, OverflowError):
            text = "is %s; give a shape, whole numbers"
            raise wrong(call, "size", text % shown(size)) from None
        if any(extent < 0 for extent in shape):
            text = "is %s; give a shape, whole numbers from 0 on"
            raise wrong(call, "size", text % shown(size))
        if shape.numel() > len(found):
            text = "has %d elements; there are %d from offset %d on: make the Buffer larger"
            raise wrong(call, "size", text % (shape.numel(), len(found), offset))
        return found[: shape.numel()].view(shape)
