# SPDX-License-Identifier: BSD-3-Clause
"""Weights of SGLang's and vLLM's low-latency calls, announced where their plug-ins have run.

Both call low_latency_dispatch without the weights that they give to low_latency_combine. The method
that calls it has them, and is wrapped so that they travel with the rows; without it all works, by
one more small dispatch for each combine. It is wrapped when a Buffer is made: a process without one
imports nothing of a framework's. Names of frameworks are in the tables below.
"""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any, Callable, Dict, NamedTuple, Set, Tuple

import warpshmem_front

from ._low_latency import announced_weights


def sglang_weights(arguments: Dict[str, Any]) -> Any:
    """Return the weights of dispatch(hidden_states, topk_output)."""
    return getattr(arguments.get("topk_output"), "topk_weights", None)


def vllm_weights(arguments: Dict[str, Any]) -> Any:
    """Return the weights of prepare(...); None where they are applied before, and combine has
    ones."""
    if arguments.get("apply_router_weight_on_input"):
        return None
    return arguments.get("topk_weights")


class Place(NamedTuple):
    """Where a framework has weights: modules that may have the class, its methods."""

    modules: Tuple[str, ...]
    owner: str
    methods: Tuple[str, ...]
    weights_of: Callable[[Dict[str, Any]], Any]


PLACES = {
    "sglang": Place(
        ("sglang.srt.layers.moe.token_dispatcher.deepep",),
        "DeepEPDispatcher",
        ("dispatch", "dispatch_a"),
        sglang_weights,
    ),
    "vllm": Place(
        (
            "vllm.model_executor.layers.fused_moe.deepep_ll_prepare_finalize",
            "vllm.model_executor.layers.fused_moe.prepare_finalize.deepep_ll",
        ),
        "DeepEPLLPrepareAndFinalize",
        ("prepare", "prepare_async"),
        vllm_weights,
    ),
}
_done: Set[str] = set()


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


def _wrap(place: Place) -> bool:
    """Wrap the methods of a class that is loaded; False where there is none."""
    owners = [getattr(sys.modules.get(name), place.owner, None) for name in place.modules]
    for owner in filter(None, owners):
        for method in place.methods:
            if hasattr(owner, method):
                announce(owner, method, place.weights_of)
    return any(owners)


def wrap_loaded() -> None:
    """Wrap what is loaded of the frameworks whose plug-ins have run. Never raises."""
    for framework in warpshmem_front.announcing - _done:
        place = PLACES[framework]
        try:
            found, why = _wrap(place), ""
        except Exception as error:  # a framework's class may be anything; without it all works
            found, why = False, ": %s" % error
        if found or why or framework in sys.modules:
            _done.add(framework)
        if not found and framework in _done:
            sys.stderr.write(
                "deep_ep: note: this %s has no %s that is known here%s; weights go by a small "
                "dispatch of their own before each low-latency combine\n"
                % (framework, place.owner, why)
            )
