# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.utils.comm: communicators of NCCL; not offered, and so there is none to destroy."""

from ._absent import routines

globals().update(routines("comm"))


def destroy_all_managed_nccl_comm() -> None:
    """Nothing to do."""
