# SPDX-License-Identifier: BSD-3-Clause
"""Buffer: what is wrong is refused by one line that names call, argument, value and cure, before
anything is sent, and the next call is right."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable, Dict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import buffer_of, case_of, check_low, check_normal, dispatch, mine  # noqa: E402
from deep_ep_common import refused  # noqa: E402
from deep_ep_job import Job  # noqa: E402

import deep_ep  # noqa: E402
from deep_ep import Buffer, _elastic_checks, _low_checks, _pool  # noqa: E402
from warpshmem import ep  # noqa: E402


class Calls:
    """A call with right arguments, and how many kinds of wrong ones were refused."""

    count = 0

    def __init__(self, name: str, call: Callable[..., Any], **right: Any) -> None:
        self.name, self.call, self.right = name, call, right

    def wrong(self, argument: str, value: Any, shown: str) -> None:
        """Refused with `value` for the argument, of which the line has `shown`."""
        given = dict(self.right, **{argument: value})
        Calls.count += 1
        try:
            self.call(**given)
        except (ValueError, NotImplementedError, RuntimeError) as error:
            line = str(error)
            for part in ("deep_ep.%s: " % self.name, argument, shown, "; "):
                assert part in line, (part, line)
            assert "\n" not in line, line
            return
        raise AssertionError("%s: %s=%r is not refused" % (self.name, argument, value))


class Given:
    """Right calls of both modes, and the arguments of others."""

    def __init__(self, job: Job) -> None:
        self.buffer, self.case = buffer_of(job), case_of(job, seed=700)
        self.tokens, self.experts = mine(job, self.case), self.case.n * self.case.local
        self.got = dispatch(self.buffer, self.tokens, self.experts)
        x, topk, weights = self.tokens
        self.low = dict(
            x=x,
            topk_idx=topk,
            num_max_dispatch_tokens_per_rank=40,
            num_experts=self.experts,
            use_fp8=False,
        )
        self.come = self.buffer.low_latency_dispatch(**self.low)

    def normal(self) -> Dict[str, Any]:
        per_rank, per_host, per_expert, inside, _ = self.buffer.get_dispatch_layout(
            self.tokens.topk, self.experts
        )
        x, topk, weights = self.tokens
        return dict(
            x=x,
            num_tokens_per_rank=per_rank,
            num_tokens_per_rdma_rank=per_host,
            num_tokens_per_expert=per_expert,
            is_token_in_rank=inside,
            topk_idx=topk,
            topk_weights=weights,
        )


def rows_of(calls: Calls, x: torch.Tensor) -> None:
    """What are no rows."""
    calls.wrong("x", 1, "is int")
    calls.wrong("x", None, "is NoneType")
    calls.wrong("x", x[0], "(256,)")
    calls.wrong("x", x[:, :100], "(%d, 100)" % len(x))
    calls.wrong("x", x.float(), "torch.float32")


def test_wrong_normal_dispatch(job: Job) -> None:
    given = Given(job)
    (x, topk, weights), right = given.tokens, given.normal()
    calls = Calls("Buffer.dispatch", given.buffer.dispatch, **right)
    before = Calls.count
    rows_of(calls, x)
    calls.wrong("x", (x,), "1 parts")
    calls.wrong("x", (x, x, x), "3 parts")
    calls.wrong("x", (x, x), "torch.bfloat16")
    calls.wrong("topk_idx", topk.tolist(), "is list")
    calls.wrong("topk_idx", topk[1:], "(%d, " % (len(x) - 1))
    calls.wrong("topk_idx", topk.float(), "torch.float32")
    calls.wrong("topk_idx", topk.to("meta"), "meta")
    if not job.cuda:
        calls.wrong("topk_idx", torch.full_like(topk, given.experts), "has %d" % given.experts)
        calls.wrong("topk_idx", torch.full_like(topk, -2), "has -2")
        if os.environ.get("WARPSHMEM_PYTHON_CALLS") != "ctypes":  # there the library says it
            calls.wrong("topk_idx", torch.zeros_like(topk), "twice")
    calls.wrong("topk_weights", weights[1:], "(%d, " % (len(x) - 1))
    calls.wrong("topk_weights", weights.double(), "torch.float64")
    calls.wrong("topk_weights", 1.0, "is float")
    for name in ("num_tokens_per_rank", "num_tokens_per_expert", "is_token_in_rank"):
        calls.wrong(name, None, "is None")
        calls.wrong(name, 1, "is int")
        calls.wrong(name, right[name][None], "has shape")
        calls.wrong(name, right[name].double(), "torch.float64")
    calls.wrong("expert_alignment", 0, "is 0")
    calls.wrong("expert_alignment", "2", "is '2'")
    calls.wrong("num_worst_tokens", -1, "is -1")
    calls.wrong("num_worst_tokens", 1.5, "is 1.5")
    calls.wrong("config", 3, "is int")
    calls.wrong("previous_event", 1, "is int")
    calls.wrong("handle", 1, "is int")
    calls.wrong("handle", given.come[2], "is Handle")
    calls.right["topk_idx"] = None
    calls.wrong("topk_weights", weights, "without topk_idx")
    again = Calls("Buffer.dispatch", given.buffer.dispatch, x=x, handle=given.got[4])
    rows_of(again, x)
    again.wrong("x", x[1:], "%d rows" % (len(x) - 1))
    assert Calls.count - before >= 40, Calls.count - before
    check_normal(job, given.case)


def test_wrong_normal_combine(job: Job) -> None:
    given = Given(job)
    rows, weights, x = given.got[0], given.got[2], given.tokens.x
    calls = Calls("Buffer.combine", given.buffer.combine, x=rows, handle=given.got[4])
    calls.wrong("x", 1, "is int")
    calls.wrong("x", None, "is NoneType")
    calls.wrong("x", rows.float(), "torch.float32")
    calls.wrong("x", torch.cat([rows, rows[:1]]), "has shape")
    calls.wrong("x", rows[:, :128], "128)")
    calls.wrong("x", rows.to("meta"), "meta")
    calls.wrong("handle", None, "is NoneType")
    calls.wrong("handle", given.come[2], "is Handle")
    calls.wrong("topk_weights", 1, "is int")
    calls.wrong("topk_weights", weights.double(), "torch.float64")
    calls.wrong("topk_weights", torch.cat([weights, weights[:1]]), "has shape")
    calls.wrong("bias", 1.0, "is float")
    calls.wrong("bias", (x, x, x), "3 parts")
    calls.wrong("bias", x[1:], "(%d, 256)" % (len(x) - 1))
    calls.wrong("bias", (x, x.float()), "torch.float32")
    calls.wrong("config", "y", "is str")
    calls.wrong("previous_event", "x", "is str")
    check_normal(job, given.case)


def test_wrong_low_dispatch(job: Job) -> None:
    given = Given(job)
    x, topk, _ = given.tokens
    calls = Calls("Buffer.low_latency_dispatch", given.buffer.low_latency_dispatch, **given.low)
    rows_of(calls, x)
    calls.wrong("topk_idx", None, "is NoneType")
    calls.wrong("topk_idx", topk.float(), "torch.float32")
    calls.wrong("topk_idx", topk[1:], "(%d, " % (len(x) - 1))
    calls.wrong("topk_idx", topk[0], "has shape")
    for name in ("num_max_dispatch_tokens_per_rank", "num_experts"):
        calls.wrong(name, 0, "is 0")
        calls.wrong(name, None, "is None")
        calls.wrong(name, "3", "is '3'")
    most = len(x) - 1
    calls.wrong("num_max_dispatch_tokens_per_rank", most, "is %d" % most)
    if job.n > 1:
        calls.wrong("num_experts", given.experts + 1, "is %d" % (given.experts + 1))
    name = "cumulative_local_expert_recv_stats"
    calls.wrong(name, 1, "is int")
    calls.wrong(name, torch.zeros(99, dtype=torch.int32, device=x.device), "(99,)")
    calls.wrong(name, torch.zeros(given.case.local, device=x.device), "torch.float32")
    calls.wrong("dispatch_wait_recv_cost_stats", 1, "is int")
    calls.wrong("dispatch_wait_recv_cost_stats", topk[:0, 0], "(0,)")
    calls.wrong("use_ue8m0", True, "is True")
    check_low(job, given.case)


def test_wrong_low_combine(job: Job) -> None:
    given = Given(job)
    (x, topk, weights), rows = given.tokens, given.come[0]
    call, handle = given.buffer.low_latency_combine, given.come[2]
    name = "Buffer.low_latency_combine"
    calls = Calls(name, call, x=rows, topk_idx=topk, topk_weights=weights, handle=handle)
    for argument in ("x", "topk_idx", "topk_weights"):
        calls.wrong(argument, None, "is NoneType")
        calls.wrong(argument, 1, "is int")
        calls.wrong(argument, calls.right[argument].to("meta"), "meta")
    calls.wrong("x", rows.float(), "torch.float32")
    calls.wrong("x", rows[:, 1:], "has shape")
    calls.wrong("topk_idx", topk[1:], "not that of the dispatch")
    calls.wrong("topk_weights", weights.double(), "torch.float64")
    calls.wrong("topk_weights", weights[1:], "(%d, " % (len(x) - 1))
    calls.wrong("handle", None, "is NoneType")
    calls.wrong("handle", given.got[4], "is Handle")
    calls.wrong("out", 1, "is int")
    calls.wrong("out", x[1:], "(%d, 256)" % (len(x) - 1))
    calls.wrong("out", x.float(), "torch.float32")
    calls.wrong("out", x.to("meta"), "meta")
    calls.wrong("combine_wait_recv_cost_stats", 1, "is int")
    calls.wrong("use_logfmt", True, "=True")
    check_low(job, given.case)


def test_limits_are_the_library_s(job: Job) -> None:
    """What is refused in DeepEP's words is what the library refuses."""
    fields = dict(mode=ep.HIGH_THROUGHPUT, hidden=128, experts=64, topk=1, tokens=1)
    low = dict(fields, mode=ep.LOW_LATENCY)
    limits = [
        (fields, "hidden", _elastic_checks.HIDDEN_MOST, _elastic_checks.GROUP, 1),
        (fields, "topk", _elastic_checks.TOPK_MOST, 1, 1),
        (fields, "tokens", _elastic_checks.TOKENS_MOST, 1, 1),
        (fields, "tokens", _elastic_checks.ROWS_MOST // 1024, 1, 1024),
        (fields, "blocks", _elastic_checks.SMS_MOST, 1, 1),
        (fields, "handles", _pool.HANDLES_MAX + _pool.SPARE, 1, 1),
        (low, "tokens", _low_checks.TOKENS_MOST, 1, 1),
        (low, "experts", _low_checks.EXPERTS_MOST, 1, 1),
    ]
    for right, name, most, step, n in limits:
        right = dict(right, experts=1024) if n > 1 else right
        assert ep.bytes_of(ep.config(**dict(right, **{name: most})), n, n).symmetric > 0
        over = ep.config(**dict(right, **{name: most + step}))
        refused(lambda: ep.bytes_of(over, n, n), name)


def test_wrong_sizes(job: Job) -> None:
    """What belongs to no call of a Buffer: its making, sizes, hints, layouts."""
    made = Calls("Buffer", Buffer, group=job.group)
    made.wrong("group", 1, "is 1")
    made.wrong("group", "world", "'world'")
    made.wrong("num_nvl_bytes", -1, "is -1")
    made.wrong("num_rdma_bytes", 1e9, "is 1000000000.0")
    made.wrong("num_qps_per_rank", "24", "is '24'")
    Calls("Buffer", Buffer).wrong("comm", 1, "is 1")
    sms = Calls("Buffer.set_num_sms", Buffer.set_num_sms)
    for value, shown in ((3, "is 3"), (0, "is 0"), ("a", "is 'a'"), (None, "is None")):
        sms.wrong("new_num_sms", value, shown)
    hint = Buffer.get_low_latency_rdma_size_hint
    sizes = dict(num_max_dispatch_tokens_per_rank=128, hidden=7168, num_ranks=8, num_experts=256)
    hints = Calls("Buffer.get_low_latency_rdma_size_hint", hint, **sizes)
    for name in sizes:
        hints.wrong(name, -1, "is -1")
        hints.wrong(name, None, "is None")
    hints.wrong("hidden", 100, "is 100")
    hints.wrong("num_experts", 255, "is 255")
    buffer, case = buffer_of(job), case_of(job)
    topk, experts = mine(job, case).topk, case.n * case.local
    asked = Calls(
        "Buffer.get_dispatch_layout", buffer.get_dispatch_layout, topk_idx=topk, num_experts=experts
    )
    asked.wrong("topk_idx", None, "is NoneType")
    asked.wrong("topk_idx", topk[0], "has shape")
    asked.wrong("topk_idx", topk.float(), "torch.float32")
    asked.wrong("num_experts", 0, "is 0")
    asked.wrong("num_experts", None, "is None")
    asked.wrong("previous_event", 3, "is int")
    for name in ("get_dispatch_config", "get_combine_config"):
        Calls("Buffer." + name, getattr(Buffer, name)).wrong("num_ranks", "a", "is 'a'")
    Calls("Config", deep_ep.Config).wrong("num_sms", "a", "is 'a'")
    Calls("Config", deep_ep.Config).wrong("num_max_nvl_chunked_send_tokens", 0, "is 0")
    named = deep_ep.Config(2).get_nvl_buffer_size_hint
    sized = Calls("Config.get_nvl_buffer_size_hint", named, hidden_bytes=256, num_ranks=8)
    sized.wrong("hidden_bytes", 0, "is 0")
    sized.wrong("num_ranks", None, "is None")
    lent = Calls("Buffer.get_local_buffer_tensor", buffer.get_local_buffer_tensor)
    lent.wrong("dtype", 3, "is 3")
    room = deep_ep.BufferAllocator().allocate
    allocated = Calls("BufferAllocator.allocate", room, shape=(1,), dtype=torch.int32)
    allocated.wrong("shape", "a", "is 'a'")
    allocated.wrong("dtype", 3, "is 3")
    hook = Calls("EventOverlap", deep_ep.EventOverlap().register_hook_after_wait)
    hook.wrong("hook_after_wait", 3, "is int")
    domain = Calls("get_physical_domain_size", deep_ep.get_physical_domain_size)
    domain.wrong("group", 1, "is 1")
