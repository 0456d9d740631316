# SPDX-License-Identifier: BSD-3-Clause
"""deep_ep's normal mode against a reference in torch: layout, events, handles, FP8."""

from __future__ import annotations

import os
import sys
from typing import Any, List, Tuple
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from deep_ep_common import (  # noqa: E402
    buffer_of,
    case_of,
    mine,
    same,
    same_sum,
    near,
    dispatch,
    check_received,
    scaled,
    check_normal,
    codes_of,
)
from deep_ep_job import Job, Skipped  # noqa: E402
import deep_ep_reference as reference  # noqa: E402

import deep_ep  # noqa: E402
from warpshmem import _ep_arrays  # noqa: E402
from deep_ep.utils import EventHandle, EventOverlap  # noqa: E402
from deep_ep.utils.event import Launch, Order, current_stream  # noqa: E402


def test_layout(job: Job) -> None:
    case = case_of(job)
    given, experts = mine(job, case), case.n * case.local
    per_rank, per_host, per_expert, inside, event = buffer_of(job).get_dispatch_layout(
        given.topk, experts
    )
    own = reference.tokens_of(case, job.rank)
    ranks = torch.stack(
        [
            ((own.topk >= 0) & (own.topk.div(case.local, rounding_mode="floor") == rank)).any(1)
            for rank in range(case.n)
        ],
        1,
    )
    same(inside, ranks)
    same(per_rank, ranks.sum(0, dtype=torch.int32))
    same(
        per_expert,
        torch.tensor([int((own.topk == e).sum()) for e in range(experts)], dtype=torch.int32),
    )
    assert per_host is None and event.event is None


def test_normal(job: Job) -> None:
    for seed in range(4):
        check_normal(job, case_of(job, seed=seed, tokens=20 + 9 * seed), expert_alignment=1 + seed)


def test_normal_between_hosts_by_name(job: Job) -> None:
    """internode_dispatch, whose arguments by position have no num_worst_tokens, and
    internode_combine."""
    buffer, case = buffer_of(job), case_of(job, seed=12)
    given = mine(job, case)
    layout = buffer.get_dispatch_layout(given.topk, case.n * case.local)
    per_rank, per_host, per_expert, inside, _ = layout
    numbers = per_rank, per_host, inside, per_expert, given.topk, given.weights
    config = deep_ep.Buffer.get_dispatch_config(job.n)
    got = buffer.internode_dispatch(given.x, None, *numbers, 4, config, None, False, False)
    check_received(job, case, got, 4)
    out = buffer.internode_combine(got[0] * scaled(job.rank), got[4])[0]
    same_sum(job, out, reference.normal_sum(case, job.rank, scaled))


def test_normal_grows(job: Job) -> None:
    """More tokens, and more rows, than the instance has room for."""
    check_normal(job, case_of(job, tokens=700, hidden=128, seed=5))
    check_normal(job, case_of(job, tokens=30, hidden=128, seed=6))


def test_normal_empty(job: Job) -> None:
    check_normal(job, case_of(job, seed=7, empty=job.n - 1))
    check_normal(job, case_of(job, seed=7, empty=0))


def test_normal_no_expert_anywhere(job: Job) -> None:
    case = case_of(job, seed=8)
    given = mine(job, case)
    nobody = given._replace(topk=torch.full_like(given.topk, -1))
    got = dispatch(buffer_of(job), nobody, case.n * case.local)
    assert got[0].shape == (0, case.hidden) and sum(got[3]) == 0
    out, weights, _ = buffer_of(job).combine(got[0], got[4], topk_weights=got[2])
    same(out, torch.zeros(given.x.shape, dtype=torch.bfloat16))
    same(weights, torch.zeros(given.weights.shape))


def test_normal_events(job: Job) -> None:
    """Asynchronous calls, one after the other's event, on the communication stream's memory too."""
    buffer, case = buffer_of(job), case_of(job, seed=9)
    given = mine(job, case)
    before = EventOverlap(EventHandle())
    per_rank, per_host, per_expert, inside, event = buffer.get_dispatch_layout(
        given.topk, case.n * case.local, before, True, True
    )
    got = buffer.dispatch(
        given.x,
        None,
        per_rank,
        per_host,
        inside,
        per_expert,
        given.topk,
        given.weights,
        config=deep_ep.Buffer.get_dispatch_config(job.n),
        previous_event=event,
        async_finish=True,
        allocate_on_comm_stream=True,
    )
    assert got[5].event is not None
    with got[5]:
        pass
    check_received(job, case, got)
    out, _, event = buffer.combine(
        got[0] * scaled(job.rank), got[4], previous_event=buffer.capture(), async_finish=True
    )
    event.current_stream_wait()
    same_sum(job, out, reference.normal_sum(case, job.rank, scaled))


def test_normal_cached(job: Job) -> None:
    """Other rows by the routing of a handle, while later dispatches come between."""
    buffer, case, other = buffer_of(job), case_of(job, seed=10), case_of(job, seed=11)
    got, second = (dispatch(buffer, mine(job, one), one.n * one.local) for one in (case, other))
    given = mine(job, case)
    twice, none, no_weights, no_list, no_handle, _ = buffer.dispatch(given.x * 2, handle=got[4])
    assert none is None and no_weights is None and no_list is None and no_handle is None
    same(twice, reference.normal_rows(case, job.rank).x * 2)
    out, weights, _ = buffer.combine(twice, got[4])
    assert weights is None
    same_sum(job, out, reference.normal_sum(case, job.rank, lambda rank: 2.0))
    out, _, _ = buffer.combine(
        second[0], second[4], bias=(torch.ones_like(mine(job, other).x), None)
    )
    same_sum(job, out, reference.normal_sum(other, job.rank, lambda rank: 1.0) + 1)


def test_normal_many_handles(job: Job) -> None:
    """More routings at a time than an instance keeps; numbers of dropped handles are taken
    again."""
    buffer, case = buffer_of(job, "second"), case_of(job, hidden=128, tokens=6)
    handles = [dispatch(buffer, mine(job, case), case.n * case.local) for _ in range(70)]
    for got in (handles[0], handles[69]):
        out, _, _ = buffer.combine(got[0], got[4])
        same_sum(job, out, reference.normal_sum(case, job.rank, lambda rank: 1.0))
    del handles, got
    for _ in range(70):
        dispatch(buffer, mine(job, case), case.n * case.local)
    assert [len(kept) for kept in buffer._normal.pool.entries.values()] == [2]


class Operators(TorchDispatchMode):
    """Counts what torch is asked for; memory, views and checks of choices on the CPU apart."""

    apart = "empty slice view detach alias min max _local_scalar_dense record_stream".split()

    def __init__(self) -> None:
        super().__init__()
        self.names: List[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if str(func).split(".")[1] not in self.apart and "empty" not in str(func):
            self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def not_asked(numbers: Any) -> Any:
    raise AssertionError("hosts agree")


def test_normal_hosts_do_not_agree(job: Job) -> None:
    """The kernels say what comes, within a host and between hosts, and torch converts choices
    alone: with as many tokens on all ranks, with one that has none while much or little comes, with
    other columns."""
    buffer = buffer_of(job, "second")
    cases = [
        case_of(job, seed=70 + i, hidden=128, tokens=tokens, empty=empty, topk=topk)
        for i, (tokens, empty, topk) in enumerate(
            [(200, -1, 4), (200, -1, 4), (5, -1, 4), (200, 0, 4), (7, job.n - 1, 4), (90, -1, 2)]
        )
    ]
    check_rows(job, buffer, cases[0], [])  # an instance is made
    gather = buffer.agreement.gather
    buffer.agreement.gather = not_asked
    try:
        for case in cases:
            with Operators() as seen:
                check_rows(job, buffer, case, seen.names)
            if case.topk == 4:
                assert len(seen.names) < 6, seen.names  # 2, and rows that are made fewer
    finally:
        buffer.agreement.gather = gather


def test_normal_growth_is_collective(job: Job) -> None:
    """Processes gather numbers in the calls alone that need a larger instance: for the rows of some
    rank, and for the tokens of the first one."""
    buffer = buffer_of(job, "third")
    gather, asked = buffer.agreement.gather, []  # type: Any, List[int]

    def counted(numbers: Any) -> Any:
        asked.append(1)
        return gather(numbers)

    buffer.agreement.gather = counted
    try:
        for tokens, more in [(20, True), (20, False), (200, job.n > 1), (200, False), (257, True)]:
            del asked[:]
            check_rows(job, buffer, case_of(job, seed=90, hidden=128, tokens=tokens), [])
            assert bool(asked) == more, (tokens, len(asked))
    finally:
        buffer.agreement.gather = gather


def check_rows(job: Job, buffer: deep_ep.Buffer, case: Any, names: List[str]) -> None:
    """A dispatch and its combine. names: what torch was asked for, of the dispatch alone after it."""
    given = mine(job, case)
    numbers = buffer.get_dispatch_layout(given.topk, case.n * case.local)
    del names[:]
    got = buffer.dispatch(
        given.x,
        num_tokens_per_rank=numbers[0],
        is_token_in_rank=numbers[3],
        num_tokens_per_expert=numbers[2],
        topk_idx=given.topk,
        topk_weights=given.weights,
    )
    asked = list(names)
    wanted = reference.normal_rows(case, job.rank)
    same(got[0], wanted.x)
    same(got[1][:, : case.topk], wanted.topk)
    same(got[2][:, : case.topk], wanted.weights)
    assert got[3] == wanted.counts and bool((got[1][:, case.topk :] == -1).all())
    assert int(got[4][0][-1, job.rank]) == wanted.x.shape[0]
    storage = getattr(got[0], "untyped_storage", got[0].storage)()
    assert storage.nbytes() <= 4 * max(got[0].numel(), 128)
    out, _, _ = buffer.combine(got[0] * scaled(job.rank), got[4])
    same_sum(job, out, reference.normal_sum(case, job.rank, scaled))
    names[:] = asked


def test_normal_worst(job: Job) -> None:
    """No wait of the host: so many rows as were asked for, those that did not come without
    experts."""
    buffer, case = buffer_of(job), case_of(job, seed=12)
    worst = case.tokens * job.n
    got = dispatch(buffer, mine(job, case), case.n * case.local, num_worst_tokens=worst)
    wanted = reference.normal_rows(case, job.rank)
    rows = wanted.x.shape[0]
    assert got[0].shape == (worst, case.hidden) and got[3] == []
    same(got[0][:rows], wanted.x)
    same(got[1][:rows], wanted.topk)
    same(got[2][:rows], wanted.weights)
    assert bool((got[1][rows:] == -1).all())
    out, _, _ = buffer.combine(got[0] * scaled(job.rank), got[4])
    same_sum(job, out, reference.normal_sum(case, job.rank, scaled))


def test_normal_without_topk(job: Job) -> None:
    """Rows go by is_token_in_rank alone."""
    buffer, case = buffer_of(job), case_of(job, seed=13)
    per_rank, per_host, per_expert, inside, _ = buffer.get_dispatch_layout(
        mine(job, case).topk, case.n * case.local
    )
    x, topk, weights, counts, handle, _ = buffer.dispatch(
        mine(job, case).x,
        num_tokens_per_rank=per_rank,
        is_token_in_rank=inside,
        num_tokens_per_expert=per_expert,
    )
    wanted = reference.normal_rows(case, job.rank)
    same(x, wanted.x)
    assert topk is None and weights is None and counts == wanted.counts
    bounds = [0] + handle[0][:, job.rank].tolist()
    for source, tokens in enumerate(reference.all_tokens(case)):
        here = (tokens.topk >= 0) & (tokens.topk.div(case.local, rounding_mode="floor") == job.rank)
        same(x[bounds[source] : bounds[source + 1]], tokens.x[here.any(1)])


def test_normal_fp8(job: Job) -> None:
    """e4m3 rows and their scales arrive as they are; BF16 rows go by the same handle."""
    buffer, case = buffer_of(job), case_of(job, seed=14)
    given = mine(job, case)
    got = dispatch(buffer, given, case.n * case.local, codes_of(job, given.x))
    wanted = [reference.quantize(source.x) for source in reference.all_tokens(case)]
    here = [
        ((source.topk >= 0) & (source.topk.div(case.local, rounding_mode="floor") == job.rank)).any(
            1
        )
        for source in reference.all_tokens(case)
    ]
    same(got[0][0].view(torch.uint8), torch.cat([x[h] for (x, _), h in zip(wanted, here)]))
    near(got[0][1], torch.cat([scales[h] for (_, scales), h in zip(wanted, here)]), 1e-6)
    same(buffer.dispatch(given.x, handle=got[4])[0], reference.normal_rows(case, job.rank).x)
    out, _, _ = buffer.combine(reference.normal_rows(case, job.rank).x.to(job.device), got[4])
    same_sum(job, out, reference.normal_sum(case, job.rank, lambda rank: 1.0))


def test_weights_are_added_over_ranks(job: Job) -> None:
    """Whatever a rank gives in a column, beside experts of others too: so the weights, where each
    rank repeats the token's own, are those times its ranks, as DeepEP's."""
    buffer, case = buffer_of(job), case_of(job, seed=64)
    given, experts = mine(job, case), case.n * case.local
    got = dispatch(buffer, given, experts)
    inside = buffer.get_dispatch_layout(given.topk, experts)[3].float()
    ranks = torch.arange(1, job.n + 1, dtype=torch.float32, device=job.device)
    columns = torch.arange(1, case.topk + 1, dtype=torch.float32, device=job.device)
    each = (columns * ranks[job.rank]).expand(len(got[0]), -1).contiguous()
    _, weights, _ = buffer.combine(got[0], got[4], topk_weights=each)
    same(weights, ((inside * ranks).sum(1, keepdim=True) * columns).cpu())
    other = got[2].amax(1, keepdim=True) if len(got[0]) else got[2][:, :1]
    filled = torch.where(got[1] < 0, other.expand(got[2].shape), got[2])
    same_everywhere = torch.full_like(filled, 0.25)
    _, weights, _ = buffer.combine(got[0], got[4], topk_weights=same_everywhere)
    quarters = (0.25 * inside.sum(1, keepdim=True)).expand(given.weights.shape)
    same(weights, quarters.cpu().contiguous())
    _, weights, _ = buffer.combine(got[0], got[4], topk_weights=filled)
    used = torch.where(given.topk >= 0, given.weights, torch.zeros_like(given.weights))
    assert bool((weights >= used).all())


class Event:
    """An event of a GPU that is not there."""

    number = 0

    def record(self, stream: "Stream") -> None:
        """Remember whose it is."""
        self.number = stream.number


class Stream:
    """A stream of a GPU that is not there, or its event."""

    waits: List[Tuple[int, int]] = []
    current: List["Stream"] = []
    device_index = 0

    def __init__(self, number: int) -> None:
        self.number = self.cuda_stream = number

    def wait_stream(self, other: "Stream") -> None:
        """Note it."""
        self.waits.append((self.number, other.number))

    wait_event = wait_stream

    def __eq__(self, other: Any) -> bool:
        return bool(self.number == other.number)

    def __enter__(self) -> None:
        self.current.insert(0, self)

    def __exit__(self, *_: Any) -> None:
        self.current.pop(0)


class Used:
    """A tensor, of which torch is told that a stream uses it."""

    def __init__(self) -> None:
        self.by: List[int] = []

    def record_stream(self, stream: Stream) -> None:
        """Note it."""
        self.by.append(stream.number)


def test_streams_of_calls(job: Job) -> None:
    """A call that is not asynchronous and waits for no event is on the caller's stream; each call
    comes after the one before it, on whatever stream that was. Torch is told of what a stream uses
    only where the caller's does not wait for it, and in graphs."""
    if torch.cuda.is_available():
        raise Skipped("for machines without a GPU")
    order, comm, captured, seen = Order(), Stream(5), [False], []  # type: Any, Any, Any, List[int]

    def call(
        number: int, is_async: bool = False, event: Any = None, waits_on: int = 0
    ) -> List[int]:
        Stream.current[:], used = [Stream(number)], Used()
        Stream.waits.clear()
        launch = Launch(comm, event, is_async, order=order)
        with launch:
            seen.append(Stream.current[0].number)
            assert launch.stream == Stream.current[0]
        event = launch.finish((used,), ())
        assert (event.event is not None) == is_async
        if waits_on:
            Stream.current[:] = [Stream(waits_on)]
            event.current_stream_wait()
        return used.by

    past = EventOverlap(EventHandle())
    past.event.event = Stream(9)  # type: ignore[union-attr]
    with mock.patch.multiple(
        torch.cuda,
        Event=Event,
        current_device=lambda: 0,
        current_stream=lambda: Stream.current[0],
        is_current_stream_capturing=lambda: captured[0],
        stream=lambda one: one,
    ), mock.patch.object(
        sys.modules[Launch.__module__], "tensors_of", lambda *values: list(values)
    ), mock.patch.object(
        _ep_arrays, "raw_stream", lambda gpu: Stream.current[0].number
    ):
        assert call(7) == [] and Stream.waits == []
        found = current_stream()
        Stream.current[:] = [Stream(7)]  # the same to CUDA
        assert current_stream() is found
        Stream.current[:] = [Stream(6)]
        assert current_stream() is Stream.current[0]
        assert call(7, event=EventOverlap()) == [] and Stream.waits == []
        assert call(8) == [] and Stream.waits == [(8, 7)]
        assert call(8, is_async=True) == [5] and set(Stream.waits) == {(5, 8)}
        assert call(8) == [] and Stream.waits == [(8, 5)]
        assert call(8, is_async=True, waits_on=8) == [] and Stream.waits[-1] == (8, 5)
        assert call(8, is_async=True, waits_on=7) == [5] and Stream.waits[-1] == (7, 5)
        assert call(8, event=past) == [] and Stream.waits == [(5, 9), (8, 5)]
        captured[0] = True
        assert call(6) == [6, 5] and Stream.waits == [(5, 6), (6, 5)]
    assert seen == [7, 7, 8, 5, 8, 5, 5, 5, 5], seen


def test_streams_of_the_second_interface(job: Job) -> None:
    """Calls of EPBuffer and ElasticBuffer are on the caller's stream where those of Buffer are, and
    come after the call before them, on whatever stream that was."""
    if torch.cuda.is_available():
        raise Skipped("for machines without a GPU")
    case, comm, used = case_of(job, seed=66), Stream(5), []  # type: Any, Any, List[int]
    given, wanted = mine(job, case), reference.normal_rows(case, job.rank).x
    ask = dict(topk_idx=given.topk, topk_weights=given.weights, num_experts=case.n * case.local)
    for kind in (deep_ep.EPBuffer, deep_ep.ElasticBuffer):
        buffer = kind(job.group, num_max_tokens_per_rank=case.tokens, explicitly_destroy=True)
        _, _, _, handle, _ = buffer.dispatch(given.x, **ask)
        *_, wide, _ = buffer.dispatch(given.x, do_expand=True, **ask)
        calls = (
            lambda **more: buffer.dispatch(given.x, handle=handle, **more)[0],
            lambda **more: buffer.dispatch(given.x, handle=wide, do_expand=True, **more)[0],
            lambda **more: buffer.dispatch(given.x, **ask, **more)[0],
            lambda **more: buffer.combine(wanted, handle, **more)[0],
        )
        buffer._inner._stream = lambda x: comm
        event = sys.modules[Launch.__module__]
        told = mock.patch.object(torch.Tensor, "record_stream", lambda self, one: used.append(one), create=True)
        with told, mock.patch.multiple(
            torch.cuda,
            Event=Event,
            current_device=lambda: 0,
            current_stream=lambda: Stream.current[0],
            is_current_stream_capturing=lambda: False,
            stream=lambda one: one,
        ), mock.patch.object(event, "EventHandle", lambda: None), mock.patch.object(
            _ep_arrays, "raw_stream", lambda gpu: Stream.current[0].number
        ):
            for turn, call in enumerate(calls):
                Stream.current[:] = [Stream(7)]
                call()
                Stream.waits.clear()
                used.clear()
                call()
                assert Stream.waits == [] and used == [], (turn, Stream.waits, used)
                Stream.current[:] = [Stream(8)]
                call()
                assert Stream.waits == [(8, 7)] and used == [], (turn, Stream.waits, used)
                call(async_with_compute_stream=True)
                assert set(Stream.waits[1:]) == {(5, 8)} and used, (turn, Stream.waits)
                Stream.waits.clear()
                call()
                assert Stream.waits == [(8, 5)], (turn, Stream.waits)
        del buffer._inner._stream
        same(buffer.dispatch(given.x, handle=handle)[0], wanted)
        buffer.destroy()


def test_memory_of_calls_on_several_streams(job: Job) -> None:
    """What calls on the caller's stream and on the Buffer's return is not overwritten."""
    if not job.cuda:
        raise Skipped("no GPU")
    buffer, case = buffer_of(job), case_of(job, seed=65)
    given, experts, side = mine(job, case), case.n * case.local, torch.cuda.Stream()
    wanted = reference.normal_rows(case, job.rank).x
    kept: List[Any] = []
    for turn in range(12):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side if turn % 3 == 1 else torch.cuda.current_stream()):
            counts = buffer.get_dispatch_layout(given.topk, experts)
            got = buffer.dispatch(
                given.x,
                num_tokens_per_rank=counts[0],
                is_token_in_rank=counts[3],
                num_tokens_per_expert=counts[2],
                topk_idx=given.topk,
                topk_weights=given.weights,
                async_finish=turn % 3 == 2,
            )
            if turn % 3 == 2:
                got[5].current_stream_wait()
            kept.append(got[0])
            back = buffer.combine(got[0], got[4])[0]
        torch.cuda.current_stream().wait_stream(side)
        same_sum(job, back, reference.normal_sum(case, job.rank, lambda rank: 1.0))
    for rows in kept:
        same(rows, wanted)
