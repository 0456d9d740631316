# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep's low-latency calls by plans of the extension module: what they return stays as it is, all
that is not plain is as ever."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import weakref
from typing import Any, Callable, Dict, Iterator, List, Tuple
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import (  # noqa: E402
    buffer_of,
    case_of,
    check_packed,
    expert_scaled,
    mine,
    near,
    refused,
    run_experts,
    same,
)
from deep_ep_job import Job, Skipped  # noqa: E402
import deep_ep_reference as reference  # noqa: E402

import deep_ep  # noqa: E402
from deep_ep import _by_expert, _expand, _low_plans, _topk  # noqa: E402
from deep_ep.utils import event  # noqa: E402
from warpshmem import _ep_arrays, _quick, ep  # noqa: E402

FORMS: Tuple[Dict[str, bool], ...] = (
    {"use_fp8": False},
    {},
    {"round_scale": True, "use_ue8m0": True},
)


def tensors(values: Any) -> List[torch.Tensor]:
    """Return the tensors in nested tuples."""
    if isinstance(values, torch.Tensor):
        return [values]
    return [one for value in values for one in tensors(value)] if isinstance(values, tuple) else []


def whole(values: Any) -> List[torch.Tensor]:
    """Return the bytes of the tensors in nested tuples, copied."""
    return [tensor.cpu().contiguous().view(torch.uint8).clone() for tensor in tensors(values)]


def by_plans(buffer: deep_ep.Buffer) -> List[bool]:
    """Return a list that notes for each call from now on whether it went by a plan."""
    told, low = [], buffer._low

    def noting(call: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any) -> Any:
            found = call(*args)
            told.append(found is not None)
            return found

        return noted

    for name in ("quick_dispatch", "quick_combine"):
        setattr(low, name, noting(getattr(type(low), name).__get__(low)))
    return told


def pair(buffer: deep_ep.Buffer, case: Any, given: Any, job: Job, how: Any, **form: bool) -> Any:
    """A dispatch and a combine of zeros and what was received; all that they return. how: whether
    with hooks, or "event"."""
    hook, event = how is True, how == "event"
    ends = dict(return_recv_hook=hook, async_finish=event)
    got = buffer.low_latency_dispatch(
        given.x, given.topk, case.tokens, case.n * case.local, **ends, **form
    )
    got[4]() if hook else None
    got[3].current_stream_wait() if event else None
    rows = got[0]
    y = rows if not form.get("use_fp8", True) else torch.zeros_like(rows[0], dtype=torch.bfloat16)
    out = buffer.low_latency_combine(y, given.topk, given.weights, got[2], **ends)
    out[2]() if hook else None
    out[1].current_stream_wait() if event else None
    return got[:3], out[0]


def test_results_of_five_calls(job: Job) -> None:
    """Held, they and views of them alone, they stay as they are while others are made."""
    buffer = buffer_of(job, "quick")
    for form in FORMS:
        for hook in (False, True, "event"):
            cases = [case_of(job, seed=110 + i, hidden=1024) for i in range(6)]
            held: List[Any] = []
            for case in cases[:5]:
                made = pair(buffer, case, mine(job, case), job, hook, **form)
                # of one of them no more than views is left
                kept = made if len(held) != 2 else tuple(one[:1] for one in tensors(made))
                held.append((kept, whole(kept)))
                made = kept = None  # type: ignore[assignment]
            for _ in range(3):
                pair(buffer, cases[5], mine(job, cases[5]), job, hook, **form)
            for kept, before in held:
                for now, then in zip(whole(kept), before):
                    assert torch.equal(now, then)


def test_rows_alike(job: Job) -> None:
    """Places of expanded rows and sums of them, and what choices are right: by the extension as by
    operations of torch, bit for bit but for what is no number."""
    if _quick.module is None or job.cuda:
        raise Skipped("no extension module, or rows of a GPU")
    made = torch.Generator().manual_seed(7 + job.rank)
    for rows, k, local, alignment in ((0, 3, 4, 1), (1, 1, 1, 8), (37, 5, 6, 4), (200, 8, 8, 128)):
        order = torch.rand(rows, max(k, local), generator=made).argsort(1)[:, :k].int()
        chosen = torch.where(order < local, order, torch.full_like(order, -1)).contiguous()
        counts = torch.bincount(chosen[chosen >= 0].long(), minlength=local).int()
        all_of = int(_expand.aligned(counts, alignment).sum())
        for expanded in (all_of, all_of + 9, max(all_of - 7, 0)):
            x = torch.randn(expanded, 256, generator=made).bfloat16()
            x.view(-1)[: 9 if x.numel() else 0] = float("nan")
            found = []
            for module in (_quick.module, None):
                with mock.patch.object(_quick, "module", module):
                    at = _expand.places(chosen, counts, alignment, expanded)
                    total = _expand.fold(x, at.rows).float().nan_to_num(nan=-7.0)
                    found.append(tuple(at)[:3] + (total,))
            for one, two in zip(*found):
                assert one.dtype == two.dtype and torch.equal(one, two)
        for dtype in (torch.int64, torch.int32):
            assert _topk.are_right(chosen.to(dtype), local)
            for wrong in (-2, local):
                bad = chosen.to(dtype)
                bad[-1:, -1] = wrong
                assert _topk.are_right(bad, local) == (not rows)
            twice = torch.zeros((2, 2), dtype=dtype)
            assert not _topk.are_right(twice, local)


def test_expansion_by_kernels(job: Job) -> None:
    """On a GPU, as by operations of torch: places, copies, padding and sums of random routings."""
    if not job.cuda:
        raise Skipped("for machines with a GPU")
    made = torch.Generator().manual_seed(7 + job.rank)
    shapes = (0, 4, 3, 1), (1, 1, 1, 8), (97, 8, 8, 16), (3000, 8, 64, 128)
    for rows, k, local, alignment in shapes:
        order = torch.rand(rows, max(2 * k, local), generator=made).argsort(1)[:, : k + 1].int()
        wide = torch.where(order < local, order, torch.full_like(order, -1)).cuda()
        chosen = wide[:, :k]
        counts = torch.bincount(chosen[chosen >= 0].long(), minlength=local).int()
        x = torch.randn(rows, 256, generator=made).bfloat16().cuda()
        scales = torch.randn(rows, 7, generator=made).cuda()
        weights = torch.randn(rows, k + 1, generator=made).cuda()[:, :k]
        all_of = int(_expand.aligned(counts, alignment).sum())
        for expanded in (all_of, all_of + 9, max(all_of - 7, 0)):
            found = []
            for patch in (mock.Mock(return_value=False), _by_expert._call):
                with mock.patch.object(_by_expert, "_call", patch):
                    at = _expand.places(chosen, counts, alignment, expanded, True)
                    some = _expand.expand(x, scales, weights, at, True)
                    found.append(tuple(at) + some + (_expand.fold(some[0], at.rows),))
            for one, two in zip(*found):
                assert one.dtype == two.dtype and torch.equal(one, two)


def test_kernels_refuse_what_they_do_not_hold(job: Job) -> None:
    """Too many choices or tokens are left to torch: the routines say so, and start nothing."""

    def status(number: int, pointers: int, *sizes: int) -> int:
        words = (0,) * pointers + sizes
        struct = (ctypes.c_int64 * len(words))(*words)
        return int(_by_expert._routine(number)(ctypes.addressof(struct), None))

    assert status(1, 6, 1, 33, 33, 0, 1, 1, 1) == -1
    assert status(2, 8, 1, 33, 1, 256, 0, 0, 0) == -1
    assert status(3, 3, 1, 33, 128) == -1
    assert status(4, 5, 1, 17, 0, 1, 1, 64) == -1
    assert status(4, 5, 1 << 25, 8, 0, 64, 8, 4) == -1


def test_they_go_by_plans(job: Job) -> None:
    """From the second call of a shape on, also with a part of the tokens, and with zero copy."""
    if _quick.module is None:
        raise Skipped("no extension module")
    buffer = buffer_of(job, "quick")
    case = case_of(job, seed=120)
    given, experts = mine(job, case), case.n * case.local
    pair(buffer, case, given, job, False, use_fp8=False)
    told = by_plans(buffer)
    for most in (None, 1, 0):
        part = [one[:most] for one in given]
        rows, counts, handle, event, receive = buffer.low_latency_dispatch(
            part[0], part[1], case.tokens, experts, use_fp8=False
        )
        assert event.event is None and receive is None
        if most is None:
            check_packed_alike(job, case, rows, counts, handle)
        y = run_experts(job, case, rows)
        buffer.get_next_low_latency_combine_buffer(handle).copy_(y)
        for zero_copy in (False, True):
            out, _, _ = buffer.low_latency_combine(
                y, part[1], part[2], handle, zero_copy=zero_copy and most is None
            )
            if most is None:
                near(out, reference.low_sum(case, job.rank, expert_scaled))
            if zero_copy is False:
                _, _, handle, _, _ = buffer.low_latency_dispatch(
                    part[0], part[1], case.tokens, experts, use_fp8=False
                )
                buffer.get_next_low_latency_combine_buffer(handle).copy_(y)
    assert all(told) and len(told) == 12, told


def check_packed_alike(job: Job, case: Any, rows: Any, counts: Any, handle: Any) -> None:
    """check_packed, for as many tokens as may come."""
    assert handle[2] == case.tokens and handle[3:] == (case.hidden, case.n * case.local)
    check_packed(job, case, rows, counts, handle)


def test_what_is_not_plain(job: Job) -> None:
    """Strided tensors, int32 experts, copies of topk_idx, other memory for out: the results are
    right, whichever way they go."""
    buffer, case = buffer_of(job, "quick"), case_of(job, seed=121)
    given, experts = mine(job, case), case.n * case.local
    pair(buffer, case, given, job, False, use_fp8=False)
    wide = torch.zeros((len(given.x), 2 * case.hidden), dtype=given.x.dtype, device=job.device)
    wide[:, ::2] = given.x
    for x, topk in ((wide[:, ::2], given.topk), (given.x, given.topk.int())):
        rows, counts, handle, _, _ = buffer.low_latency_dispatch(
            x, topk, case.tokens, experts, use_fp8=False
        )
        check_packed(job, case, rows, counts, handle)
        y = run_experts(job, case, rows)
        back = torch.zeros((case.hidden, len(given.x)), dtype=given.x.dtype, device=job.device)
        if len(given.x) > 1:
            refused(
                lambda: buffer.low_latency_combine(y, topk, given.weights, handle, out=back.t()),
                "out is not contiguous",
            )
        out, _, _ = buffer.low_latency_combine(y, topk.clone(), given.weights, handle)
        near(out, reference.low_sum(case, job.rank, expert_scaled))


def wrong_calls(job: Job, buffer: deep_ep.Buffer, case: Any, handle: Any, y: Any) -> Iterator[Any]:
    """Calls that are refused, before anything is sent."""
    given, experts, most = mine(job, case), case.n * case.local, case.tokens
    low, back = buffer.low_latency_dispatch, buffer.low_latency_combine
    form = dict(use_fp8=False)
    stats = torch.zeros(case.local + 1, dtype=torch.int32, device=job.device)
    more = torch.zeros((most + 1, case.hidden), dtype=torch.bfloat16, device=job.device)
    yield lambda: low(given.x.float(), given.topk, most, experts, **form)
    yield lambda: low(given.x[None], given.topk, most, experts, **form)
    yield lambda: low(given.x, given.topk.float(), most, experts, **form)
    yield lambda: low(given.x, given.topk[None], most, experts, **form)
    yield lambda: low(more, more[:, :4].long(), most, experts, **form)
    yield lambda: low(given.x, given.topk, most, experts, stats, **form)
    yield lambda: low(given.x, given.topk, most, experts, use_ue8m0=True)
    yield lambda: low(given.x, given.topk, most, experts, None, stats, **form)
    yield lambda: low(given.x, given.topk, most, experts, async_finish=True, return_recv_hook=True)
    yield lambda: low(given.x, given.topk, most, experts, nothing=True, **form)
    yield lambda: back(y, given.topk, given.weights, ())
    yield lambda: back(y.float(), handle.given, given.weights, handle)
    yield lambda: back(y[:, :1], handle.given, given.weights, handle)
    yield lambda: back(y, handle.given, given.weights.double(), handle)
    yield lambda: back(y, handle.given, given.weights[:, :1], handle)
    yield lambda: back(y, handle.given, given.weights, handle, out=more)
    yield lambda: back(y, handle.given, given.weights, handle, use_logfmt=True)
    yield lambda: back(y, handle.given, given.weights, handle, overlap=True)
    if not job.cuda:
        wrong = given.topk.clone()
        wrong[:, 0] = experts
        yield lambda: low(given.x, wrong, most, experts, **form) if len(wrong) else 1 / 0


def test_forms(job: Job) -> None:
    """What is checked once is told apart by types, shapes and devices; of tensors on the CPU values
    are looked at each time."""
    if _quick.module is None:
        raise Skipped("no extension module")
    x, none = torch.zeros((4, 6), dtype=torch.int32), None
    found = _quick.forms(x, none)
    assert found is not None and found == _quick.forms(x + 1, none)
    assert _quick.forms() == b""
    others = (x[:2], x.view(2, 12), x.view(24), x.float(), none)
    assert len({found} | {_quick.forms(one, none) for one in others}) == 1 + len(others)
    assert _quick.forms(none, x) != found
    if torch.cuda.is_available():
        assert _quick.forms(x.cuda(), none) not in (found, none) or not _quick.exchanges
    for odd in (x[:, ::2], [1], 7, x.to_sparse()):
        assert _quick.forms(odd, none) is None
    assert _quick.forms(*[x] * 9) is None


def test_checked_once(job: Job) -> None:
    """A dispatch of forms that were right once is refused as ever where others are not."""
    buffer, case = buffer_of(job), case_of(job, seed=71)  # type: Any, Any
    given = mine(job, case)
    counts = buffer.get_dispatch_layout(given.topk, case.n * case.local)
    routing = dict(
        num_tokens_per_rank=counts[0],
        num_tokens_per_expert=counts[2],
        is_token_in_rank=counts[3],
        topk_idx=given.topk,
        topk_weights=given.weights,
    )
    for _ in range(2):
        buffer.dispatch(given.x, **routing)
        if not given.x.is_cuda:
            assert not buffer._seen.forms
        elif _quick.exchanges:
            assert buffer._seen.forms
        for name, value in (
            ("topk_weights", given.weights.double()),
            ("is_token_in_rank", counts[3].int()),
            ("topk_idx", given.topk[:1]),
        ):
            wrong = dict(routing, **{name: value})
            refused(lambda: buffer.dispatch(given.x, **wrong), name)


def test_refused_alike(job: Job) -> None:
    """By plans the texts are those without."""
    buffer, case = buffer_of(job, "quick"), case_of(job, seed=122)
    given = mine(job, case)
    texts: List[List[str]] = []
    for plans in (False, True):
        rows, _, handle, _, _ = buffer.low_latency_dispatch(
            given.x, given.topk, case.tokens, case.n * case.local, use_fp8=False
        )
        told = []
        for call in wrong_calls(job, buffer, case, handle, torch.zeros_like(rows)):
            if not plans:
                buffer._low.plans.clear()
                handle.plans.combine = None
            try:
                call()
            except Exception as error:  # of several types
                told.append("%s: %s" % (type(error).__name__, error))
            else:
                raise AssertionError("not refused")
        handle.entry.plans.clear()
        buffer._low.plans.clear()
        texts.append(told)
    assert texts[0] == texts[1], [pair for pair in zip(*texts) if pair[0] != pair[1]]


def test_after_destroy_by_plans(job: Job) -> None:
    """A Buffer that was destroyed refuses calls, and hooks that come too late."""
    buffer, case = deep_ep.Buffer(job.group, explicitly_destroy=True), case_of(job, seed=123)
    given, experts = mine(job, case), case.n * case.local
    for _ in range(2):
        got = buffer.low_latency_dispatch(
            given.x, given.topk, case.tokens, experts, use_fp8=False, return_recv_hook=True
        )
        got[4]()
    buffer.destroy()
    for call in (
        lambda: buffer.low_latency_dispatch(
            given.x, given.topk, case.tokens, experts, use_fp8=False
        ),
        lambda: buffer.low_latency_combine(got[0], given.topk, given.weights, got[2]),
    ):
        refused(call, "is a Buffer that was destroyed; make another one")


class Noting:
    """A plan that notes whether it has made a call."""

    def __init__(self, plan: Any, told: List[bool]) -> None:
        self.plan, self.told = plan, told

    def call(self, *args: Any) -> Any:
        """As the plan's."""
        found = self.plan.call(*args)
        self.told.append(found is not None)
        return found

    def close(self) -> None:
        """As the plan's."""
        self.plan.close()


def test_ep_by_plans(job: Job) -> None:
    """warpshmem.ep's calls, with new arrays and with given ones, and what they refuse."""
    case = case_of(job, seed=133, tokens=12, topk=2)
    given, told = mine(job, case), []  # type: Any, List[bool]
    buffer_of(job, "quick")
    x, topk, weights = given.x, given.topk.int(), given.weights
    for mode in (ep.LOW_LATENCY, ep.HIGH_THROUGHPUT):
        fields = dict(hidden=case.hidden, experts=case.n * case.local, topk=2, tokens=12)
        with ep.ExpertParallel(mode=mode, device=int(job.cuda), **fields) as one:
            made = one._plan

            def noting(*args: Any) -> Any:
                plan = made(*args)
                return plan and Noting(plan, told)

            results = []
            for module in (_quick.module, None):
                with mock.patch.object(_quick, "module", module):
                    one._plans.clear()
                    texts = []
                    with mock.patch.object(one, "_plan", noting):
                        for received in (None, one.received(x), None):
                            got = one.dispatch(x, topk, weights, received=received)
                            out = one.combine(got.rows)
                    assert received is None or got is received
                    for call in (
                        lambda: one.dispatch(None, topk),
                        lambda: one.dispatch(x.tolist(), topk),
                        lambda: one.dispatch(x.float(), topk),
                        lambda: one.dispatch(x, topk.double()),
                        lambda: one.dispatch(x[None], topk),
                        lambda: one.combine(None),
                        lambda: one.combine(got.rows.float()),
                        lambda: one.combine(got.rows, out=out[1:]) if len(out) else 1 / 0,
                    ):
                        try:
                            call()
                        except Exception as error:  # of several types
                            texts.append("%s: %s" % (type(error).__name__, error))
                    results.append((one.counts(), out.cpu(), texts))
            assert results[0][0] == results[1][0] and results[0][2] == results[1][2], results
            assert len(results[0][2]) == 8, results[0][2]
            same(results[0][1], results[1][1])
    assert _quick.module is None or (len(told) == 12 and all(told)), told


class Stream:
    """A stream of a GPU that is not there, or an event of it."""

    device_index, order = 0, []  # type: int, List[Tuple[int, int]]

    def __init__(self, number: int = 0) -> None:
        self.cuda_stream = number

    def wait_stream(self, other: "Stream") -> None:
        """Note it."""
        self.order.append((self.cuda_stream, other.cuda_stream))

    wait_event = wait_stream

    def record(self, stream: "Stream") -> None:
        """As an event."""
        self.cuda_stream = stream.cuda_stream

    def __eq__(self, other: Any) -> bool:
        return self.cuda_stream == other.cuda_stream


@contextlib.contextmanager
def fake_streams(entry: Any) -> Iterator[Tuple[List[Stream], List[Tuple[str, int, int]]]]:
    """An entry of a GPU that is not there: which stream is current, and the halves and streams of
    calls, which do nothing."""
    now, calls, one = [Stream(7)], [], entry.instance  # type: List[Stream], List[Any], Any
    kept = one._dispatch, one._combine
    routine = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def noting(struct: Any) -> Any:
        def note(_: int, call: int) -> int:
            seen = struct.from_address(call)
            calls.append((struct.__name__, seen.halves, seen.stream or 0))
            return 0

        made = routine(note)
        made.argtypes = [ctypes.c_void_p, ctypes.POINTER(struct)]
        return made

    with mock.patch.multiple(
        torch.cuda, current_stream=lambda *_: now[0], is_current_stream_capturing=lambda: False
    ), mock.patch.object(_ep_arrays, "raw_stream", lambda _: now[0].cuda_stream):
        try:
            one._dispatch, one._combine = noting(ep.Dispatch), noting(ep.Combine)
            entry.plans.clear()
            entry.device, entry.stream, entry.raw = True, None, 0
            with mock.patch.object(_low_plans, "on_gpu", lambda _: True):
                yield now, calls
        finally:
            one._dispatch, one._combine = kept
            entry.device, entry.stream, entry.raw = False, None, 0
            entry.plans.clear()


def test_streams(job: Job) -> None:
    """Calls on several streams come one after another, and a hook is waited for, with plans as
    without."""
    if job.cuda:
        raise Skipped("for machines without a GPU")
    buffer, case = buffer_of(job, "quick"), case_of(job, seed=132)
    given = mine(job, case)
    entry = pair(buffer, case, given, job, False, use_fp8=False)[0][2].entry
    noted: List[Any] = []
    for module in (_quick.module, None):
        with mock.patch.object(_quick, "module", module), fake_streams(entry) as (now, calls):
            buffer._low.plans.clear()
            Stream.order.clear()
            for hook in (False, True):
                for number in (7, 7, 9, 9, 7):
                    now[0] = Stream(number)
                    got = buffer.low_latency_dispatch(
                        given.x,
                        given.topk,
                        case.tokens,
                        case.n * case.local,
                        use_fp8=False,
                        return_recv_hook=hook,
                    )
                    now[0] = Stream(8)
                    if hook:
                        got[4]()
                    out = buffer.low_latency_combine(
                        got[0], given.topk, given.weights, got[2], return_recv_hook=hook
                    )
                    if hook:
                        out[2]()
            noted.append((list(calls), list(Stream.order)))
    buffer._low.plans.clear()
    assert noted[0] == noted[1], noted
    assert len(noted[0][0]) == 30 and (9, 8) in noted[0][1] and (8, 9) in noted[0][1]


def test_events_by_plans(job: Job) -> None:
    """An asynchronous call runs on the Buffer's own stream after what is before it, and its tensors
    live until the current stream has waited."""
    if job.cuda or _quick.module is None:
        raise Skipped("for machines without a GPU, with the extension module")
    buffer, case = buffer_of(job, "quick"), case_of(job, seed=133)
    given = mine(job, case)
    entry = pair(buffer, case, given, job, False, use_fp8=False)[0][2].entry
    with fake_streams(entry) as (_, calls), mock.patch.object(
        buffer, "comm_stream", Stream(5)
    ), mock.patch.object(
        torch.cuda, "is_available", lambda: True
    ), mock.patch.object(torch.cuda, "Event", Stream):
        buffer._low.plans.clear()
        plain = pair(buffer, case, given, job, False, use_fp8=False)
        Stream.order.clear()
        calls.clear()
        told = by_plans(buffer)
        made = pair(buffer, case, given, job, "event", use_fp8=False)
        pair(buffer, case, given, job, False, use_fp8=False)
    buffer._low.plans.clear()
    assert all(told) and len(told) == 4 and len(plain) == len(made), told
    assert [one[1:] for one in calls] == [(ep.BOTH, 5)] * 2 + [(ep.BOTH, 7)] * 2, calls
    assert Stream.order == [(5, 7), (7, 5), (5, 7), (7, 5), (7, 5)], Stream.order


class Event(Stream):
    """An event that the driver knows by a number."""

    made: List[Callable[[], Any]] = []  # references that do not keep them
    by_torch = 0

    def __init__(self) -> None:
        super().__init__()
        self.made.append(weakref.ref(self))
        self.cuda_event = len(self.made)

    def record(self, stream: Stream) -> None:
        """By torch."""
        super().record(stream)
        Event.by_torch += 1


def mark(event: int, stream: int, right: bool = True) -> bool:
    """As the driver records an event."""
    Event.made[event - 1]().cuda_stream = stream
    return right


def wait(event: int, stream: int) -> bool:
    """As the driver lets a stream wait."""
    Stream.order.append((stream, Event.made[event - 1]().cuda_stream))
    return True


def test_events_that_are_used_again(job: Job) -> None:
    """Asynchronous calls take the events of earlier ones, by the driver; one that the program has
    kept is left alone, and what the driver refuses goes by torch."""
    buffer, case = buffer_of(job, "quick"), case_of(job, seed=134)
    if job.cuda or _quick.module is None:
        raise Skipped("for machines without a GPU, with the extension module")
    given = mine(job, case)
    entry = pair(buffer, case, given, job, False, use_fp8=False)[0][2].entry
    Event.made.clear()
    Event.by_torch, refuses = 0, []  # type: int, List[bool]
    driver = dict(
        stream_follow=lambda event, one, two: not refuses and mark(event, one) and wait(event, two),
        event_mark=lambda event, stream: not refuses and mark(event, stream),
        event_wait=lambda event, stream: not refuses and wait(event, stream),
    )
    with fake_streams(entry) as (_, calls), mock.patch.object(
        buffer, "comm_stream", Stream(5)
    ), mock.patch.multiple(
        torch.cuda, is_available=lambda: True, Event=Event, current_device=lambda: 0
    ), mock.patch.multiple(_quick, **driver):
        buffer._low.plans.clear()
        pair(buffer, case, given, job, False, use_fp8=False)
        for _ in range(2):
            pair(buffer, case, given, job, "event", use_fp8=False)
            Stream.order.clear()
        made, by_torch = len(Event.made), Event.by_torch
        for _ in range(3):
            pair(buffer, case, given, job, "event", use_fp8=False)
        assert Stream.order == [(5, 7), (7, 5)] * 6, Stream.order
        assert (len(Event.made), Event.by_torch) == (made, by_torch) and made <= 3
        got = buffer.low_latency_dispatch(
            given.x, given.topk, case.tokens, case.n * case.local, use_fp8=False, async_finish=True
        )
        got[3].current_stream_wait()
        kept = got[3].event.event
        del got
        pair(buffer, case, given, job, "event", use_fp8=False)
        assert all(one is not kept for one, _ in entry.plans[False].spare)
        Stream.order.clear()
        refuses.append(True)
        pair(buffer, case, given, job, "event", use_fp8=False)
        assert Stream.order == [(5, 7), (7, 5)] * 2 and Event.by_torch >= by_torch + 4
    buffer._low.plans.clear()


def test_tensors_that_nobody_waited_for(job: Job) -> None:
    """Their memory is kept for the other stream; after a wait of another one, too."""
    for current, kept in ((None, 1), (9, 1), (7, 0)):
        tensor = mock.Mock()
        held = event.Held([tensor], Stream(5), 7)
        if current:
            with mock.patch.object(_ep_arrays, "raw_stream", lambda _: current):
                held.waited()
        del held
        assert tensor.record_stream.call_count == kept, (current, kept)


def test_graphs_of_five_calls(job: Job) -> None:
    """Results of five calls in a graph, and of another graph between its replays, keep apart."""
    if not job.cuda:
        raise Skipped("no GPU")
    for how in (False, "event"):
        check_graphs(job, buffer_of(job, "quick"), how)


def check_graphs(job: Job, buffer: deep_ep.Buffer, how: Any) -> None:
    """Two graphs of five calls of one kind."""
    cases = [case_of(job, seed=124 + i, hidden=1024) for i in range(5)]
    given, held = [mine(job, case) for case in cases], {}

    def run(name: str) -> None:
        held[name] = [
            pair(buffer, case, one, job, how, use_fp8=False) for case, one in zip(cases, given)
        ]

    run("outside")
    torch.cuda.synchronize()
    before, graphs = whole(tuple(held["outside"])), []
    for name in ("first", "second"):
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            run(name)
    for _ in range(3):
        for graph in graphs:
            graph.replay()
    torch.cuda.synchronize()
    for name in ("outside", "first", "second"):
        counts = [one[0][1] for one in held[name]]
        for case, one, count in zip(cases, held[name], counts):
            check_packed(job, case, one[0][0], count, one[0][2])
            same(one[1], held["outside"][cases.index(case)][1].cpu())
    for now, then in zip(whole(tuple(held["outside"])), before):
        assert torch.equal(now, then)


def test_memory_in_the_order_of_streams(job: Job) -> None:
    """A result that another stream still reads is no memory of the next call."""
    if not job.cuda:
        raise Skipped("no GPU")
    buffer, case = buffer_of(job, "quick"), case_of(job, seed=130, hidden=1024)
    given, side = mine(job, case), torch.cuda.Stream()
    pair(buffer, case, given, job, False, use_fp8=False)
    for _ in range(5):
        (rows, counts, _), _ = pair(buffer, case, given, job, False, use_fp8=False)
        torch.cuda.synchronize()
        wanted, copy = rows.clone(), torch.empty_like(rows)
        with torch.cuda.stream(side):
            torch.cuda._sleep(20_000_000)
            copy.copy_(rows)
        rows.record_stream(side)
        del rows, counts
        other = case_of(job, seed=131, hidden=1024)
        pair(buffer, other, mine(job, other), job, False, use_fp8=False)
        torch.cuda.synchronize()
        assert torch.equal(copy.view(torch.uint8), wanted.view(torch.uint8))
