# SPDX-License-Identifier: BSD-3-Clause
"""What EPBuffer and ElasticBuffer have in common: attributes, sizes, and calls whose arguments are
checked here."""

from __future__ import annotations

import sys
from typing import Any, Dict, Optional, Set, Tuple

import torch
import warpshmem
from warpshmem import _quick, ep

from . import _elastic, _elastic_checks as checks, _singly, _start, _topk
from ._elastic_refused import Refused
from ._expand import pair
from ._pool import FIRST_HANDLES, SPARE
from ._redundant import Redundant
from .buffer import Buffer
from .errors import wrong
from .utils.event import EventHandle, EventOverlap, Launch

SMS = 24  # what calls in normal mode take where nothing is said
SMS_ALONE = 64
QPS = 9
PAGE = 2 << 20
_IDS = "emit_expert_ids"
_FLAGS = (
    "async_with_compute_stream allocate_on_comm_stream do_cpu_sync do_expand do_zero_padding "
    "use_tma_aligned_col_major_sf"
).split()
_SWITCHES = (
    "use_fp8_dispatch deterministic allow_hybrid_mode allow_multiple_reduction "
    "prefer_overlap_with_compute explicitly_destroy"
).split()
_KEPT = (  # arguments of constructors that are attributes
    "use_fp8_dispatch deterministic allow_hybrid_mode allow_multiple_reduction sl_idx "
    "prefer_overlap_with_compute num_cpu_timeout_secs num_gpu_timeout_secs explicitly_destroy"
).split()
EXPERTS = 64  # of a rank, for a size hint
SEEN = 64  # forms that are kept


class Base(Redundant, Refused):
    """One Buffer of the second interface."""

    allow_hybrid_mode: bool
    allow_multiple_reduction: bool
    prefer_overlap_with_compute: bool
    use_fp8_dispatch: bool
    explicitly_destroy: bool

    def _open(self, given: Dict[str, Any]) -> None:
        """given: the arguments of the constructor. Collective over the group."""
        name, group, num_bytes = type(self).__name__, given["group"], given["num_bytes"]
        tokens, hidden = given["num_max_tokens_per_rank"], given["hidden"]
        topk, qps = given["num_topk"], given["num_allocated_qps"]
        checks.shape(name, tokens, hidden, topk)
        checks.whole(name, "num_allocated_qps", qps, 0)
        if num_bytes is not None:
            checks.whole(name, "num_bytes", num_bytes, 1)
        if group is None:
            raise wrong(name, "group", "is None; give a process group of torch.distributed")
        for switch in _SWITCHES:
            checks.flag(name, switch, given[switch])
        for kept in _KEPT:
            setattr(self, kept, given[kept])
        self.group, self.num_max_tokens_per_rank = group, tokens
        self._hidden, self._name = hidden, name
        self._seen: Set[Any] = set()  # forms of tensors that were right
        self._inner: Optional[Buffer] = Buffer(group, explicitly_destroy=True)
        self._inner.name = self._inner._normal.name = name
        self._inner.promised = self.explicitly_destroy
        self.rank_idx, self.num_ranks = self._inner.rank, self._inner.group_size
        self._calls = _elastic.Calls(
            self._inner, self.allow_hybrid_mode, self.allow_multiple_reduction
        )
        if tokens:
            self._inner._normal.pool.first = dict(
                tokens=min(tokens, _singly.MOST),
                pe_capacity=min(tokens, _singly.MOST) * self.num_ranks,
                handles=FIRST_HANDLES,
                topk=max(topk, 1),
            )
        self.num_rdma_ranks, self.num_nvlink_ranks = self._calls.physical
        self.num_scaleout_ranks, self.num_scaleup_ranks = self._calls.logical
        self.scaleout_rank_idx = self.rank_idx // self.num_scaleup_ranks
        self.scaleup_rank_idx = self.rank_idx % self.num_scaleup_ranks
        self.num_allocated_qps = qps or QPS
        self._sms = self._sms_of()
        self.nccl_comm_handle = None
        self.runtime: Any = self._inner.runtime
        self.num_bytes = num_bytes
        if num_bytes is None:
            self.num_bytes = self.get_buffer_size_hint(
                group, tokens, hidden, topk, self.use_fp8_dispatch
            )

    # What does not depend on a call.

    @staticmethod
    def get_buffer_size_hint(
        group: Any,
        num_max_tokens_per_rank: int,
        hidden: int,
        num_topk: int = 0,
        use_fp8_dispatch: bool = False,
        allow_hybrid_mode: bool = True,
        allow_multiple_reduction: bool = True,
    ) -> int:
        """Return the bytes of symmetric memory, a multiple of 2 MB, that one kind of dispatch takes
        with its combine, biases and single rounding included, to 64 handles at a time and to 64
        experts a rank. Rows of another type, or dispatches with and without do_cpu_sync, take as
        much again. Collective over the group, which it starts warpshmem for. 0 where sizes are 0.
        """
        call = "EPBuffer.get_buffer_size_hint"
        checks.shape(call, num_max_tokens_per_rank, hidden, num_topk)
        checks.flags(
            call,
            use_fp8_dispatch=use_fp8_dispatch,
            allow_hybrid_mode=allow_hybrid_mode,
            allow_multiple_reduction=allow_multiple_reduction,
        )
        n, (_, near) = _start.size_of(group, call)
        if not num_max_tokens_per_rank or not hidden:
            return 0
        topk = max(num_topk, _topk.LEAST)
        tokens = min(num_max_tokens_per_rank, _singly.MOST)
        main = dict(
            mode=ep.HIGH_THROUGHPUT,
            dtype=ep.FP8 if use_fp8_dispatch else ep.BF16,
            hidden=hidden,
            experts=EXPERTS * n,
            topk=topk,
            tokens=tokens,
            pe_capacity=tokens * n,
            handles=FIRST_HANDLES + SPARE,
        )
        singly = _singly.fields(n, 0, hidden, num_max_tokens_per_rank, topk)
        found = sum(ep.bytes_of(ep.config(**each), n, near).symmetric for each in (main, singly))
        return int((found + PAGE - 1) // PAGE * PAGE)

    @staticmethod
    def capture() -> EventHandle:
        """Return an event of the current stream."""
        return EventHandle()

    def get_theoretical_num_sms(
        self,
        num_experts: int,
        num_topk: int,
        num_scaleout_topk: int = 0,
        rdma_gbs: float = 0,
        nvlink_gbs: float = 0,
        sm_read_gbs: float = 200,
        sm_write_gbs: float = 50,
    ) -> int:
        """Return how many SMs to give a call: 24, which hold a call back by less than 5 % against
        more; without prefer_overlap_with_compute 64, for rows to many experts. Rates are kept out
        of it. On a GPU with fewer SMs an even number of them."""
        call = "%s.get_theoretical_num_sms" % self._name
        checks.experts(call, num_experts, self.num_ranks)
        checks.whole(call, "num_topk", num_topk, 1)
        if num_scaleout_topk:
            raise wrong(call, "num_scaleout_topk", "is %r; leave it 0" % (num_scaleout_topk,))
        return self._sms

    def _sms_of(self) -> int:
        wanted = SMS if self.prefer_overlap_with_compute else SMS_ALONE
        if not torch.cuda.is_available():
            return wanted
        there = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
        return min(wanted, there // 2 * 2)

    def get_theoretical_num_qps(self, num_sms: int) -> int:
        """Return how many queue pairs a call may name: rows go by the library's endpoints,
        whatever it is."""
        checks.whole("%s.get_theoretical_num_qps" % self._name, "num_sms", num_sms, 1)
        return min(num_sms, self.num_allocated_qps)

    def get_comm_stream(self) -> Any:
        """Return the stream of calls that are asynchronous, that wait for an event, or that a graph
        captures; None without a GPU."""
        return self._need("get_comm_stream").comm_stream

    def get_physical_domain_size(self) -> Tuple[int, int]:
        """Return the number of hosts, and of ranks of each."""
        return self.num_rdma_ranks, self.num_nvlink_ranks

    def get_logical_domain_size(self) -> Tuple[int, int]:
        """Return the number of scale-out ranks, and of scale-up ranks."""
        return self.num_scaleout_ranks, self.num_scaleup_ranks

    def barrier(
        self, use_comm_stream: bool = True, with_cpu_sync: bool = False, sequential: bool = True
    ) -> None:
        """Wait until all ranks have come: on the stream of calls or the current one; with_cpu_sync,
        and without a GPU, on the host. Collective over the group."""
        inner, call = self._need("barrier"), "%s.barrier" % self._name
        flags = dict(use_comm_stream=use_comm_stream, with_cpu_sync=with_cpu_sync)
        checks.flags(call, sequential=sequential, **flags)
        team = inner.team if inner.team is not None else warpshmem.TEAM_WORLD
        if inner.comm_stream is None:
            team.barrier()
            return
        stream = inner.comm_stream if use_comm_stream else torch.cuda.current_stream()
        if with_cpu_sync:
            torch.cuda.synchronize()
        team.barrier(stream)
        if with_cpu_sync:
            torch.cuda.synchronize()

    def print_memory_usage(self) -> None:
        """Print a line: the symmetric memory that calls have taken so far, of num_bytes."""
        self._need("print_memory_usage")
        used, count = self._used()
        sys.stdout.write(
            "deep_ep.%s: rank %d of %d has taken %d bytes of symmetric memory for %d kinds of "
            "calls; num_bytes is %d\n"
            % (self._name, self.rank_idx, self.num_ranks, used, count, self.num_bytes or 0)
        )
        sys.stdout.flush()

    def _used(self) -> Tuple[int, int]:
        """Return symmetric bytes and instances."""
        made = self._need("print_memory_usage").instances()
        near = self.num_nvlink_ranks
        sizes = [ep.bytes_of(one.config, self.num_ranks, near).symmetric for one in made]
        return sum(sizes), len(made)

    def destroy(self) -> None:
        """End what calls needed, and after the last Buffer of a process the job that the first one
        has started. Collective over the group; a second call does nothing."""
        if not self.explicitly_destroy:
            text = "is False; make the Buffer with explicitly_destroy=True"
            raise wrong("%s.destroy" % self._name, "explicitly_destroy", text)
        if self._inner is not None:
            self._inner.destroy()
        self._inner = self.runtime = None

    def _need(self, call: str) -> Buffer:
        """Refuse calls of a Buffer that has been destroyed."""
        if self._inner is None:
            text = "is a Buffer that was destroyed; make another one"
            raise wrong("%s.%s" % (self._name, call), "self", text)
        return self._inner

    # Calls: `given` are their arguments by name.

    def _ask(self, given: Dict[str, Any], copy: bool, ids: bool) -> _elastic.Ask:
        """Return a dispatch whose arguments are right."""
        call, handle = given.get("call") or self._name + ".dispatch", given["handle"]
        for name in _FLAGS:
            checks.flag(call, name, given[name])
        checks.flag(call, _IDS, ids)
        checks.units(call, given["num_sms"], given["num_qps"], self.num_allocated_qps)
        experts, most, alignment = self._sizes(call, given)
        form = self._form(given, experts, most) if handle is None else None
        if form is None or form not in self._seen:
            self._tensors(call, given, experts, most)
            if form is not None and pair(given["x"])[0].is_cuda and len(self._seen) < SEEN:
                self._seen.add(form)
        for name, value in (("do_zero_padding", given["do_zero_padding"]), (_IDS, ids)):
            if value and not given["do_expand"]:
                raise wrong(call, name, "is True; it is for do_expand=True")
        return _elastic.Ask(
            x=given["x"],
            topk_idx=given["topk_idx"],
            weights=given["topk_weights"],
            stats=given["cumulative_local_expert_recv_stats"],
            experts=experts,
            most=most,
            alignment=alignment,
            sms=given["num_sms"] or self._sms,
            handle=handle,
            copy=bool(copy),
            sync=handle is None and given["do_cpu_sync"] in (None, True),
            expand=bool(given["do_expand"]),
            zero=bool(given["do_zero_padding"]),
            ids=bool(ids),
            columns=bool(given["use_tma_aligned_col_major_sf"]),
            rows=given.get("rows"),
            later=not given["async_with_compute_stream"],
            uneven=bool(given.get("uneven")),
        )

    @staticmethod
    def _form(given: Dict[str, Any], *numbers: int) -> Any:
        """Return what tensors of a GPU that were right once are known by, whose values no check looks
        at; None where they are not plain."""
        x = given["x"]
        rows, scales = x if isinstance(x, (tuple, list)) and len(x) == 2 else (x, None)
        topk, weights = given["topk_idx"], given["topk_weights"]
        stats = given["cumulative_local_expert_recv_stats"]
        form = _quick.forms(rows, scales, topk, weights, stats)
        return form and (form, *numbers)

    def _tensors(self, call: str, given: Dict[str, Any], experts: int, most: int) -> None:
        """Refuse tensors of a dispatch that are wrong."""
        handle = given["handle"]
        checks.rows(call, given["x"], self._hidden, most)
        rows = pair(given["x"])[0]
        if handle is None:
            checks.choices(call, given["topk_idx"], rows, experts)
        topk = given["topk_idx"] if handle is None else handle.topk_idx
        if topk.device != rows.device:
            text = "is on %s, and the handle's dispatch was on %s; give both on one"
            raise wrong(call, "x", text % (rows.device, topk.device))
        if topk.shape[0] != rows.shape[0]:
            text = "has %d rows, and the handle is of %d tokens; give as many"
            raise wrong(call, "x", text % (rows.shape[0], topk.shape[0]))
        checks.weights(call, given["topk_weights"], rows, tuple(topk.shape))
        stats = given["cumulative_local_expert_recv_stats"]
        checks.stats(call, stats, rows, experts // self.num_ranks)

    def _sizes(self, call: str, given: Dict[str, Any]) -> Tuple[int, int, int]:
        """Return experts, tokens of a rank and alignment of a dispatch: given, or the handle's."""
        handle, most = given["handle"], given["num_max_tokens_per_rank"]
        experts, alignment = given["num_experts"], given["expert_alignment"]
        if handle is not None:
            self._check_handle(call, given)
            return handle.num_experts, handle.num_max_tokens_per_rank, handle.expert_alignment
        most = self.num_max_tokens_per_rank if most is None else most
        ranks = self.num_ranks
        most = checks.whole(call, "num_max_tokens_per_rank", most, 1, checks.ROWS_MOST // ranks)
        experts = checks.experts(call, experts, ranks)
        if alignment is not None:
            room = checks.PLACES_MOST // (experts // ranks)
            alignment = checks.whole(call, "expert_alignment", alignment, 1, room)
        return experts, most, alignment or 1

    def _check_handle(self, call: str, given: Dict[str, Any]) -> None:
        """Refuse what a dispatch with a handle must not say, or says otherwise."""
        handle = checks.handle(call, given["handle"], self._calls)
        if given["topk_idx"] is not None:
            raise wrong(call, "topk_idx", "is given with a handle; leave it out")
        if given["do_cpu_sync"]:
            raise wrong(call, "do_cpu_sync", "is True with a handle; leave it out")
        for name in ("num_experts", "num_max_tokens_per_rank", "expert_alignment", "do_expand"):
            checks.same(call, name, given[name], getattr(handle, name))

    def _launch(self, call: str, given: Dict[str, Any], x: torch.Tensor, second: Any) -> Launch:
        """Return the stream of a call, as a context."""
        previous, on_stream = given["previous_event"], given["allocate_on_comm_stream"]
        checks.event(call, previous, on_stream)
        checks.event(call, second, on_stream, "previous_event_before_epilogue")
        inner = self._need(call)
        asynchronous = given["async_with_compute_stream"]
        return Launch(inner._stream(x), previous, asynchronous, second, inner.order)

    def _again(
        self, x: Any, handle: Any, given: Tuple[Any, ...], expand: bool, zero: bool
    ) -> Optional[Tuple[Any, ...]]:
        """A dispatch by a handle that asks for nothing more than expansion; None where it is
        another call. given: num_sms, num_qps, async_with_compute_stream."""
        plain = self._calls.plain(x, handle, expand) if zero.__class__ is bool else None
        launch = self._plain_launch(plain[0], given) if plain is not None else None
        if launch is None or plain is None:
            return None
        with launch:
            rows, topk = self._calls.again(*plain, handle, launch.stream, zero)
        event = launch.finish((x,), (rows, topk))
        return rows, topk, None, handle, event

    def _back(self, x: Any, handle: Any, given: Tuple[Any, ...]) -> Optional[Tuple[Any, ...]]:
        """A combine that asks for nothing more; None where it is another call. given: as above."""
        launch = self._plain_launch(x, given) if self._calls.plain_back(x, handle) else None
        if launch is None:
            return None
        with launch:
            out = self._calls.back(x, handle, launch.stream)
        return out, None, launch.finish((x,), (out,))

    def _plain_launch(self, x: torch.Tensor, given: Tuple[Any, ...]) -> Optional[Launch]:
        """Return the stream of a call without events before it; None where it is another call."""
        inner, (sms, qps, is_async) = self._inner, given
        if inner is None:
            return None
        if sms.__class__ is not int or qps.__class__ is not int or is_async.__class__ is not bool:
            return None
        if not 0 <= sms <= checks.SMS_MOST or not 0 <= qps <= self.num_allocated_qps:
            return None
        return Launch(inner._stream(x), None, is_async, order=inner.order)

    def _dispatch(
        self,
        given: Dict[str, Any],
        copy: bool,
        ids: bool = False,
        second: Any = None,
        defer: bool = False,
    ) -> Any:
        inner = self._need("dispatch")
        call = given.get("call") or self._name + ".dispatch"
        checks.flag(call, "do_handle_copy", copy)
        checks.flag(call, "defer_epilogue", defer)
        ask = self._ask(given, copy, ids)
        launch = self._launch(call, given, pair(ask.x)[0], second)
        inner.sms = given["num_sms"]
        with launch:
            results, held = self._calls.dispatch(ask, launch.stream)
            made = () if defer else results()
        inputs = (ask.x, ask.topk_idx, ask.weights, ask.stats)
        return self._finish(launch, inputs, held, made, results)

    def _combine(self, given: Dict[str, Any], second: Any = None, defer: bool = False) -> Any:
        self._need("combine")
        call, x, weights = self._name + ".combine", given["x"], given["topk_weights"]
        checks.flag(call, "async_with_compute_stream", given["async_with_compute_stream"])
        checks.flag(call, "allocate_on_comm_stream", given["allocate_on_comm_stream"])
        checks.flag(call, "defer_epilogue", defer)
        checks.units(call, given["num_sms"], given["num_qps"], self.num_allocated_qps)
        handle = checks.handle(call, given["handle"], self._calls)
        checks.results(call, x, handle)
        checks.combined_weights(call, weights, x, handle, self.allow_multiple_reduction)
        biases = checks.biases(call, given["bias"], x, handle._inner.tokens)
        launch = self._launch(call, given, x, second)
        with launch:
            results, held = self._calls.combine(x, handle, weights, biases, launch.stream)
            made = () if defer else results()
        return self._finish(launch, (x, weights, biases), held, made, results)

    @staticmethod
    def _finish(
        launch: Launch, inputs: Any, held: Any, made: Tuple[Any, ...], results: _elastic.Results
    ) -> Any:
        """Return what was made and the event; or, where nothing was made yet, an event that makes
        it. held: what the call has allocated on its stream."""
        event = launch.finish(inputs, made + held)
        if made:
            return made + (event,)
        late = EventOverlap(event.event or EventHandle(), results=results)
        late._held = event._held
        return late
