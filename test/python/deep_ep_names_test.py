# SPDX-License-Identifier: BSD-3-Clause
"""The names of DeepEP's modules, beside a stored list: each is here, or says by name that it is not
offered; and what those compute that are."""

from __future__ import annotations

import gc
import importlib
import inspect
import os
import re
import socket
import subprocess
import sys
import weakref
from typing import Iterator, Set, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import torch  # noqa: E402
from deep_ep_common import refused, same  # noqa: E402
from deep_ep_job import Job  # noqa: E402

import deep_ep  # noqa: E402
from deep_ep import _refused, _signals  # noqa: E402

HOMES = ("buffers.legacy", "hybrid_ep_buffer")


def stored() -> Iterator[Tuple[str, str, bool]]:
    """The names of the list: module, name, whether it is offered."""
    with open(os.path.join(HERE, "deep_ep_names"), encoding="utf-8") as lines:
        for line in lines:
            module, *names = line.split()
            for name in names if module != "#" else []:
                yield module, name.strip("()"), name[0] != "("


def test_names_of_modules(job: Job) -> None:
    """Every name of the list is imported; what is not offered says so when it is called, and what
    is no module says its name."""
    count = 0
    for module, name, offered in stored():
        found, count = getattr(importlib.import_module(module), name), count + 1
        if not offered:
            refused(found, "%s.%s is not offered here; " % (module, name))
    assert count > 60, count
    refused(lambda: importlib.import_module("deep_ep.nothing"), "deep_ep.nothing")
    legacy, hybrid = (importlib.import_module("deep_ep." + name) for name in HOMES)
    assert legacy.Buffer is deep_ep.Buffer and hybrid.HybridEPBuffer is deep_ep.HybridEPBuffer


def known() -> Set[str]:
    """All that programs can name: what modules and classes have, and the arguments of calls."""
    modules = {module for module, _, _ in stored()}
    owners = [importlib.import_module(module) for module in modules]
    made = [getattr(deep_ep, name) for name in deep_ep.__all__ if name != "NotOffered"]
    owners += [one for one in made if inspect.isclass(one)]
    found = {name for owner in owners for name in dir(owner)} | {"deep_ep", "use_nvfp4"}
    found |= set(_refused.DISPATCH) | set(_signals.NAMES)
    calls = [getattr(owner, name) for owner in owners for name in ["__init__"] + dir(owner)]
    for call in filter(inspect.isfunction, calls):
        found |= set(inspect.signature(call).parameters)
    return found


def test_names_of_the_page(job: Job) -> None:
    """What the tables of docs/guide/deep-ep.md name is there, with an ellipsis some that begin, end
    or go on so."""
    path = os.path.join(HERE, "../../docs/guide/deep-ep.md")
    with open(path, encoding="utf-8") as page:
        part = page.read().partition("## Names")[2].partition("## What differs")[0]
    names, count = known(), 0
    for row in re.findall(r"^\| (.*?) \|", part, re.M):
        for text in re.findall("`(.*?)`", row):
            for name in re.findall(r"[a-zA-Z_…][\w…]+", re.sub(r"\(.*", "", text)):
                form = name.replace("…", ".*")
                assert name == "with" or any(re.fullmatch(form, each) for each in names), (name, row)
                count += 1
    assert count > 90, count


def test_indices_to_map(job: Job) -> None:
    """The map and probs of numbers and weights; -1 is no expert."""
    make = importlib.import_module("deep_ep.hybrid_ep_buffer").indices_to_map
    topk = torch.tensor([[3, 0], [-1, 2], [-1, -1]], device=job.device)
    weights = torch.tensor([[0.5, 0.25], [9.0, 1.0], [9.0, 9.0]], device=job.device)
    routing, probs = make(topk, weights, 3, 4)
    wanted = torch.tensor([[0.25, 0, 0, 0.5], [0, 0, 1, 0], [0, 0, 0, 0]])
    same(probs, wanted)
    same(routing, wanted > 0)
    assert make(topk.int(), None, 3, 4)[1] is None
    assert make(topk[:0], weights[:0], 0, 4)[0].shape == (0, 4)
    refused(lambda: make(topk, weights, 2, 4), "indices_to_map: topk_idx", "(3, 2)", "[2, top-k]")
    refused(lambda: make(topk, weights.double(), 3, 4), "indices_to_map: topk_weights", "float64")
    refused(lambda: make(topk, weights, 3, 0), "num_of_experts", "0")
    if not job.cuda:
        refused(lambda: make(topk, weights, 3, 3), "topk_idx has expert 3; there are", "3")


def test_math_of_rows(job: Job) -> None:
    """Distinct numbers of rows, scores of groups, numbers of bytes."""
    math = importlib.import_module("deep_ep.utils.math")
    x = torch.tensor([[1, 3, 1, -1], [-1, -1, -1, -1], [0, 1, 2, 3]], device=job.device)
    math.inplace_unique(x, 4)
    same(x, torch.tensor([[3, 1, -1, -1], [-1, -1, -1, -1], [3, 2, 1, 0]]))
    few = torch.tensor([[1, 0, 1, 1]], dtype=torch.int32, device=job.device)
    math.inplace_unique(few, 2)
    same(few, torch.tensor([[1, 0, -1, -1]], dtype=torch.int32))
    scores = torch.arange(1.0, 13.0, device=job.device).view(2, 6)
    groups = torch.tensor([[0], [2]], device=job.device)
    wanted = torch.tensor([[1.0, 2, 0, 0, 0, 0], [0, 0, 0, 0, 11, 12]])
    same(math.create_grouped_scores(scores, groups, 3), wanted)
    assert math.hash_tensor(scores) == math.hash_tensor(scores.clone().T.contiguous().T)
    assert math.hash_tensor(scores) != math.hash_tensor(scores + 1)
    assert math.hash_tensors(x, None, (few, [scores])) == math.hash_tensors(x, (few, [scores]))
    assert math.hash_tensors(x, few) != math.hash_tensors(few, x)


def test_weak_lru(job: Job) -> None:
    """Results are kept for each object, and no object by them."""
    calls = []

    class Sizes:
        @importlib.import_module("deep_ep.utils.semantic").weak_lru(maxsize=None)
        def of(self, number: int) -> int:
            calls.append(number)
            return number * 2

    one, two = Sizes(), Sizes()
    assert [one.of(1), one.of(1), two.of(1), one.of(2)] == [2, 2, 2, 4] and calls == [1, 1, 2]
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None and two.of(1) == 2 and len(calls) == 3


def test_bench(job: Job) -> None:
    """Mean, least and most of calls, and how many there are."""
    bench = importlib.import_module("deep_ep.utils.testing").bench
    calls, after = [], []
    mean, least, most = bench(lambda: calls.append(1), 3, 5, lambda: after.append(1))
    assert 0 <= least <= mean <= most < 60 and (len(calls), len(after)) == (8, 5)


def test_check_deterministic(job: Job) -> None:
    envs = importlib.import_module("deep_ep.utils.envs")
    refused(envs.check_torch_deterministic, "use_deterministic_algorithms(True)")
    torch.use_deterministic_algorithms(True)
    try:
        envs.check_torch_deterministic()
    finally:
        torch.use_deterministic_algorithms(False)


PROGRAM = """
import sys
import warpshmem.deep_ep.install, torch, torch.distributed as dist
from deep_ep.utils.envs import init_dist, dist_print, get_local_seed, get_global_seed
rank, n, group = init_dist(int(sys.argv[1]), 2, seed=7)
assert (rank, n, group.size()) == (int(sys.argv[1]), 2, 2)
assert (get_local_seed(), get_global_seed()) == (7 + rank, 7) and torch.initial_seed() == 7 + rank
assert torch.get_default_dtype() == torch.bfloat16
dist_print("all %d" % rank)
dist_print("first %d" % rank, once_in_node=True)
dist.destroy_process_group()
"""


def main() -> int:
    """Run a program of two processes that starts as DeepEP's tests do; 0 where it was right."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = str(one.getsockname()[1])
    env = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=port, WORLD_SIZE="1", RANK="0")
    command, pipe = [sys.executable, "-c", PROGRAM], subprocess.PIPE
    started = [subprocess.Popen(command + [rank], env=env, stdout=pipe) for rank in "01"]
    lines = [one.communicate()[0].decode().split("\n")[:-1] for one in started]
    print(lines, [one.returncode for one in started])
    good = lines == [["all 0", "first 0"], ["all 1"]]
    return 0 if good and not any(one.returncode for one in started) else 1


if __name__ == "__main__":
    sys.exit(main())
