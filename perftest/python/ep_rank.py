# SPDX-License-Identifier: BSD-3-Clause
"""One process of perftest/python/ep: its tensors, the calls of deep_ep's Buffer as frameworks make
them, and their figures. Nothing here is of one implementation alone."""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch
import torch.distributed as dist
from ep_clock import GpuClock, HostClock, nodes
from ep_rows import DECODE, SECOND, Row, as_dict

GRAPH_CALLS = 2  # an even number: buffers come in turn
AHEAD = 16 << 30  # bytes of results that a GPU holds at most
BLOCK = 128  # columns of a scale
Call = Callable[[], Any]


def finish(event: Any, hook: Optional[Call], form: str) -> None:
    """Let the current stream wait for what a call left behind."""
    if form == "event":
        event.current_stream_wait()
    if form == "hook":
        assert hook is not None
        hook()


class Decode:
    """The low-latency calls of one shape."""

    def __init__(self, rank: "Rank", row: Row) -> None:
        self.rank, self.row = rank, row
        self.most = rank.given.most or row.tokens
        self.x, self.topk, self.weights = rank.inputs(row)
        self.handle: Any = None
        # Where a shape has flags in memory, another one may have written rows.
        rank.clock.sync()
        rank.meet()
        rank.buffer.clean_low_latency_buffer(self.most, rank.given.hidden, row.experts)
        self.rows = self.dispatch("call")
        self.y = values(self.rows, rank.given.hidden)
        self.wrong = self.check()

    def dispatch(self, form: str, x: Any = None) -> Any:
        got, _, self.handle, event, hook = self.rank.buffer.low_latency_dispatch(
            self.x if x is None else x,
            self.topk,
            self.most,
            self.row.experts,
            use_fp8=self.row.dtype == "fp8",
            async_finish=form == "event",
            return_recv_hook=form == "hook",
        )
        finish(event, hook, form)
        return got

    def combine(self, form: str) -> Any:
        out, event, hook = self.rank.buffer.low_latency_combine(
            self.y,
            self.topk,
            self.weights,
            self.handle,
            async_finish=form == "event",
            return_recv_hook=form == "hook",
        )
        finish(event, hook, form)
        return out

    def call(self, what: str, form: str) -> Call:
        """Return the calls of a row. The last result is kept, so that its memory is used again."""
        form = "call" if form == "graph" else form
        self.out = self.x

        def chained() -> None:
            self.rows = self.dispatch(form, self.out)
            self.out = self.combine(form)

        if what == "chain":
            return chained

        def once() -> None:
            if what != "combine":
                self.rows = self.dispatch(form)
            if what != "dispatch":
                self.out = self.combine(form)

        return once

    def check(self) -> bool:
        """Return whether experts that change nothing do not give each token times its weights."""
        out = self.combine("call").float()
        return differ(out, self.x.float() * self.weights.sum(1, keepdim=True))


class Prefill:
    """The calls of normal mode of one shape."""

    def __init__(self, rank: "Rank", row: Row) -> None:
        self.rank, self.row = rank, row
        self.x, self.topk, self.weights = rank.inputs(row)
        self.given = cast(self.x) if row.dtype == "fp8" else self.x
        self.layout = self.ask()
        self.first("call")
        got = self.rows
        self.y = values(got, rank.given.hidden)
        self.wrong = self.check()

    def ask(self) -> Any:
        return self.rank.buffer.get_dispatch_layout(self.topk, self.row.experts)

    def first(self, form: str) -> None:
        ranks, _, experts, inside, _ = self.layout
        self.rows, _, _, _, self.handle, event = self.rank.buffer.dispatch(
            self.given,
            num_tokens_per_rank=ranks,
            is_token_in_rank=inside,
            num_tokens_per_expert=experts,
            topk_idx=self.topk,
            topk_weights=self.weights,
            async_finish=form == "event",
        )
        finish(event, None, form)

    def dispatch(self, form: str) -> None:
        self.rows, _, _, _, _, event = self.rank.buffer.dispatch(
            self.given, handle=self.handle, async_finish=form == "event"
        )
        finish(event, None, form)

    def combine(self, form: str) -> None:
        self.out, _, event = self.rank.buffer.combine(
            self.y, self.handle, async_finish=form == "event"
        )
        finish(event, None, form)

    def call(self, what: str, form: str) -> Call:
        form = "call" if form == "graph" else form
        if what == "layout":
            return self.ask
        return lambda: getattr(self, what)(form)

    def check(self) -> bool:
        """Return whether rows that come back unchanged do not add up to the token, once a rank."""
        self.combine("call")
        return differ(self.out.float(), self.x.float() * self.layout[3].sum(1, keepdim=True))


class Second(Prefill):
    """The same by a Buffer of the second interface, which the package may not have."""

    def __init__(self, rank: "Rank", row: Row) -> None:
        self.buffer = rank.second(row)
        super().__init__(rank, row)
        self.expand("call")
        self.wrong |= self.check_expanded()

    def ask(self) -> Any:
        """What get_dispatch_layout says of tokens and ranks."""
        return self.rank.buffer.get_dispatch_layout(self.topk, self.row.experts)

    def new(self, expand: bool) -> Any:
        return self.buffer.dispatch(
            self.given,
            topk_idx=self.topk,
            topk_weights=self.weights,
            num_experts=self.row.experts,
            do_expand=expand,
        )

    def first(self, form: str) -> None:
        self.rows, _, _, self.handle, _ = self.new(False)

    def expand(self, form: str) -> None:
        self.wide = self.new(True)

    def expanded(self, form: str) -> None:
        self.rows = self.buffer.dispatch(self.given, handle=self.wide[3], do_expand=True)[0]

    def folded(self, form: str) -> None:
        self.out = self.buffer.combine(self.results, self.wide[3])[0]

    def dispatch(self, form: str) -> None:
        self.rows = self.buffer.dispatch(self.given, handle=self.handle)[0]

    def combine(self, form: str) -> None:
        self.out = self.buffer.combine(self.y, self.handle)[0]

    def check_expanded(self) -> bool:
        """Return whether expanded rows times their weights do not add up to tokens times theirs."""
        rows, _, weights, handle, _ = self.wide
        y = values(rows, self.rank.given.hidden).float() * weights.unsqueeze(1)
        self.results = y.to(torch.bfloat16)
        self.folded("call")
        out = self.out.float()
        self.expanded("call")
        if differ(values(self.rows, self.rank.given.hidden).float(), values(rows, self.rank.given.hidden).float()):
            return True
        return differ(out, self.x.float() * self.weights.sum(1, keepdim=True))


def each(figure: Any) -> Any:
    """Return what one call of a graph takes."""
    if isinstance(figure, list):
        return [one / GRAPH_CALLS for one in figure]
    return figure and figure / GRAPH_CALLS


def values(rows: Any, hidden: int) -> Any:
    """Return received rows as BF16, with their scales applied."""
    if not isinstance(rows, tuple):
        return rows.clone()
    codes, scales = rows
    blocks = codes.view(codes.shape[:-1] + (hidden // BLOCK, BLOCK)).to(torch.bfloat16)
    return blocks.mul_(scales.to(torch.bfloat16).unsqueeze(-1)).view(codes.shape)


def cast(x: Any) -> Tuple[Any, Any]:
    """Return rows as e4m3 with a scale for each 128 columns."""
    blocks = x.float().view(x.shape[0], -1, BLOCK)
    scales = blocks.abs().amax(2).clamp_(min=1e-4) / 448
    codes = (blocks / scales.unsqueeze(2)).to(torch.float8_e4m3fn)
    return codes.view(x.shape).contiguous(), scales.contiguous()


def differ(a: Any, b: Any) -> bool:
    """Return whether two are apart by more than FP8 rounds."""
    return bool(a.numel()) and not (a - b).norm() <= 0.05 * b.norm()


class Rank:
    """The Buffer and clock of a process."""

    def __init__(self, given: argparse.Namespace, rows: Sequence[Row]) -> None:
        self.given, self.group = given, dist.group.WORLD
        self.me, self.pes = dist.get_rank(), dist.get_world_size()
        self.gpu = torch.cuda.is_available()
        self.device = torch.device("cuda" if self.gpu else "cpu")
        self.clock = (GpuClock if self.gpu else HostClock)(self.meet)
        self.module = importlib.import_module(given.module)
        self.buffer, self.seconds = self.make_buffer(rows), {}  # type: Any, Dict[int, Any]
        self.shapes: Dict[Tuple[Any, ...], Any] = {}

    def meet(self) -> None:
        dist.barrier(self.group)

    def make_buffer(self, rows: Sequence[Row]) -> Any:
        """One Buffer for all rows, as large as the package says."""
        kind, given, n = self.module.Buffer, self.given, self.pes
        tokens = [row.tokens for row in rows if row.mode == DECODE]
        nvl = rdma = 0
        if given.sms:
            kind.set_num_sms(given.sms)
        if len(tokens) < len(rows):
            configs = kind.get_dispatch_config(n), kind.get_combine_config(n)
            nvl = max(one.get_nvl_buffer_size_hint(given.hidden * 2, n) for one in configs)
        if tokens:
            most = given.most or max(tokens)
            rdma = kind.get_low_latency_rdma_size_hint(most, given.hidden, n, given.experts)
        return kind(
            self.group,
            nvl,
            rdma,
            low_latency_mode=bool(tokens),
            num_qps_per_rank=given.experts // n,
            explicitly_destroy=True,
            **({"enable_shrink": True} if given.masks else {}),
        )

    def second(self, row: Row) -> Any:
        """Return the Buffer of the second interface for a number of tokens."""
        kind = getattr(self.module, "EPBuffer", None) or self.module.ElasticBuffer
        if row.tokens not in self.seconds:
            self.seconds[row.tokens] = kind(
                self.group,
                num_max_tokens_per_rank=row.tokens,
                hidden=self.given.hidden,
                num_topk=self.given.topk,
                explicitly_destroy=True,
            )
        return self.seconds[row.tokens]

    def inputs(self, row: Row) -> Tuple[Any, Any, Any]:
        """Return x, topk and weights of a shape."""
        made = torch.Generator().manual_seed(self.me * 1000 + row.tokens)
        x = torch.randn((row.tokens, self.given.hidden), generator=made).bfloat16()
        chosen = torch.rand((row.tokens, row.experts), generator=made).topk(self.given.topk, 1)[1]
        weights = torch.rand((row.tokens, self.given.topk), generator=made)
        kind = getattr(self.module, "topk_idx_t", torch.int64)
        return x.to(self.device), chosen.to(kind).to(self.device), weights.to(self.device)

    def shape(self, row: Row) -> Any:
        """Return the calls of the row's shape; those of the last one go."""
        key = row[:4]
        if key not in self.shapes:
            self.shapes.clear()
            if self.gpu:
                torch.cuda.empty_cache()
            kinds = {DECODE: Decode, SECOND: Second}
            self.shapes[key] = kinds.get(row.mode, Prefill)(self, row)
        return self.shapes[key]

    def figures(self, row: Row, call: Call) -> List[Any]:
        """Return FIGURES of this process, with lists for p50 and p99."""
        clock, calls, room = self.clock, self.given.samples, self.room(row)
        for _ in range(3):
            call()
        called = clock.called(call, min(calls, room))
        idle = clock.idle(call)
        if row.what in ("first", "expand"):  # the host waits for the GPU: it is never ahead
            return [called, [], None, idle, None, None]
        us = max(self.gathered(idle))
        busy = clock.busy(call, us, room)
        return [called, clock.stream(call, calls, us, room), None, idle, busy, None]

    def room(self, row: Row) -> int:
        """Return how many calls the host may be ahead: with events the memory of each result is
        held until the GPU is there."""
        if row.form != "event" or not self.gpu:
            return self.given.samples
        rows = self.shape(row).rows
        rows = rows[0] if isinstance(rows, tuple) else rows
        sharing = -(-self.pes // torch.cuda.device_count())
        return max(4, AHEAD // sharing // max(1, rows.numel() * rows.element_size()))

    def replayed(self, call: Call) -> List[Any]:
        """Return the same of a graph, a call of it."""
        for _ in range(2):
            call()
        graph = self.clock.graph(call, GRAPH_CALLS)
        replay = graph.replay
        for _ in range(3):
            replay()
        count = nodes(graph)
        idle = self.clock.idle(replay)
        us = max(self.gathered(idle))
        figures = [
            self.clock.called(replay, self.given.samples),
            self.clock.stream(replay, self.given.samples, us, self.given.samples),
            None,
            idle,
            self.clock.busy(replay, us, self.given.samples),
            count,
        ]
        return [each(figure) for figure in figures]

    def gathered(self, one: Any) -> List[Any]:
        everyone: List[Any] = [None] * self.pes
        dist.all_gather_object(everyone, one, group=self.group)
        return everyone

    def slowest(self, figures: List[Any]) -> Dict[str, Optional[float]]:
        """Return the figures of the slowest process, of the stream of each call."""
        columns = list(zip(*self.gathered(figures)))
        made = [max(column) if column[0] is not None else None for column in columns]
        calls = sorted(map(max, zip(*columns[1])))
        made[1] = statistics.median(calls) if calls else None
        made[2] = calls[min(len(calls) - 1, int(0.99 * len(calls)))] if calls else None
        return as_dict(made)

    def measure(self, row: Row) -> Tuple[Dict[str, Optional[float]], bool]:
        """Return the row's figures, and whether the shape gave wrong data anywhere."""
        shape = self.shape(row)
        call = shape.call(row.what, row.form)
        figures = self.replayed(call) if row.form == "graph" else self.figures(row, call)
        return self.slowest(figures), any(self.gathered(shape.wrong))

    def close(self) -> None:
        self.shapes.clear()
        self.clock.sync()
        for one in self.seconds.values():
            one.destroy()
        self.buffer.destroy()


def join(given: argparse.Namespace) -> None:
    """Become one of the processes: of this program's own, or of torchrun's."""
    torch.set_num_threads(1)
    local = int(os.environ.get("LOCAL_RANK", given.rank or 0))
    if torch.cuda.is_available():
        torch.cuda.set_device(local % torch.cuda.device_count())
    if given.rank is None:
        dist.init_process_group("gloo")
        return
    store = dist.FileStore(given.store, given.pes)
    dist.init_process_group("gloo", store=store, rank=given.rank, world_size=given.pes)


def run(given: argparse.Namespace, rows: Sequence[Row], tell: Callable[..., None]) -> int:
    """Measure rows; rank 0 tells figures of each. Return the exit status."""
    join(given)
    rank, status = Rank(given, rows), 0
    if not hasattr(rank.module, "EPBuffer") and not hasattr(rank.module, "ElasticBuffer"):
        rows = [row for row in rows if row.mode != SECOND]
    for row in rows:
        figures, wrong = rank.measure(row)
        status |= wrong
        if rank.me == 0:
            tell(str(row), figures, "  WRONG DATA" if wrong else "")
    rank.close()
    dist.destroy_process_group()
    if "warpshmem" in sys.modules:
        sys.modules["warpshmem"].finalize()
    return status
