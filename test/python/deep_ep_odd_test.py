# SPDX-License-Identifier: BSD-3-Clause
"""Each argument of each call of deep_ep in turn is given what a program may put there by mistake: values
of other types, arrays, tensors of every kind. A call does it, or refuses it by one line of this
package; never by one of torch or Python, and the next right call is right."""

from __future__ import annotations

import gc
import inspect
import os
import sys
from typing import Any, Callable, Dict, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import same  # noqa: E402
from deep_ep_job import Job  # noqa: E402

import deep_ep  # noqa: E402
from deep_ep import Buffer, BufferAllocator, ElasticBuffer, EPBuffer, HybridEPBuffer  # noqa: E402

BF16, TOKENS, HIDDEN, TOPK, LOCAL = torch.bfloat16, 5, 256, 4, 4
UNSAID = inspect.Parameter.empty


def odd(job: Job) -> List[Any]:
    """What is no right value of nearly all arguments."""
    make = {"device": job.device}
    values: List[Any] = [None, True, 0, 1, -1, 1 << 40, 1 << 70, -(1 << 70), 1.5, float("nan")]
    values += ["x", b"x", (), [], {}, (1,), (1, 2, 3), [None, None], ["a"], object, lambda: 1]
    values += [torch.float32, torch.device("cpu"), EPBuffer.capture(), deep_ep.EventOverlap()]
    values += [deep_ep.EPHandle(), torch.empty(0, **make), torch.ones((), **make)]
    values += [torch.ones(3, **make), torch.ones((3, 3, 3), **make), torch.ones((5, 4), device="meta")]
    values += [torch.ones((5, 4), **make).to_sparse(), torch.full((5, 4), float("nan"), **make)]
    for dtype in (torch.float16, torch.int16, torch.bool, torch.complex64):
        values.append(torch.ones((TOKENS, TOPK), dtype=dtype, **make))
    values += [torch.ones((TOKENS, columns), dtype=BF16, **make) for columns in (0, HIDDEN)]
    try:
        import numpy
    except ImportError:
        return values
    return values + [numpy.ones(3), numpy.ones((2, 2), dtype=int), numpy.int64(4), numpy.float32(2)]


class Tried:
    """Calls with right arguments, of which one at a time is odd."""

    def __init__(self, job: Job) -> None:
        self.values, self.found, self.calls = odd(job), [], 0  # type: ignore[var-annotated]

    def all(self, call: Callable[..., Any], *leave: str, **right: Any) -> None:
        """leave: arguments that may be these values, where a call of other sizes follows."""
        for name in right:
            for value in () if name in leave else self.values:
                self.calls += 1
                self.one(call, name, dict(right, **{name: value}))

    def one(self, call: Callable[..., Any], name: str, given: Dict[str, Any]) -> None:
        try:
            call(**given)
        except Exception as error:
            line = str(error)
            right = isinstance(error, (ValueError, NotImplementedError))
            if right and "\n" not in line and line.startswith("deep_ep."):
                return
            what = call.__qualname__, name, type(given[name]).__name__
            self.found.append("%s, %s of %s: %r" % (what + (error,)))

    def none(self, least: int) -> None:
        assert not self.found, "%d: %s" % (len(self.found), "\n".join(self.found[:20]))
        assert self.calls >= least, self.calls


def defaults(call: Any, **given: Any) -> Dict[str, Any]:
    """All arguments of a call, by name: those given, else the defaults, else None."""
    found = {}
    for name, one in inspect.signature(call).parameters.items():
        if one.kind is not inspect.Parameter.VAR_KEYWORD:
            found[name] = None if one.default is UNSAID else one.default
    return dict(found, **given)


class Tokens:
    """Right ones."""

    def __init__(self, job: Job) -> None:
        drawn = torch.Generator().manual_seed(job.rank)
        self.experts = LOCAL * job.n
        self.x = torch.randn((TOKENS, HIDDEN), generator=drawn).to(BF16).to(job.device)
        scores = torch.rand((TOKENS, self.experts), generator=drawn)
        self.topk = scores.topk(TOPK)[1].to(job.device)
        self.weights = torch.rand((TOKENS, TOPK), generator=drawn).to(job.device)
        self.routing = torch.zeros((TOKENS, self.experts), dtype=torch.bool, device=job.device)
        self.routing.scatter_(1, self.topk, True)
        self.probs = scores.to(job.device)


KEPT = "comm", "sl_idx", "num_cpu_timeout_secs", "num_gpu_timeout_secs", "use_fabric", "allow_mnnvl"
SIZES = "num_max_tokens_per_rank", "num_experts"  # an instance of the library for each that is right


def test_odd_elastic(job: Job) -> None:
    """EPBuffer and ElasticBuffer: first dispatches, expanded ones, those by a handle, combines."""
    own, tried = Tokens(job), Tried(job)
    for kind in (EPBuffer, ElasticBuffer):
        buffer = kind(job.group, num_max_tokens_per_rank=16, explicitly_destroy=True)
        right = defaults(buffer.dispatch, x=own.x, topk_idx=own.topk, topk_weights=own.weights)
        right.update(num_experts=own.experts)
        rows, _, _, handle, _ = buffer.dispatch(**right)
        tried.all(buffer.dispatch, *SIZES, **right)
        wide = dict(right, do_expand=True, expert_alignment=4)
        tried.all(buffer.dispatch, *SIZES, **wide)
        none = dict(topk_idx=None, topk_weights=None, num_experts=None)
        tried.all(buffer.dispatch, *SIZES, **dict(right, handle=handle, **none))
        tried.all(buffer.combine, **defaults(buffer.combine, x=rows, handle=handle))
        tried.all(buffer.barrier, **defaults(buffer.barrier))
        tried.all(buffer.get_theoretical_num_sms, num_experts=own.experts, num_topk=TOPK)
        tried.all(buffer.get_theoretical_num_qps, num_sms=4)
        same(buffer.dispatch(**right)[0], rows.cpu())
        buffer.destroy()
    tried.none(3000)


def test_odd_making(job: Job) -> None:
    """What makes Buffers, and the redundant experts of one."""
    tried, device = Tried(job), job.device
    gc.freeze()  # each Buffer that is made beside others has the collector look at all there is
    kept = deep_ep.Buffer(job.group, explicitly_destroy=True)
    hint = defaults(EPBuffer.get_buffer_size_hint, group=job.group, hidden=HIDDEN)
    tried.all(EPBuffer.get_buffer_size_hint, **dict(hint, num_max_tokens_per_rank=16))
    for kind in (Buffer, EPBuffer, ElasticBuffer):

        def make(**given: Any) -> None:
            made = kind(**given)
            made.explicitly_destroy = True
            made.destroy()

        tried.all(make, *KEPT, **defaults(kind, group=job.group))
    buffer = EPBuffer(job.group, num_max_tokens_per_rank=16, explicitly_destroy=True)
    room = BufferAllocator().allocate
    tried.values.remove(1 << 40)  # no memory, which the library says
    tried.all(room, shape=(2, 3), dtype=torch.float32)
    few, many = torch.zeros((2, 8), device=device), torch.zeros((LOCAL, 8), device=device)
    lent, more = room((2, 8), torch.float32), room((LOCAL, 8), torch.float32)
    right = dict(redundancy_mapping=[0, 1], previous_event=None)
    tried.all(buffer.lb_prefetch_weights, redundant=few, weights=more, **right)
    tried.all(buffer.lb_reduce_grads, redundant=lent, grads=many, **right)
    buffer.destroy()
    kept.destroy()
    gc.unfreeze()
    tried.none(1500)


def test_odd_buffer(job: Job) -> None:
    """Buffer in normal mode, and what belongs to no mode."""
    own, tried = Tokens(job), Tried(job)
    buffer = Buffer(job.group, 1 << 16, 1 << 16, explicitly_destroy=True)
    asked = dict(topk_idx=own.topk, num_experts=own.experts)
    ranks, _, experts, inside, _ = buffer.get_dispatch_layout(**asked)
    numbers = dict(num_tokens_per_rank=ranks, num_tokens_per_expert=experts, is_token_in_rank=inside)
    right = defaults(buffer.dispatch, x=own.x, topk_idx=own.topk, topk_weights=own.weights)
    right.update(numbers)
    rows, _, weights, _, handle, _ = buffer.dispatch(**right)
    tried.all(buffer.dispatch, **right)
    again = dict(defaults(buffer.dispatch), x=own.x, handle=handle)
    tried.all(buffer.dispatch, **again)
    back = defaults(buffer.combine, x=rows, handle=handle, topk_weights=weights)
    tried.all(buffer.combine, **back)
    tried.all(buffer.get_dispatch_layout, **defaults(buffer.get_dispatch_layout, **asked))
    lent = defaults(buffer.get_local_buffer_tensor, dtype=torch.int32)
    tried.all(buffer.get_local_buffer_tensor, **lent)
    same(buffer.dispatch(**right)[0], rows.cpu())
    buffer.destroy()
    tried.none(1500)


def test_odd_low_latency(job: Job) -> None:
    """Buffer in low latency, with NVFP4, signals and masks too."""
    own, tried = Tokens(job), Tried(job)
    buffer = Buffer(job.group, low_latency_mode=True, explicitly_destroy=True)
    right = dict(x=own.x, topk_idx=own.topk, num_experts=own.experts, use_fp8=False)
    right = defaults(buffer.low_latency_dispatch, num_max_dispatch_tokens_per_rank=16, **right)
    rows, _, handle, _, _ = buffer.low_latency_dispatch(**right)

    def dispatch(**given: Any) -> None:
        receive = buffer.low_latency_dispatch(**given)[4]
        receive() if receive else None

    def combine(**given: Any) -> None:
        receive = buffer.low_latency_combine(**given)[2]
        receive() if receive else None

    tried.all(dispatch, "num_experts", **right)
    if job.hosts == 1:
        tried.all(dispatch, "num_experts", **dict(right, use_nvfp4=True, x_global_scale=1.0))
    rows, _, handle, _, _ = buffer.low_latency_dispatch(**right)
    back = dict(x=rows, topk_idx=own.topk, topk_weights=own.weights, handle=handle)
    back = defaults(buffer.low_latency_combine, **back)
    tried.all(combine, **back)
    if not job.cuda:
        signals = torch.full((LOCAL,), 1 << 30, dtype=torch.int32)
        words = dict(src_signals=signals, src_signal_expect_value=1)
        tried.all(combine, "src_signal_expect_value", **dict(back, **words))
        signals = torch.full((64,), 1 << 30, dtype=torch.int32)
        words = dict(overlap=True, comp_signal=signals, threshold=1, block_m=64)
        tried.all(combine, "threshold", **dict(back, **words))
    tried.all(buffer.get_next_low_latency_combine_buffer, handle=handle)
    same(buffer.low_latency_dispatch(**right)[1], handle[1].cpu().bitwise_and((1 << 32) - 1).sum(1).int())
    buffer.destroy()
    if job.hosts == 1 and job.n > 1:
        buffer = Buffer(job.group, low_latency_mode=True, enable_shrink=True, explicitly_destroy=True)
        of = (job.rank + 1) % job.n
        tried.all(buffer.low_latency_update_mask_buffer, rank_to_mask=of, mask=False)
        status = torch.zeros(job.n, dtype=torch.int32, device=job.device)
        tried.all(buffer.low_latency_query_mask_buffer, mask_status=status)
        buffer.destroy()
    tried.none(800)


def test_odd_hybrid(job: Job) -> None:
    own, tried = Tokens(job), Tried(job)
    buffer = HybridEPBuffer(job.group, HIDDEN, 16, LOCAL)
    routed = dict(hidden=own.x, routing_map=own.routing, probs=own.probs)
    plain = buffer.dispatch(**routed)  # type: ignore[arg-type]
    wide = buffer.dispatch_with_permute(**routed)  # type: ignore[arg-type]
    for call, come in ((buffer.dispatch, plain), (buffer.dispatch_with_permute, wide)):
        tried.all(call, **defaults(call, **routed))
        by_number = dict(hidden=own.x, topk_idx=own.topk, topk_weights=own.weights)
        tried.all(call, "num_of_experts", **defaults(call, num_of_experts=own.experts, **by_number))
    back = buffer.combine_with_unpermute
    tried.all(back, **defaults(back, hidden=wide[0], handle=wide[4]))
    tried.all(buffer.combine, **defaults(buffer.combine, hidden=plain[0], handle=plain[3]))
    same(buffer.dispatch(**routed)[0], plain[0].cpu())  # type: ignore[arg-type]
    buffer.destroy()
    tried.none(1500)
