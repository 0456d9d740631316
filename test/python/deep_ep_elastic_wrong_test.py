# SPDX-License-Identifier: BSD-3-Clause
"""EPBuffer and ElasticBuffer: what is wrong is refused by one line that names the argument, nothing
is sent, and the next call is right."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import case_of, mine, refused, same  # noqa: E402
from deep_ep_job import Job  # noqa: E402
import deep_ep_reference as reference  # noqa: E402

import deep_ep  # noqa: E402
from deep_ep import EPBuffer, ElasticBuffer  # noqa: E402
from deep_ep.utils import event  # noqa: E402

MOST = 64


def one_line(call: Callable[[], Any], *words: str) -> None:
    """Refused, by a line."""
    try:
        call()
    except (ValueError, NotImplementedError) as error:
        assert "\n" not in str(error) and str(error).startswith("deep_ep."), error
    refused(call, *words)


class Given:
    """A Buffer, right arguments, and a call with some of them changed."""

    def __init__(self, job: Job, several: bool = True) -> None:
        self.job, self.case = job, case_of(job, seed=300)
        self.buffer = EPBuffer(
            job.group,
            num_max_tokens_per_rank=MOST,
            hidden=256,
            explicitly_destroy=True,
            allow_multiple_reduction=several,
        )
        self.experts, self.tokens = job.n * self.case.local, mine(job, self.case)
        self.right = dict(
            x=self.tokens.x,
            topk_idx=self.tokens.topk,
            topk_weights=self.tokens.weights,
            num_experts=self.experts,
        )
        self.got = self.buffer.dispatch(**self.right)
        self.wide = self.buffer.dispatch(do_expand=True, expert_alignment=2, **self.right)

    def dispatch(self, *words: str, **changed: Any) -> None:
        arguments = dict(self.right, **changed)
        one_line(lambda: self.buffer.dispatch(**arguments), "EPBuffer.dispatch", *words)

    def again(self, *words: str, **changed: Any) -> None:
        arguments = dict(dict(x=self.tokens.x, handle=self.got[3]), **changed)
        one_line(lambda: self.buffer.dispatch(**arguments), "EPBuffer.dispatch", *words)

    def combine(self, *words: str, **changed: Any) -> None:
        arguments = dict(dict(x=self.got[0], handle=self.got[3]), **changed)
        one_line(lambda: self.buffer.combine(**arguments), "EPBuffer.combine", *words)


def test_wrong_dispatch(job: Job) -> None:
    given = Given(job)
    x, topk, weights = given.tokens
    wrong = given.dispatch
    wrong("x", "str", x="rows")
    wrong("x", "3 parts", x=(x, x, x))
    wrong("x", "shape", x=x[0])
    wrong("x", "128", x=x[:, :100])
    wrong("x", "hidden is 256", x=x[:, :128])
    wrong("x", "float32", "bfloat16", x=x.float())
    wrong("x[1]", "tensor", x=(x, 1.0))
    wrong("x[1]", "a row for each", x=(x.to(torch.uint8), torch.ones(1, 2, device=x.device)))
    wrong("x", "scales", x=(x.to(torch.uint8), torch.ones(x.shape[0], 3, device=x.device)))
    many = x[:1].expand(MOST + 1, -1)
    wrong("num_max_tokens_per_rank", "65 tokens", x=many)
    wrong("topk_idx", "None", topk_idx=None)
    wrong("topk_idx", "list", topk_idx=topk.tolist())
    wrong("topk_idx", "shape", topk_idx=topk[1:])
    wrong("topk_idx", "shape", topk_idx=topk.flatten())
    wrong("topk_idx", "16", topk_idx=topk[:, :1].expand(-1, 17))
    wrong("topk_idx", "float32", topk_idx=topk.float())
    if not job.cuda:
        wrong("topk_idx", "has %d" % given.experts, topk_idx=torch.full_like(topk, given.experts))
        wrong("topk_idx", "has -2", topk_idx=torch.full_like(topk, -2))
        wrong("topk_idx", "twice", topk_idx=torch.zeros_like(topk))
    wrong("topk_idx", "meta", topk_idx=topk.to("meta"))
    wrong("topk_weights", "shape", topk_weights=weights[:, 1:])
    wrong("topk_weights", "float64", topk_weights=weights.double())
    wrong("topk_weights", "float", topk_weights=1.0)
    stats = torch.zeros(given.case.local, dtype=torch.int32, device=x.device)
    name = "cumulative_local_expert_recv_stats"
    wrong(name, "shape", **{name: stats[1:]})
    wrong(name, "int64", **{name: stats.long()})
    wrong("num_experts", "None", num_experts=None)
    wrong("num_experts", "multiple", num_experts=given.experts + 1) if job.n > 1 else None
    wrong("num_experts", "0", num_experts=0)
    wrong("num_experts", "2.0", num_experts=2.0)
    wrong("num_max_tokens_per_rank", "-1", num_max_tokens_per_rank=-1)
    wrong("expert_alignment", "0", expert_alignment=0)
    wrong("expert_alignment", "1.5", expert_alignment=1.5)
    wrong("num_sms", "-2", num_sms=-2)
    wrong("num_qps", "num_allocated_qps", num_qps=1000)
    wrong("do_zero_padding", "do_expand", do_zero_padding=True)
    wrong("emit_expert_ids", "do_expand", emit_expert_ids=True)
    wrong("previous_event", "allocate_on_comm_stream", previous_event=EPBuffer.capture())
    wrong("previous_event", "int", previous_event=1, allocate_on_comm_stream=True)
    rows = given.buffer.dispatch(**given.right)[0]
    same(rows, reference.normal_rows(given.case, job.rank).x)
    given.buffer.destroy()


def test_wrong_handle(job: Job) -> None:
    given, other = Given(job), Given(job)
    wrong, topk = given.again, given.tokens.topk
    wrong("handle", "tuple", handle=(1, 2))
    wrong("handle", "another Buffer", handle=other.got[3])
    wrong("topk_idx", "handle", topk_idx=topk)
    wrong("do_cpu_sync", "handle", do_cpu_sync=True)
    wrong("num_experts", "the handle's", num_experts=2 * given.experts)
    wrong("num_max_tokens_per_rank", "the handle's", num_max_tokens_per_rank=MOST + 1)
    wrong("expert_alignment", "the handle's", expert_alignment=7)
    wrong("do_expand", "the handle's", do_expand=True)
    wrong("do_expand", "the handle's", handle=given.wide[3])
    wrong("x", "tokens", x=given.tokens.x[:-1])
    wrong("topk_weights", "shape", topk_weights=given.tokens.weights[:, :1])
    rows = given.buffer.dispatch(given.tokens.x, handle=given.got[3])[0]
    same(rows, reference.normal_rows(given.case, job.rank).x)
    other.buffer.destroy()
    given.buffer.destroy()


def test_wrong_combine(job: Job) -> None:
    given, once = Given(job), Given(job, several=False)
    wrong, x, handle = given.combine, given.got[0], given.got[3]
    wrong("handle", "NoneType", handle=None)
    wrong("handle", "another Buffer", handle=once.got[3])
    wrong("x", "tensor", x=1)
    wrong("x", "shape", x=torch.cat([x, x[:1]]))
    wrong("x", "shape", x=x[:, :128])
    wrong("x", "float32", x=x.float())
    wrong("x", "meta", x=x.to("meta"))
    wrong("x", "shape", x=torch.cat([given.wide[0], x[:1]]), handle=given.wide[3])
    wrong("topk_weights", "shape", topk_weights=given.got[2][:, 1:])
    wrong("topk_weights", "float16", topk_weights=given.got[2].half())
    wide = dict(x=given.wide[0], handle=given.wide[3])
    wrong("topk_weights", "shape", topk_weights=given.got[2], **wide)
    bias = torch.zeros_like(given.tokens.x)
    wrong("bias", "3 parts", bias=(bias, bias, bias))
    wrong("bias", "float", bias=1.0)
    wrong("bias", "shape", bias=bias[1:])
    wrong("bias", "float32", bias=(bias, bias.float()))
    wrong("previous_event", "allocate_on_comm_stream", previous_event=EPBuffer.capture())
    wrong("num_qps", "-1", num_qps=-1)
    one_line(
        lambda: once.buffer.combine(once.wide[0], once.wide[3], topk_weights=once.wide[2]),
        "topk_weights",
        "allow_multiple_reduction",
    )
    wanted = reference.normal_sum(given.case, job.rank, lambda _: 1)
    same(given.buffer.combine(x, handle)[0], wanted)
    once.buffer.destroy()
    given.buffer.destroy()


def test_calls_that_are_not_quick(job: Job) -> None:
    """Calls whose arguments another way takes, or refuses, take their place on a stream once, or
    not at all."""
    given, places = Given(job, several=False), []
    begin = event.Launch.__enter__

    def counted(launch: Any) -> Any:
        places.append(launch)
        return begin(launch)

    rows, handle = given.wide[0], given.wide[3]
    with mock.patch.object(event.Launch, "__enter__", counted):
        given.buffer.combine(rows, handle)
        assert len(places) == 1
        given.combine("x", x=rows.float(), handle=handle)
        given.again("x", x=given.tokens.x.float(), handle=handle, do_expand=True)
        assert len(places) == 1
    given.buffer.destroy()


def test_wrong_buffer(job: Job) -> None:
    """What is no call: making a Buffer, sizes, hints, the end, and calls after it."""
    group = job.group
    for kind, name in ((EPBuffer, "EPBuffer"), (ElasticBuffer, "ElasticBuffer")):
        one_line(lambda: kind(None), name, "group")
        one_line(lambda: kind(group, hidden=100), name, "hidden", "128")
        one_line(lambda: kind(group, num_topk=17), name, "num_topk", "16")
        one_line(lambda: kind(group, num_max_tokens_per_rank=-1), "num_max_tokens_per_rank")
        one_line(lambda: kind(group, num_bytes=0), name, "num_bytes")
        one_line(lambda: kind(group, num_allocated_qps="4"), name, "num_allocated_qps")
        buffer = kind(group)
        one_line(buffer.destroy, name + ".destroy", "explicitly_destroy")
        one_line(lambda: buffer.get_theoretical_num_sms(0, 1), "num_experts")
        one_line(lambda: buffer.get_theoretical_num_sms(8 * job.n, 0), "num_topk")
        one_line(lambda: buffer.get_theoretical_num_sms(8 * job.n, 8, 2), "num_scaleout_topk")
        one_line(lambda: buffer.get_theoretical_num_qps(0), "num_sms")
        buffer.explicitly_destroy = True  # leave none behind
        buffer.destroy()
        given = mine(job, case_of(job))
        for call in (
            lambda: buffer.dispatch(given.x, given.topk, num_experts=job.n),
            lambda: buffer.combine(given.x, None),
            buffer.barrier,
            buffer.print_memory_usage,
            buffer.get_comm_stream,
        ):
            one_line(call, name, "destroyed")
    one_line(lambda: EPBuffer.get_buffer_size_hint(group, 8, 100), "hidden")
    one_line(lambda: EPBuffer.get_buffer_size_hint(group, 8, 128, 99), "num_topk")


def test_not_offered(job: Job) -> None:
    """Each by name."""
    group = job.group
    one_line(lambda: EPBuffer(group, lb_allocation_plan_or_num_bytes=()), "lb_allocation_plan")
    one_line(lambda: ElasticBuffer(group, num_cpu_bytes=1 << 21), "num_cpu_bytes")
    for kind in (EPBuffer, ElasticBuffer):
        for name in (
            "engram_write engram_fetch get_engram_storage_size_hint pp_set_config pp_send pp_recv "
            "get_pp_buffer_size_hint create_agrs_session destroy_agrs_session agrs_new_session "
            "agrs_set_config agrs_get_inplace_tensor all_gather get_agrs_buffer_size_hint "
            "get_agrs_num_max_session_bytes update_mask_buffer query_mask_buffer "
            "clean_mask_buffer"
        ).split():
            one_line(lambda: getattr(kind, name)(1, 2), name, "not offered")

