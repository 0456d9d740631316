# SPDX-License-Identifier: BSD-3-Clause
"""What vLLM and SGLang themselves make of the plug-in, and which deep_ep they see.

frameworks.py FRAMEWORK sees     imports the module that its worker processes begin with, calls its
                                 own loader of plug-ins, imports its dispatchers; a line for each
frameworks.py FRAMEWORK loads    the same with the loader first, and WARPSHMEM_DEEP_EP=1 set after
                                 the start of Python: the plug-in alone acts
frameworks.py FRAMEWORK costs    milliseconds of the loader's call, with no plug-in but ours
frameworks.py FRAMEWORK starts   milliseconds of the start of Python
frameworks.py FRAMEWORK finds    whose deep_ep this Python finds

Run by frameworks.sh with the Python of an environment that has the framework.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import time
from typing import Any, Callable, Dict, List, NamedTuple

NAME = "warpshmem_deep_ep"  # of the entry point


class Framework(NamedTuple):
    worker: str  # what a worker process imports before it calls the loader
    loader: str
    only: str  # the setting that names the plug-ins to load
    dispatchers: List[str]  # modules that import deep_ep
    error: str  # where they keep why they could not, if they do


FRAMEWORKS: Dict[str, Framework] = {
    "vllm": Framework(
        "vllm.v1.worker.worker_base",
        "vllm.plugins:load_general_plugins",
        "VLLM_PLUGINS",
        [
            "vllm.model_executor.layers.fused_moe.prepare_finalize.deepep_ll",
            "vllm.model_executor.layers.fused_moe.prepare_finalize.deepep_ht",
        ],
        "",
    ),
    "sglang": Framework(
        "sglang.srt.managers.scheduler",
        "sglang.srt.plugins:load_plugins",
        "SGLANG_PLUGINS",
        ["sglang.srt.layers.moe.token_dispatcher.deepep"],
        "_deepep_import_error",
    ),
}


def loader(framework: Framework) -> Callable[[], Any]:
    module, name = framework.loader.split(":")
    return getattr(importlib.import_module(module), name)


def origin() -> str:
    """Return whose deep_ep is found: the folders behind site-packages."""
    spec = importlib.util.find_spec("deep_ep")
    if spec is None:
        return "none"
    return (spec.origin or "?").split("/site-packages/")[-1]


def seen(module: str, error: str) -> str:
    """Import a dispatcher and return the module of the Buffer that it uses."""
    try:
        found = importlib.import_module(module)
    except ImportError as why:
        return "%s: %s" % (type(why).__name__, why)
    buffer = getattr(found, "Buffer", None) or getattr(getattr(found, "deep_ep", None), "Buffer", 0)
    if not buffer:
        return "no deep_ep: %s" % getattr(found, error, None)
    return buffer.__module__


def sees(framework: Framework, first: bool) -> None:
    if first:
        os.environ["WARPSHMEM_DEEP_EP"] = "1"
        loader(framework)()
    importlib.import_module(framework.worker)
    loader(framework)()
    print("deep_ep: " + origin())
    for name in framework.dispatchers:
        print("%s: %s" % (name.rsplit(".", 1)[1], seen(name, framework.error)))
    if framework is FRAMEWORKS["vllm"]:
        from vllm.utils import import_utils

        print("has_deep_ep: %s" % import_utils.has_deep_ep())
        print("has_deep_ep_v2: %s" % import_utils.has_deep_ep_v2())


def costs(framework: Framework) -> None:
    """Print the processor's time of the call: the machine may be busy with other work."""
    os.environ[framework.only] = NAME
    call = loader(framework)
    importlib.import_module("importlib.metadata")
    began = time.process_time()
    call()
    print("%.1f" % (1000 * (time.process_time() - began)))


def main() -> None:
    started = time.process_time()
    framework, what = FRAMEWORKS[sys.argv[1]], sys.argv[2]
    if what == "starts":
        print("%.1f" % (1000 * started))
    elif what == "finds":
        print("deep_ep: " + origin())
    elif what == "costs":
        costs(framework)
    else:
        sees(framework, what == "loads")


if __name__ == "__main__":
    main()
