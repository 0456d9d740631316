# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.utils.gate: routings of DeepEP's tests; not offered."""

from ._absent import routines

globals().update(routines("gate"))
