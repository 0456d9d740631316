# SPDX-License-Identifier: BSD-3-Clause
"""Arguments at and beyond the edges of what calls take: refused by one line that names them before
anything is sent, or right; the next call is right in either case."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any, Callable, Dict, List

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import (  # noqa: E402
    buffer_of,
    case_of,
    check_low,
    check_normal,
    check_received,
    dispatch,
    mine,
    refused,
    same,
)
from deep_ep_job import Job, Skipped  # noqa: E402
import deep_ep_reference as reference  # noqa: E402

import deep_ep  # noqa: E402
from warpshmem import ep  # noqa: E402
from deep_ep import EPBuffer, ElasticBuffer, HybridEPBuffer  # noqa: E402

MOST = 64
HUGE = (1 << 31, 1 << 40, 1 << 70)
NO_FLAGS = (2, "yes", [], torch.ones(2))


def line(call: Callable[[], Any], *words: str) -> None:
    """Refused by one line of deep_ep that has the words, and what to do."""
    try:
        call()
    except (ValueError, NotImplementedError) as error:
        text = str(error)
        assert text.startswith("deep_ep.") and "\n" not in text and "; " in text, text
    refused(call, *words)


def second(job: Job, kind: Any = EPBuffer, **more: Any) -> Any:
    return kind(job.group, num_max_tokens_per_rank=MOST, explicitly_destroy=True, **more)


def scaled_rows(job: Job, tokens: int) -> Any:
    """Rows of one byte, and scales."""
    made = torch.Generator().manual_seed(job.rank)
    codes = torch.randint(0, 100, (tokens, 256), dtype=torch.uint8, generator=made)
    return codes.to(job.device), torch.rand((tokens, 2), generator=made).to(job.device)


def test_edges_numbers(job: Job) -> None:
    """Numbers beyond what the library has, and arguments in the place of others."""
    case = case_of(job, seed=900)
    given, experts = mine(job, case), case.n * case.local
    right = dict(topk_idx=given.topk, topk_weights=given.weights, num_experts=experts)
    names = "do_cpu_sync do_expand do_zero_padding use_tma_aligned_col_major_sf"
    flags = (names + " async_with_compute_stream").split()
    idle = ["do_handle_copy", "allocate_on_comm_stream"]  # with a handle
    for kind, more in ((EPBuffer, ["emit_expert_ids", "defer_epilogue"]), (ElasticBuffer, [])):
        buffer, call = second(job, kind), kind.__name__ + ".dispatch"
        handle = buffer.dispatch(given.x, **right)[3]
        for name in ("num_experts", "num_max_tokens_per_rank", "expert_alignment", "num_sms"):
            for value in HUGE:
                wrong = dict(right, **{name: value})
                line(lambda: buffer.dispatch(given.x, **wrong), call, name, str(value), "at most")
        for name in flags + idle + more:
            for value in NO_FLAGS:
                wrong = {name: value}
                line(lambda: buffer.dispatch(given.x, **right, **wrong), call, name, "True or False")
                if name in idle:
                    continue
                line(lambda: buffer.dispatch(given.x, handle=handle, **wrong), call, name)
        for name in ("num_experts", "num_max_tokens_per_rank", "expert_alignment"):
            for value in (0, torch.ones(40), "x"):
                wrong = {name: value}
                line(lambda: buffer.dispatch(given.x, handle=handle, **wrong), call, name, "handle's")
        line(lambda: buffer.combine(given.x, deep_ep.EPHandle()), "handle", "another Buffer")
        rows = buffer.dispatch(given.x, handle=handle)[0]
        same(rows, reference.normal_rows(case, job.rank).x)
        buffer.destroy()
        for wrong in (dict(hidden=65664), dict(num_max_tokens_per_rank=1 << 26)):
            line(lambda: kind(job.group, **wrong), kind.__name__, *wrong, "at most")
        for name in ("allow_hybrid_mode", "allow_multiple_reduction", "use_fp8_dispatch"):
            line(lambda: second(job, kind, **{name: torch.ones(2)}), kind.__name__, name)


def test_edges_of_a_handle(job: Job) -> None:
    """Rows of a dispatch by a handle are looked at as those of the first one, also where the call is
    a short one; the line names the call's class."""
    case = case_of(job, seed=901)
    given = mine(job, case)
    codes, scales = scaled_rows(job, len(given.x))
    buffer = second(job)
    handle = buffer.dispatch(given.x, given.topk, num_experts=case.n * case.local)[3]

    def wrong(x: Any, *words: str) -> None:
        line(lambda: buffer.dispatch(x, handle=handle), "EPBuffer.dispatch", *words)

    wrong((), "0 parts")
    wrong((codes, scales, scales), "3 parts")
    wrong((codes, 1.0), "x[1]", "is float")
    wrong((codes, scales[:3]), "x[1]", "a row for each")
    wrong((codes, scales[None]), "x[1]", "a row for each")
    wrong((codes, scales.to("meta")), "x[1]", "meta")
    wrong((codes, scales[:, :1]), "x", "scales of torch.float32")
    wrong((codes.bool(), scales), "x", "torch.bool")
    wrong(given.x.float(), "x", "torch.float32")
    wrong(given.x.to("meta"), "x", "meta")
    wrong(given.x[:, :128], "x", "128 columns")
    rows, come = buffer.dispatch((codes, scales.t().contiguous().t()), handle=handle)[0]
    again, alike = buffer.dispatch([codes, scales], handle=handle)[0]
    same(rows, again.cpu())
    same(come, alike.cpu())
    line(lambda: buffer.dispatch(codes.to("meta"), given.topk), "num_experts")
    meta = dict(topk_idx=given.topk.to("meta"), num_experts=case.n * case.local)
    line(lambda: buffer.dispatch(given.x.to("meta"), **meta), "x", "meta")
    if case.local > 1:
        name = "cumulative_local_expert_recv_stats"
        one = torch.zeros(1, dtype=torch.int32, device=job.device).expand(case.local)
        line(lambda: buffer.dispatch(given.x, handle=handle, **{name: one}), name, "one element")
    buffer.destroy()


def test_edges_of_old_handles(job: Job) -> None:
    """Without do_cpu_sync the last 64 are kept; the line names the class of the Buffer."""
    case = case_of(job, seed=902, tokens=3)
    given, buffer = mine(job, case), second(job)
    ask = dict(topk_idx=given.topk, num_experts=case.n * case.local, do_cpu_sync=False)
    rows, _, _, handle, _ = buffer.dispatch(given.x, **ask)
    for _ in range(64):
        buffer.dispatch(given.x, **ask)
    line(lambda: buffer.dispatch(given.x, handle=handle), "EPBuffer.dispatch", "handle", "64")
    line(lambda: buffer.combine(rows, handle), "EPBuffer.combine", "handle", "do_cpu_sync=False")
    buffer.destroy()


def test_edges_no_expanded_row(job: Job) -> None:
    """Scales by columns where a rank has no expanded row: its call is as the others'."""
    case = case_of(job, seed=903)
    codes, scales = scaled_rows(job, case.tokens)
    buffer = second(job)
    topk = torch.zeros((case.tokens, 1), dtype=torch.int64, device=job.device)  # all to rank 0
    ask = dict(do_expand=True, use_tma_aligned_col_major_sf=True)
    for turn in range(3):
        got = buffer.dispatch((codes, scales), topk, num_experts=case.n * case.local, **ask)
        for rows, come in (got[0], buffer.dispatch((codes, scales), handle=got[3], **ask)[0]):
            assert len(rows) == len(come) == (0 if job.rank else case.tokens * job.n)
            assert come.stride(0) == 1 and come.stride(1) % 4 == 0
    buffer.destroy()


def test_edges_wrong_numbers_of_a_layout(job: Job) -> None:
    """Where topk_idx is given rows go by it, and memory is taken for them, whatever the numbers
    say, in the first call of a shape too; on another device they are refused."""
    case = case_of(job, seed=904)
    given, experts = mine(job, case), case.n * case.local
    ask = buffer_of(job).get_dispatch_layout
    ranks, _, counts, inside, _ = ask(given.topk, experts)
    for wrong in (
        dict(num_tokens_per_rank=ranks * 0),
        dict(num_tokens_per_rank=ranks - 1000),
        dict(num_tokens_per_rank=ranks + 1000),
        dict(num_tokens_per_expert=counts * 0),
    ):
        buffer = deep_ep.Buffer(job.group, explicitly_destroy=True)
        for turn in range(2):
            right = dict(
                num_tokens_per_rank=ranks, num_tokens_per_expert=counts, is_token_in_rank=inside
            )
            tokens = dict(topk_idx=given.topk, topk_weights=given.weights)
            got = buffer.dispatch(given.x, **dict(right, **tokens, **wrong))
            check_received(job, case, got)
        for name in right:
            other = dict(right, **{name: right[name].to("meta")})
            line(lambda: buffer.dispatch(given.x, **other), "Buffer.dispatch", name, "meta")
        buffer.destroy()
    line(lambda: ask(given.topk.to("meta"), experts), "get_dispatch_layout", "topk_idx", "meta")


def test_edges_without_topk(job: Job) -> None:
    """Each call without topk_idx counts the rows of experts, not the first one alone."""
    case = case_of(job, seed=905)
    given, wanted = mine(job, case), reference.normal_rows(case, job.rank)
    buffer = deep_ep.Buffer(job.group, explicitly_destroy=True)
    numbers = buffer.get_dispatch_layout(given.topk, case.n * case.local)
    for turn in range(3):
        rows, _, _, counts, handle, _ = buffer.dispatch(
            given.x,
            num_tokens_per_rank=numbers[0] * (turn != 1),  # rows go by is_token_in_rank
            num_tokens_per_expert=numbers[2],
            is_token_in_rank=numbers[3],
        )
        same(rows, wanted.x)
        assert counts == wanted.counts, (turn, counts)
        same(buffer.dispatch(given.x, handle=handle)[0], wanted.x)
    buffer.destroy()


def test_edges_of_buffer(job: Job) -> None:
    """Buffer's calls in normal mode: what came unnoticed, or was told by another library's line."""
    buffer, case = buffer_of(job), case_of(job, seed=906)
    given, experts = mine(job, case), case.n * case.local
    got = dispatch(buffer, given, experts)
    call, x = "Buffer.dispatch", given.x
    for name, value in (("topk_idx", given.topk), ("topk_weights", given.weights)):
        line(lambda: buffer.dispatch(x, handle=got[4], **{name: value}), call, name, "handle")
    line(lambda: buffer.dispatch(x[:, :128], handle=got[4]), call, "x", "128 columns", "256")
    line(lambda: dispatch(buffer, given, experts, async_finish="x"), call, "async_finish")
    odd = torch.ones(2)
    line(lambda: buffer.dispatch(x, handle=got[4], async_finish=odd), call, "async_finish")
    line(lambda: buffer.combine(got[0], got[4], async_finish=3), "combine", "async_finish")
    for value in (1 << 31, 1 << 40):
        line(lambda: dispatch(buffer, given, experts, expert_alignment=value), "expert_alignment")
        line(lambda: dispatch(buffer, given, experts, num_worst_tokens=value), "num_worst_tokens")
    if job.n > 1:  # fewer rows than can come
        least = min(len(tokens.x) for tokens in reference.all_tokens(case))
        worst = least * job.n - 1
        line(lambda: dispatch(buffer, given, experts, num_worst_tokens=worst), "num_worst_tokens")
    for columns in (0, 1, case.topk + 1):
        other = torch.ones((len(got[0]), columns), device=job.device)
        call = "Buffer.combine"
        line(lambda: buffer.combine(got[0], got[4], topk_weights=other), call, "topk_weights")
    wide = torch.zeros((1, 65664), dtype=torch.bfloat16, device=job.device)
    line(lambda: buffer.dispatch(wide, handle=got[4]), "x", "65536")
    many = x[:1].expand(65537, -1)
    line(lambda: buffer.dispatch(many, handle=got[4]), "x", "65537 tokens", "in parts")
    check_normal(job, case)


def test_edges_after_the_end(job: Job) -> None:
    """Handles of a Buffer that was destroyed, given to another one."""
    case, buffer = case_of(job, seed=907), buffer_of(job)
    given, experts = mine(job, case), case.n * case.local
    ended = deep_ep.Buffer(job.group, explicitly_destroy=True)
    got = dispatch(ended, given, experts)
    low = ended.low_latency_dispatch(given.x, given.topk, 40, experts, use_fp8=False)
    ended.destroy()
    line(lambda: buffer.dispatch(given.x, handle=got[4]), "Buffer.dispatch", "was destroyed")
    line(lambda: buffer.combine(got[0], got[4]), "Buffer.combine", "handle", "was destroyed")
    with_low = (given.topk, given.weights, low[2])
    call = "low_latency_combine"
    line(lambda: buffer.low_latency_combine(low[0], *with_low), call, "handle", "was destroyed")
    check_normal(job, case)


def test_edges_of_low_latency(job: Job) -> None:
    """Statistics are written one after another, so they lie so; a token has an expert at least."""
    buffer, case = buffer_of(job), case_of(job, seed=908)
    given, experts = mine(job, case), case.n * case.local
    right = dict(x=given.x, topk_idx=given.topk, num_experts=experts, use_fp8=False)
    right["num_max_dispatch_tokens_per_rank"] = 40

    def wrong(name: str, value: Any, *words: str) -> None:
        given = dict(right, **{name: value})
        line(lambda: buffer.low_latency_dispatch(**given), "low_latency_dispatch", name, *words)

    name = "cumulative_local_expert_recv_stats"
    counts = torch.zeros((case.local, 2), dtype=torch.int32, device=job.device)
    if case.local > 1:
        wrong(name, counts[:, 0], "contiguous")
        wrong(name, counts[:1, 0].expand(case.local), "contiguous")
    wrong("topk_idx", given.topk[:, :0], "(%d, 0)" % len(given.x))
    wrong("topk_idx", given.topk[:, :1].expand(-1, 17), "17")
    for value in (1 << 16, 1 << 40, 1 << 70):
        wrong("num_max_dispatch_tokens_per_rank", value, "2048")
        wrong("num_experts", value, "65535")
    assert not counts.any()
    check_low(job, case)


def test_edges_of_hybrid(job: Job) -> None:
    """Lines name HybridEPBuffer's own arguments and calls; a refused call changes no sizes."""
    case = case_of(job, seed=909)
    given, experts = mine(job, case), case.n * case.local
    buffer = HybridEPBuffer(job.group, case.hidden, MOST, case.local)
    routing = torch.zeros((len(given.x), experts + 1), dtype=torch.bool, device=job.device)
    routing = routing.scatter_(1, given.topk % (experts + 1), True)[:, :experts].contiguous()
    codes, scales = scaled_rows(job, len(given.x))
    plain = buffer.dispatch(given.x, routing_map=routing)
    wide = buffer.dispatch_with_permute(hidden=given.x, routing_map=routing, pad_multiple=4)
    handles: Dict[str, Any] = dict(dispatch=plain[3], dispatch_with_permute=wide[4])
    for name, handle in handles.items():
        call, place = getattr(buffer, name), "HybridEPBuffer.%s: " % name

        def wrong(argument: str, *words: str, **changed: Any) -> None:
            asked = dict(dict(hidden=given.x, routing_map=routing), **changed)
            line(lambda: call(**asked), place + argument, *words)

        wrong("hidden", "torch.float32", hidden=given.x.float())
        wrong("hidden", "meta", hidden=given.x.to("meta"))
        wrong("hidden", "torch.bool", hidden=codes.bool(), scaling_factor=scales)
        wrong("scaling_factor", "a row for each", hidden=codes, scaling_factor=scales[:3])
        wrong("scaling_factor", "is int", hidden=codes, scaling_factor=3)
        wrong("hidden", "in parts", hidden=given.x[:1].expand(65537, -1))
        wrong("routing_map", "meta", routing_map=routing.to("meta"))
        wrong("routing_map", "0 columns", routing_map=routing[:, :0])
        wrong("probs", "meta", probs=routing.float().to("meta"))
        by_number = dict(routing_map=None, topk_idx=given.topk)
        wrong("num_of_experts", "at most", num_of_experts=1 << 40, **by_number)
        twice = dict(by_number, topk_idx=torch.full_like(given.topk, 1 << 40))
        if not job.cuda:
            wrong("topk_idx", "has", num_of_experts=experts, **twice)
        alone = dict(routing_map=None, handle=handle, topk_weights=given.weights)
        wrong("topk_weights", "give both", **alone)
    if job.n > 1:
        one = torch.zeros((len(given.x), experts + 1), dtype=torch.bool, device=job.device)
        line(lambda: buffer.dispatch(given.x, routing_map=one), "routing_map", "multiple")
    permuted: List[Any] = [("pad_multiple", 1 << 40), ("num_permuted_tokens", 1 << 40)]
    for name, value in permuted + [("use_fp8", "x")]:
        asked = dict(hidden=given.x, routing_map=routing, **{name: value})
        line(lambda: buffer.dispatch_with_permute(**asked), "dispatch_with_permute: " + name)
    for call, args in (
        ("combine", dict(hidden=plain[0], handle=plain[3])),
        ("combine_with_unpermute", dict(hidden=wide[0], handle=wide[4])),
    ):
        back, place = getattr(buffer, call), "HybridEPBuffer.%s: " % call
        line(lambda: back(**dict(args, hidden=None)), place + "hidden")
        line(lambda: back(**dict(args, hidden=given.x.float())), place + "hidden")
        line(lambda: back(**args, probs=torch.ones(3, 3, 3, device=job.device)), place + "probs")
    assert buffer.configurer.buffer_config.max_num_of_tokens_per_rank == MOST
    line(lambda: buffer.update_template_config(num_of_tokens_per_rank="x"), "num_of_tokens_per_rank")
    line(lambda: HybridEPBuffer(None, 256, 8, 1), "HybridEPBuffer: group")
    line(lambda: HybridEPBuffer(job.group, 256, 8, 1, num_sms_dispatch_api=-1), "num_sms_dispatch_api")
    same(buffer.dispatch(given.x, routing_map=routing)[0], plain[0].cpu())
    buffer.destroy()


def test_edges_many_instances(job: Job) -> None:
    """Instances, of which each kind of call has one, say nothing of how many they are."""
    buffer_of(job)
    if job.cuda or job.n > 2:
        raise Skipped("takes long there")
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        try:
            sizes = dict(mode=ep.HIGH_THROUGHPUT, hidden=128, experts=job.n, topk=1)
            made = [ep.ExpertParallel(tokens=1, handles=1, **sizes) for _ in range(66)]
            for one in made:
                one.close()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        said.seek(0)
        assert b"callback" not in said.read()
