# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep.buffers: where DeepEP's second version has its classes."""
