# SPDX-License-Identifier: BSD-3-Clause
"""What tests of deep_ep share: buffers, cases, calls that are compared with the reference."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Tuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402

from deep_ep_job import Job  # noqa: E402
import deep_ep_reference as reference  # noqa: E402
from deep_ep_reference import Case  # noqa: E402

import warpshmem.deep_ep.install  # noqa: E402,F401
import deep_ep  # noqa: E402
from deep_ep import _low_checks  # noqa: E402

FP8 = _low_checks.FP8_DTYPE or torch.uint8
_low_checks.FP8_DTYPE = FP8  # so that an old torch gets bytes
_buffers: Dict[str, deep_ep.Buffer] = {}


def buffer_of(job: Job, name: str = "first") -> deep_ep.Buffer:
    """Return the buffer that tests share."""
    if name not in _buffers:
        _buffers[name] = deep_ep.Buffer(
            job.group, 1 << 20, 1 << 20, low_latency_mode=True, explicitly_destroy=True
        )
    return _buffers[name]


def case_of(job: Job, **what: Any) -> Case:
    fields: Dict[str, Any] = dict(n=job.n, hidden=256, local=3, topk=4, tokens=37, seed=1)
    fields["hosts"] = 1 if job.cuda else job.hosts
    fields.update(what)
    fields["topk"] = min(fields["topk"], job.n * fields["local"])
    return Case(**fields)


def mine(job: Job, case: Case) -> reference.Tokens:
    return reference.Tokens(
        *(tensor.to(job.device) for tensor in reference.tokens_of(case, job.rank))
    )


def same(found: torch.Tensor, wanted: torch.Tensor) -> None:
    """Bit for bit."""
    found, wanted = found.cpu(), wanted.cpu()
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (
        found.shape,
        wanted.shape,
        found.dtype,
    )
    assert torch.equal(found, wanted), "%d of %d values differ" % (
        (found != wanted).sum(),
        found.numel(),
    )


def near(found: torch.Tensor, wanted: torch.Tensor, share: float = 0.02) -> None:
    """Within `share` of the value, and of 1."""
    error = (found.float().cpu() - wanted.float()).abs()
    assert bool((error <= share * (1 + wanted.float().abs())).all()), "off by %g" % error.max()


def same_sum(job: Job, found: torch.Tensor, wanted: torch.Tensor) -> None:
    """Bit for bit in one host; between hosts sums of a host are rounded to BF16 once more."""
    if job.hosts == 1:
        same(found, wanted)
    else:
        near(found, wanted, 0.01)


def dispatch(
    buffer: deep_ep.Buffer, given: reference.Tokens, experts: int, x: Any = None, **more: Any
) -> Tuple:
    per_rank, per_host, per_expert, inside, _ = buffer.get_dispatch_layout(given.topk, experts)
    return buffer.dispatch(
        given.x if x is None else x,
        num_tokens_per_rank=per_rank,
        num_tokens_per_rdma_rank=per_host,
        num_tokens_per_expert=per_expert,
        is_token_in_rank=inside,
        topk_idx=given.topk,
        topk_weights=given.weights,
        **more,
    )


def check_received(job: Job, case: Case, got: Tuple, alignment: int = 1) -> None:
    wanted = reference.normal_rows(case, job.rank)
    x, topk, weights, counts = got[:4]
    same(x, wanted.x)
    same(topk, wanted.topk)
    same(weights, wanted.weights)
    assert counts == [-(-count // alignment) * alignment for count in wanted.counts], counts


def scaled(rank: int) -> float:
    return float(rank + 1)


def check_normal(job: Job, case: Case, **more: Any) -> None:
    """A dispatch and its combine."""
    buffer, given = buffer_of(job), mine(job, case)
    got = dispatch(buffer, given, case.n * case.local, **more)
    if got[5].event is not None:
        got[5].current_stream_wait()
    check_received(job, case, got, more.get("expert_alignment", 1))
    out, weights, event = buffer.combine(got[0] * scaled(job.rank), got[4], topk_weights=got[2])
    same_sum(job, out, reference.normal_sum(case, job.rank, scaled))
    own = reference.tokens_of(case, job.rank)
    same(weights, torch.where(own.topk >= 0, own.weights, torch.zeros_like(own.weights)))


def codes_of(job: Job, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
    """e4m3 rows and scales as a framework makes them; bytes where torch has no such type."""
    codes, scales = reference.quantize(x.cpu())
    codes = codes.to(job.device)
    return (codes.view(FP8) if FP8 != torch.uint8 else codes), scales.to(job.device)


def expert_scaled(expert: Any) -> Any:
    return 0.5 + expert


def run_experts(job: Job, case: Case, rows: torch.Tensor) -> torch.Tensor:
    first = torch.arange(case.local, dtype=torch.float32, device=job.device) + job.rank * case.local
    return (rows.float() * expert_scaled(first)[:, None, None]).to(torch.bfloat16)


def check_packed(
    job: Job, case: Case, rows: torch.Tensor, counts: torch.Tensor, handle: Any
) -> None:
    most = handle[2]
    assert rows.shape == (case.local, job.n * most, case.hidden), rows.shape
    for expert in range(case.local):
        wanted = reference.low_rows(case, job.rank, expert)
        assert int(counts[expert]) == sum(len(part) for part in wanted)
        for source, part in enumerate(wanted):
            packed = int(handle[1][expert][source])
            begin, count = packed >> 32, packed & (1 << 32) - 1
            assert count == len(part)
            same(rows[expert, begin : begin + count], part)


def check_low(
    job: Job, case: Case, hook: bool = False, zero_copy: bool = False, **more: Any
) -> None:
    buffer, given, most = buffer_of(job), mine(job, case), case.tokens + 3
    stats = torch.full((case.local,), 5, dtype=torch.int32, device=job.device)
    rows, counts, handle, event, receive = buffer.low_latency_dispatch(
        given.x,
        given.topk,
        most,
        case.n * case.local,
        use_fp8=False,
        cumulative_local_expert_recv_stats=stats,
        return_recv_hook=hook,
        **more,
    )
    receive() if hook else event.event is None or event.current_stream_wait()
    check_packed(job, case, rows, counts, handle)
    same(stats, counts.cpu() + 5)
    y = run_experts(job, case, rows)
    if zero_copy:
        buffer.get_next_low_latency_combine_buffer(handle).copy_(y)
    room = torch.empty_like(given.x)
    out, event, receive = buffer.low_latency_combine(
        y,
        given.topk,
        given.weights,
        handle,
        zero_copy=zero_copy,
        return_recv_hook=hook,
        out=room,
        **more,
    )
    receive() if hook else event.event is None or event.current_stream_wait()
    assert out is room
    near(out, reference.low_sum(case, job.rank, expert_scaled))


def refused(call: Any, *words: str) -> None:
    """The call raises, and its line names what the words say."""
    try:
        call()
    except (ValueError, NotImplementedError, RuntimeError, ImportError, AttributeError) as error:
        assert all(word in str(error) for word in words), error
        return
    raise AssertionError("not refused: %s" % (words,))
