# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.utils.refs: references that DeepEP's tests compare with; not offered."""

from ._absent import routines

globals().update(routines("refs"))
