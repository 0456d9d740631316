# SPDX-License-Identifier: BSD-3-Clause
"""Plug-ins of SGLang (entry-point group sglang.plugins) and vLLM (vllm.general_plugins).

Both call low_latency_dispatch without the weights that they give to low_latency_combine. A plug-in
wraps the method that calls it, which has them, so that they travel with the rows; without it all
works, by one more small dispatch for each combine. Names of frameworks are in the tables below.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from typing import Any, Callable, Dict, Sequence, Tuple

from ._low_latency import announced_weights

# (modules that may have the class, class, methods)
SGLANG = (
    ("sglang.srt.layers.moe.token_dispatcher.deepep",),
    "DeepEPDispatcher",
    ("dispatch", "dispatch_a"),
)
VLLM = (
    (
        "vllm.model_executor.layers.fused_moe.deepep_ll_prepare_finalize",
        "vllm.model_executor.layers.fused_moe.prepare_finalize.deepep_ll",
    ),
    "DeepEPLLPrepareAndFinalize",
    ("prepare", "prepare_async"),
)


def sglang_weights(arguments: Dict[str, Any]) -> Any:
    """Return the weights of dispatch(hidden_states, topk_output)."""
    return getattr(arguments.get("topk_output"), "topk_weights", None)


def vllm_weights(arguments: Dict[str, Any]) -> Any:
    """Return the weights of prepare(...); None where they are applied before, and combine has
    ones."""
    if arguments.get("apply_router_weight_on_input"):
        return None
    return arguments.get("topk_weights")


def announce(owner: type, method: str, weights_of: Callable[[Dict[str, Any]], Any]) -> None:
    """Wrap a method of a class: the weights among its arguments are announced while it runs."""
    original = getattr(owner, method)
    if getattr(original, "announces_weights", False):
        return
    signature = inspect.signature(original)

    @functools.wraps(original)
    def wrapped(*given: Any, **named: Any) -> Any:
        arguments = signature.bind(*given, **named).arguments
        with announced_weights(weights_of(arguments)):
            return original(*given, **named)

    wrapped.announces_weights = True  # type: ignore[attr-defined]
    setattr(owner, method, wrapped)


def _wrap(
    framework: str,
    place: Tuple[Sequence[str], str, Sequence[str]],
    weights_of: Callable[[Dict[str, Any]], Any],
) -> None:
    """Wrap the methods of a class that a framework has; a line says where it has none of it."""
    modules, name, methods = place
    for module in modules:
        try:
            owner = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
        for method in methods:
            if hasattr(owner, method):
                announce(owner, method, weights_of)
        return
    sys.stderr.write(
        "deep_ep: note: this %s has no %s in %s; weights go by a small dispatch of their own "
        "before each low-latency combine\n" % (framework, name, " or ".join(modules))
    )


def sglang() -> None:
    """The plug-in of SGLang."""
    _wrap("SGLang", SGLANG, sglang_weights)


def vllm() -> None:
    """The plug-in of vLLM."""
    _wrap("vLLM", VLLM, vllm_weights)
