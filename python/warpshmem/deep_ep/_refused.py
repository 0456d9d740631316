# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of Buffer's calls in other versions of DeepEP that are not offered."""

from __future__ import annotations

DISPATCH = {
    "x_global_scale": "leave it out, or set use_nvfp4=True",
    "use_ue8m0_for_sf": "leave it False: scales of NVFP4 are float8_e4m3fn",
}
