# SPDX-License-Identifier: BSD-3-Clause
"""EPBuffer and ElasticBuffer: values, handles and events of dispatch and combine."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import sys
from typing import Any, Dict, List, Tuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
import deep_ep_elastic_reference as wanted_of  # noqa: E402
from deep_ep_common import FP8, case_of, codes_of, mine, near, same, same_sum  # noqa: E402
from deep_ep_job import Job, Skipped  # noqa: E402
import deep_ep_reference as reference  # noqa: E402
from deep_ep_reference import Case  # noqa: E402

import deep_ep  # noqa: E402
from warpshmem.deep_ep import _expand  # noqa: E402

MOST = 64
_made: Dict[Any, Any] = {}


def buffer_of(job: Job, kind: Any = None, several: bool = True) -> Any:
    """Return a Buffer that tests share."""
    kind = kind or deep_ep.EPBuffer
    if (kind, several) not in _made:
        _made[kind, several] = kind(
            job.group,
            num_max_tokens_per_rank=MOST,
            hidden=256,
            num_topk=4,
            allow_multiple_reduction=several,
            explicitly_destroy=True,
        )
    return _made[kind, several]


def dispatch(job: Job, case: Case, buffer: Any = None, **more: Any) -> Tuple:
    given = mine(job, case)
    buffer = buffer or buffer_of(job)
    more.setdefault("topk_weights", given.weights)
    return buffer.dispatch(given.x, topk_idx=given.topk, num_experts=case.n * case.local, **more)


def numbers(job: Job, handle: Any, case: Case, alignment: int, expand: bool, sync: bool) -> None:
    """The fields of a handle that are numbers."""
    counts = reference.normal_rows(case, job.rank).counts
    given = [wanted_of.up(count, alignment) for count in counts]
    local, n = case.local, case.n
    assert handle.num_recv_tokens_per_expert_list == (given if sync else [])
    received = sum(wanted_of.from_each(case, job.rank)) if sync else n * MOST
    most = n * MOST * min(case.topk, local) + (alignment - 1) * local
    assert handle.num_recv_tokens == received
    assert handle.num_expanded_tokens == (sum(given) if sync else wanted_of.up(most, alignment))
    ends = list(itertools.accumulate(given))
    if expand:
        ends = [end - up + count for end, up, count in zip(ends, given, counts)]
        assert handle.num_unaligned_recv_tokens_per_expert.tolist() == counts
    else:
        assert handle.num_unaligned_recv_tokens_per_expert is None
    assert handle.psum_num_recv_tokens_per_expert.tolist() == ends
    assert handle.psum_num_recv_tokens_per_expert.dtype == torch.int32
    buffer = buffer_of(job)
    out, inside = buffer.get_logical_domain_size()
    come = torch.tensor(wanted_of.from_each(case, job.rank)).view(out, inside).sum(0)
    assert handle.psum_num_recv_tokens_per_scaleup_rank.tolist() == come.cumsum(0).tolist()
    assert handle.psum_num_recv_tokens_per_scaleup_rank.dtype == torch.int32
    assert (handle.do_expand, handle.num_experts) == (expand, n * local)
    assert (handle.expert_alignment, handle.num_max_tokens_per_rank) == (alignment, MOST)
    assert handle.token_metadata_at_forward is None and handle.channel_linked_list is None


def check_metadata(job: Job, handle: Any, case: Case, entries: Any) -> None:
    wanted = wanted_of.metadata(case, job.rank, MOST)
    found, rows = handle.recv_src_metadata, wanted.shape[0]
    assert found.shape == (handle.num_recv_tokens, case.topk + 2)
    same(found[:rows, :2], wanted)
    if entries is None:
        assert (found[:, 2:] == -1).all()
    else:
        same(found[:rows, 2:], entries)
    assert (found[rows:] == -1).all()
    slots, topk = handle.dst_buffer_slot_idx, mine(job, case).topk
    assert slots.shape == topk.shape and ((slots >= 0) == (topk >= 0)).all()


def check_rows(job: Job, case: Case, got: Tuple, sync: bool, alignment: int = 1) -> None:
    """Without expansion."""
    x, topk, weights, handle, _ = got
    wanted = reference.normal_rows(case, job.rank)
    rows = wanted.x.shape[0]
    assert x.shape[0] == topk.shape[0] == weights.shape[0] == (rows if sync else case.n * MOST)
    same(x[:rows], wanted.x)
    same(topk[:rows], wanted.topk)
    same(weights[:rows], wanted.weights)
    assert (topk[rows:] == -1).all()
    numbers(job, handle, case, alignment, False, sync)
    check_metadata(job, handle, case, None)


def check_expanded(
    job: Job, case: Case, got: Tuple, alignment: int, sync: bool, zero: bool
) -> None:
    x, topk, weights, handle, _ = got
    wanted = wanted_of.expanded(case, job.rank, alignment)
    rows = wanted.x.shape[0]
    assert topk is None and x.shape[0] == weights.shape[0] == handle.num_expanded_tokens
    assert x.shape[0] == rows if sync else x.shape[0] >= rows
    real = torch.arange(x.shape[0]) if zero else (wanted.ids >= 0).nonzero().flatten()
    blank = torch.zeros((x.shape[0] - rows, case.hidden), dtype=torch.bfloat16)
    same(x.cpu()[real], torch.cat([wanted.x, blank])[real])
    blank = torch.zeros(x.shape[0] - rows)
    same(weights.cpu()[real], torch.cat([wanted.weights, blank])[real])
    numbers(job, handle, case, alignment, True, sync)
    check_metadata(job, handle, case, wanted.entries)


def results_of(job: Job, case: Case, got: Tuple) -> torch.Tensor:
    """What the experts here make of received rows: rounded sums, or of each expanded row."""
    x, topk, _, handle, _ = got
    first = job.rank * case.local
    if topk is None:
        made = torch.full_like(x, float("nan"))
        ids = wanted_of.expanded(case, job.rank, handle.expert_alignment).ids
        for expert in range(case.local):
            at = (ids == expert).nonzero().flatten().to(x.device)
            made[at] = wanted_of.result(x[at], first + expert)
        return made
    total = torch.zeros(x.shape, device=x.device)
    for k in range(topk.shape[1]):
        for expert in range(case.local):
            term = wanted_of.result(x, first + expert).float()
            total += torch.where((topk[:, k] == expert)[:, None], term, torch.zeros_like(term))
    return total.to(torch.bfloat16)


def biases_of(job: Job, case: Case, count: int) -> List[torch.Tensor]:
    tokens = mine(job, case).x.shape[0]
    made = torch.Generator().manual_seed(77 + job.rank)
    return [
        torch.randn((tokens, case.hidden), generator=made).to(torch.bfloat16).to(job.device)
        for _ in range(count)
    ]


def check_sum(job: Job, case: Case, got: Tuple, buffer: Any, bias: int, **more: Any) -> None:
    """A combine of what a dispatch gave, with so many biases, and its weights."""
    own, several = mine(job, case), buffer.allow_multiple_reduction
    biases = biases_of(job, case, bias)
    given: Any = None if not bias else biases[0] if bias == 1 else tuple(biases)
    expanded = got[3].do_expand
    weights = got[2] if several or not expanded else None
    out, back, _ = buffer.combine(
        results_of(job, case, got), got[3], topk_weights=weights, bias=given, **more
    )
    wanted = wanted_of.combined(
        case, job.rank, [one.cpu() for one in biases], expanded and not several
    )
    same(out, wanted) if bias or not several else same_sum(job, out, wanted)
    if weights is None:
        assert back is None
    else:
        same(back, torch.where(own.topk >= 0, own.weights, torch.zeros_like(own.weights)).cpu())


def test_elastic_rows(job: Job) -> None:
    """Received rows, with and without the host's wait, and sums with none, one and two biases."""
    for seed, sync, alignment in ((1, True, 1), (2, True, 8), (3, False, 1), (4, False, 16)):
        case = case_of(job, seed=200 + seed, empty=seed % job.n if seed > 2 else -1)
        got = dispatch(job, case, do_cpu_sync=sync, expert_alignment=alignment)
        check_rows(job, case, got, sync, alignment)
        for bias in range(3):
            check_sum(job, case, got, buffer_of(job), bias)


def test_elastic_expanded(job: Job) -> None:
    """Expert-major rows; padding is zero where that is asked for; sums round each rank's first."""
    kinds = ((1, True, 1, False), (2, True, 8, True), (3, False, 16, True))
    for seed, sync, alignment, zero in kinds:
        case = case_of(job, seed=210 + seed, empty=0 if seed == 2 else -1)
        more = dict(do_cpu_sync=sync, expert_alignment=alignment, do_expand=True)
        got = dispatch(job, case, do_zero_padding=zero, emit_expert_ids=True, **more)
        check_expanded(job, case, got, alignment, sync, zero)
        ids = wanted_of.expanded(case, job.rank, alignment).ids
        same(got[3].recv_expert_ids[: len(ids)], ids)
        assert (got[3].recv_expert_ids[len(ids) :] == -1).all()
        for bias in range(3):
            check_sum(job, case, got, buffer_of(job), bias)


def test_elastic_one_call(job: Job) -> None:
    """On one host rows come expert by expert, and are added up, by the library's calls alone: first
    dispatches, with more rows than before too, those by a handle, and combines."""
    if job.hosts > 1:
        raise Skipped("rows between hosts are expanded behind the call")
    if job.device.type == "cuda":
        raise Skipped("rows on a GPU are expanded behind the call")
    names, kept = ("places", "expand", "fold"), {}

    def refuse(*_: Any) -> None:
        raise AssertionError("a pass of its own")

    buffer = buffer_of(job)
    for name in names:
        kept[name] = getattr(_expand, name)
        setattr(_expand, name, refuse)
    try:
        for seed, sync, factor in ((1, True, 1), (2, False, 2), (3, True, 4), (4, True, 1)):
            case = case_of(job, seed=640 + seed, tokens=4 * factor)
            more = dict(do_cpu_sync=sync, expert_alignment=4, do_expand=True, do_zero_padding=True)
            got = dispatch(job, case, buffer, emit_expert_ids=True, **more)
            check_expanded(job, case, got, 4, sync, True)
            check_sum(job, case, got, buffer, 0)
            again = buffer.dispatch(
                mine(job, case).x * 2, handle=got[3], do_expand=True, do_zero_padding=True
            )
            same(again[0], got[0].cpu() * 2)
            buffer.combine(again[0], got[3])
    finally:
        for name in names:
            setattr(_expand, name, kept[name])


def test_elastic_rounded_once(job: Job) -> None:
    """allow_multiple_reduction=False: expanded rows are added up and rounded at their token."""
    buffer = buffer_of(job, several=False)
    case = case_of(job, seed=220)
    for sync, bias in ((True, 0), (False, 2)):
        for expand in (False, True):
            more = dict(do_expand=expand, do_cpu_sync=sync, expert_alignment=4)
            got = dispatch(job, case, buffer, **more)
            check_sum(job, case, got, buffer, bias)


def test_elastic_folded(job: Job) -> None:
    """Combines of expanded rows, whose sums lie in memory that comes in turn, and of received ones, in
    any order: powers of two times the same sums, bit for bit."""
    case = case_of(job, seed=612)
    given = mine(job, case)
    buffer = deep_ep.EPBuffer(job.group, num_max_tokens_per_rank=MOST, explicitly_destroy=True)
    more = dict(num_experts=case.n * case.local, do_zero_padding=True, do_expand=True)
    rows, _, _, wide, _ = buffer.dispatch(given.x, given.topk, given.weights, **more)
    plain, _, _, handle, _ = buffer.dispatch(given.x, given.topk, num_experts=case.n * case.local)
    sums, others = buffer.combine(rows, wide)[0].clone(), buffer.combine(plain, handle)[0].clone()
    for turn in range(8):
        factor = 2.0 ** (turn - 3)
        found = buffer.combine(rows * factor, wide)[0]
        if turn % 3 == 1:
            same(buffer.combine(plain * factor, handle)[0], (others * factor).cpu())
        same(found, (sums * factor).cpu())
    buffer.destroy()


def test_elastic_handle(job: Job) -> None:
    """A second dispatch by a handle, of other rows, with and without new weights."""
    for expand, sync in ((False, True), (True, True), (False, False), (True, False)):
        case = case_of(job, seed=230)
        given, more = mine(job, case), dict(do_expand=expand, do_zero_padding=expand)
        got = dispatch(job, case, do_cpu_sync=sync, expert_alignment=4, **more)
        weights = given.weights * 2
        again = buffer_of(job).dispatch(given.x * 2, handle=got[3], topk_weights=weights, **more)
        rows = len(got[0]) if expand else sum(wanted_of.from_each(case, job.rank))
        same(again[0][:rows], got[0][:rows].cpu() * 2)
        same(again[2], got[2].cpu() * 2)
        assert again[3] is got[3] and again[1] is not got[1] or expand
        if not expand:
            same(again[1], got[1].cpu())
        plain = buffer_of(job).dispatch(given.x * 3, handle=got[3], **more)
        same(plain[0][:rows], got[0][:rows].cpu() * 3)
        assert plain[2] is None
        check_sum(job, case, got, buffer_of(job), 0)


def test_elastic_handle_shown(job: Job) -> None:
    """A program may put its own rows in recv_src_metadata; combines do not read them."""
    case, buffer = case_of(job, seed=235), buffer_of(job)
    got = dispatch(job, case, do_cpu_sync=False)
    handle = got[3]
    handle.recv_src_metadata = handle.recv_src_metadata[:1]
    assert handle.recv_src_metadata.shape[0] == 1
    check_sum(job, case, got, buffer, 1)


def test_elastic_handle_copy(job: Job) -> None:
    """The handle's experts have memory of their own where that is asked for."""
    case = case_of(job, seed=231)
    given = mine(job, case)
    for kind, said, own in (
        (deep_ep.EPBuffer, None, False),
        (deep_ep.EPBuffer, True, True),
        (deep_ep.ElasticBuffer, None, True),
        (deep_ep.ElasticBuffer, False, False),
    ):
        more: Dict[str, Any] = {} if said is None else {"do_handle_copy": said}
        handle = buffer_of(job, kind).dispatch(
            given.x, given.topk, num_experts=case.n * case.local, **more
        )[3]
        assert (handle.topk_idx.data_ptr() != given.topk.data_ptr()) == own
        same(handle.topk_idx, given.topk.cpu())


def test_elastic_deterministic(job: Job) -> None:
    """Twice the same rows in the same order, whatever deterministic says."""
    case = case_of(job, seed=232)
    one, two = (dispatch(job, case, do_expand=True) for _ in range(2))
    same(one[0], two[0].cpu())
    same(one[3].recv_src_metadata, two[3].recv_src_metadata.cpu())


def test_elastic_statistics(job: Job) -> None:
    """Real counts are added, also by a handle."""
    case = case_of(job, seed=233)
    stats = torch.full((case.local,), 5, dtype=torch.int32, device=job.device)
    counts = torch.tensor(reference.normal_rows(case, job.rank).counts, dtype=torch.int32)
    for times, more in ((1, {"expert_alignment": 8}), (2, {"do_cpu_sync": False})):
        got = dispatch(job, case, cumulative_local_expert_recv_stats=stats, **more)
        same(stats, counts * times + 5)
    buffer_of(job).dispatch(
        mine(job, case).x, handle=got[3], cumulative_local_expert_recv_stats=stats
    )
    same(stats, counts * 3 + 5)


def test_elastic_fp8(job: Job) -> None:
    """One-byte rows with scales: float, by columns, packed in int32; expanded too."""
    case = case_of(job, seed=234, hidden=512)
    buffer = deep_ep.EPBuffer(job.group, explicitly_destroy=True, use_fp8_dispatch=True)
    given, wanted = mine(job, case), reference.normal_rows(case, job.rank)
    codes, scales = codes_of(job, given.x)
    want_codes, want_scales = (part.cpu() for part in codes_of(job, wanted.x.to(job.device)))
    packed = (scales[:, :1] * 1e6).int()
    for expand in (False, True):
        for columns in (False, True):
            got = buffer.dispatch(
                (codes, scales.t().contiguous().t()),
                given.topk,
                num_experts=case.n * case.local,
                num_max_tokens_per_rank=MOST,
                do_expand=expand,
                do_zero_padding=expand,
                expert_alignment=4,
                use_tma_aligned_col_major_sf=columns,
            )
            rows, come = got[0]
            assert rows.dtype == FP8 and got[2] is None
            assert not columns or come.stride() == (1, -(-come.shape[0] // 4) * 4)
            if expand:
                ids = wanted_of.expanded(case, job.rank, 4)
                real = (ids.ids >= 0).nonzero().flatten()
                at = (ids.entries >= 0).nonzero()
                order = ids.entries[at[:, 0], at[:, 1]].sort()[1]
                same(rows[real].view(torch.uint8), want_codes.view(torch.uint8)[at[order, 0]])
                same(come[real], want_scales[at[order, 0]])
            else:
                same(rows.view(torch.uint8), want_codes.view(torch.uint8))
                same(come, want_scales)
    got = buffer.dispatch(
        (codes, packed), given.topk, num_experts=case.n * case.local, num_max_tokens_per_rank=MOST
    )
    same(got[0][1], (want_scales[:, :1] * 1e6).int())
    buffer.destroy()


def test_elastic_events(job: Job) -> None:
    """previous_event, async_with_compute_stream, hooks, `with`, release_handle."""
    case, buffer = case_of(job, seed=240), buffer_of(job, deep_ep.ElasticBuffer)
    before = buffer.capture()
    assert isinstance(before, deep_ep.EventHandle)
    more = dict(
        previous_event=before,
        previous_event_before_epilogue=deep_ep.Buffer.capture(),
        async_with_compute_stream=True,
        allocate_on_comm_stream=True,
    )
    got = dispatch(job, case, buffer, **more)
    called: List[int] = []
    got[4].register_hook_after_wait(lambda: called.append(1))
    with got[4](release_handle=True) as event:
        assert event is got[4] and event.event is not None and not called
    assert called == [1] and event.event is None
    check_rows(job, case, got, True)
    results = results_of(job, case, got)
    more["previous_event"] = buffer.capture()  # of the results
    out, _, event = buffer.combine(results, got[3], **more)
    event.current_stream_wait()
    event.current_stream_wait()
    near(out, wanted_of.combined(case, job.rank, [], False))
    got = dispatch(job, case, buffer)
    assert got[4].event is None


def test_elastic_deferred(job: Job) -> None:
    """An event that gives the results, once and again."""
    case, buffer = case_of(job, seed=241), buffer_of(job)
    event = dispatch(job, case, defer_epilogue=True, async_with_compute_stream=True)
    got = event.wait()
    assert len(got) == 4 and event.current_stream_wait() is got
    check_rows(job, case, got + (event,), True)
    event = dispatch(job, case, defer_epilogue=True, do_expand=True, do_zero_padding=True)
    got = event.current_stream_wait(release_handle=True)
    assert event.event is None and event.wait() is got
    check_expanded(job, case, got + (event,), 1, True, True)
    (bias,) = biases_of(job, case, 1)
    y = results_of(job, case, got + (event,))
    out, back = buffer.combine(y, got[3], bias=bias, defer_epilogue=True).wait()
    same(out, wanted_of.combined(case, job.rank, [bias.cpu()], False))
    assert back is None


def test_elastic_attributes(job: Job) -> None:
    """What programs read of a Buffer, and of the module."""
    for kind in (deep_ep.EPBuffer, deep_ep.ElasticBuffer):
        buffer = buffer_of(job, kind)
        assert (buffer.group, buffer.rank_idx, buffer.num_ranks) == (job.group, job.rank, job.n)
        assert buffer.num_max_tokens_per_rank == MOST and buffer.num_bytes % (2 << 20) == 0
        out, inside = buffer.get_logical_domain_size()
        assert (out, inside) == buffer.get_physical_domain_size()
        assert (out, inside) == (job.hosts, job.n // job.hosts)
        assert (buffer.num_scaleout_ranks, buffer.num_scaleup_ranks) == (out, inside)
        assert (buffer.num_rdma_ranks, buffer.num_nvlink_ranks) == (out, inside)
        assert (buffer.scaleout_rank_idx, buffer.scaleup_rank_idx) == divmod(job.rank, inside)
        assert buffer.runtime is not None and buffer.nccl_comm_handle is None
        assert buffer.allow_hybrid_mode and buffer.allow_multiple_reduction
        assert buffer.prefer_overlap_with_compute and buffer.explicitly_destroy
        assert not buffer.deterministic and buffer.num_allocated_qps > 0
        assert buffer.get_theoretical_num_sms(8 * job.n, 4) == 24 or job.cuda
        assert buffer.get_theoretical_num_qps(24) == buffer.num_allocated_qps
        assert (buffer.get_comm_stream() is not None) == job.cuda
        buffer.barrier()
        buffer.barrier(use_comm_stream=False, with_cpu_sync=True, sequential=False)
        with contextlib.redirect_stdout(io.StringIO()) as wrote:
            buffer.print_memory_usage()
        line = "rank %d of %d has taken %d bytes" % (job.rank, job.n, buffer._used()[0])
        assert line in wrote.getvalue() and wrote.getvalue().count("\n") == 1
    assert deep_ep.get_physical_domain_size(job.group) == (job.hosts, job.n // job.hosts)
    assert deep_ep.get_logical_domain_size(job.group, False) == (1, job.n)
    flat = deep_ep.ElasticBuffer(job.group, allow_hybrid_mode=False, explicitly_destroy=True)
    assert flat.get_logical_domain_size() == (1, job.n) and flat.num_bytes == 0
    flat.destroy()


def test_elastic_sizes(job: Job) -> None:
    """A size hint is what one kind of dispatch takes, with every kind of combine."""
    for fp8, sync in ((False, True), (True, True), (False, False)):
        sizes = dict(num_max_tokens_per_rank=48, hidden=512, num_topk=4, use_fp8_dispatch=fp8)
        hint = deep_ep.EPBuffer.get_buffer_size_hint(job.group, **sizes)
        buffer = deep_ep.EPBuffer(job.group, num_bytes=hint, explicitly_destroy=True, **sizes)
        case = case_of(job, seed=250, hidden=512)
        given = mine(job, case)
        held = []
        for _ in range(20):
            x: Any = codes_of(job, given.x) if fp8 else given.x
            more = dict(num_experts=case.n * case.local, do_cpu_sync=sync)
            got = buffer.dispatch(x, given.topk, **more)
            held.append(got[3])
            rows = got[0][0] if fp8 else got[0]
            y = torch.zeros(rows.shape, dtype=torch.bfloat16, device=rows.device)
            buffer.combine(y, got[3], bias=torch.zeros_like(given.x))
        used, kinds = buffer._used()
        assert kinds == 2 and used <= hint == buffer.num_bytes, (used, hint)
        assert used > hint // 8 or hint < 8 << 20, (used, hint)
        buffer.destroy()


def test_elastic_destroy(job: Job) -> None:
    """The last one."""
    for buffer in _made.values():
        buffer.destroy()
        buffer.destroy()
        assert buffer.runtime is None
    _made.clear()
