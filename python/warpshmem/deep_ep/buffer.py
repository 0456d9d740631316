# SPDX-License-Identifier: BSD-3-Clause
"""Buffer: the calls of DeepEP by names and arguments, over warpshmem.ep."""

from __future__ import annotations

import sys
from typing import Any, Callable, List, Optional, Tuple, Union

import torch
from warpshmem import ep, job

from . import _buffer_checks, _elastic_checks as checks
from . import _domains, _dropped, _layout, _low_checks, _low_latency, _normal, _nvfp4, _signals
from . import _start, _topk
from ._agree import Agreement
from ._local import Local
from ._masks import Masks
from ._refused import DISPATCH
from .config import Config, bytes_for
from .errors import not_offered, refuse_others, wrong
from .utils.event import EventHandle, EventOverlap, Launch, Order

topk_idx_t = torch.int64
Rows = Union[torch.Tensor, Tuple[torch.Tensor, torch.Tensor]]


class Buffer(Local, Masks):
    """Dispatch and combine for a group of processes, a PE each.

    Collective over the group. group: of torch.distributed; or comm: a communicator of mpi4py. The
    group's processes are the PEs of warpshmem, which is started by it where it is not running yet.
    num_nvl_bytes and num_rdma_bytes: what get_local_buffer_tensor lends; symmetric memory grows as
    calls need it. low_latency_mode, num_qps_per_rank and the allow_… arguments change nothing.
    enable_shrink: low-latency calls, with tensors of the CPU or of GPUs of one host, go on without
    ranks that fail (oshrun --on-pe-failure continue) or do not answer in low_latency_limit_secs, an
    attribute that is set before the first call of a shape. A Buffer that all of its ranks drop
    without destroy() ends where they meet next (_dropped.py).
    """

    num_sms: int = 20
    _sms_chosen = False
    sms = 0  # of this Buffer's next instance, where it is said
    name = "Buffer"  # of the class, as programs know it
    number = 0  # that all ranks have for it, once it is made

    def __init__(
        self,
        group: Any = None,
        num_nvl_bytes: int = 0,
        num_rdma_bytes: int = 0,
        low_latency_mode: bool = False,
        num_qps_per_rank: int = 24,
        allow_nvlink_for_low_latency_mode: bool = True,
        allow_mnnvl: bool = False,
        explicitly_destroy: bool = False,
        enable_shrink: bool = False,
        comm: Any = None,
        use_fabric: bool = False,
    ) -> None:
        _buffer_checks.made(num_nvl_bytes, num_rdma_bytes, num_qps_per_rank)
        _start.collect()
        self.rank, self.group_size, self.team, number = _start.start(group, comm)
        _start.made()
        self.group, self.low_latency_mode, self._destroyed = group, low_latency_mode, False
        self.num_nvl_bytes, self.num_rdma_bytes = num_nvl_bytes, num_rdma_bytes
        self.explicitly_destroy, self.enable_shrink = explicitly_destroy, enable_shrink
        self._masked = set()
        self.runtime = _start.Runtime(self.rank, self.group_size)
        self.agreement = Agreement(self.group_size, self.team)
        self.comm_stream = torch.cuda.Stream(priority=-1) if torch.cuda.is_available() else None
        self.order = Order()  # of calls in normal mode
        self._seen = _buffer_checks.Seen()
        self._normal, self._low = _normal.Normal(self), _low_latency.LowLatency(self)
        self.others: List[Any] = []  # what ends with it
        self.near = _domains.near(self.group_size, self.team) or 1
        self.promised = explicitly_destroy  # the program said that it will destroy it
        self.world, self.number = job.state.world, number

    def destroy(self) -> None:
        """End what calls needed and, after the last Buffer of a process, the job that the first one
        has started. Where a rank has a tensor of get_next_low_latency_combine_buffer left, it ends
        when its ranks meet next after that has gone. Collective over the group; a second call does nothing."""
        if not self.explicitly_destroy:
            raise wrong(
                "Buffer.destroy",
                "explicitly_destroy",
                "is False; make the Buffer with explicitly_destroy=True",
            )
        if self._destroyed:
            return
        if self._is_lent():
            self._over()
            _dropped.keep(self)
        else:
            self.end(True)

    def _is_lent(self) -> bool:
        """Whether a rank has a tensor over its memory, which stays until that one is gone.
        Collective."""
        lent = self.lends()
        if self.agreement.broken:
            return False
        return any(told == [1] for told in self.agreement.gather([int(lent)]))

    def _over(self) -> None:
        """No call is made any more."""
        self._destroyed = True
        self.runtime.is_available = lambda: False  # type: ignore[method-assign]

    def end(self, met: bool) -> None:
        """End it. Collective over the group. met: other Buffers of these ranks, too, that they have
        dropped, and the job after the last one."""
        self._over()
        for one in self.others + [self._normal, self._low]:
            one.close()
        if met and not self.agreement.broken:
            _dropped.meet(self.agreement)
        last = met and _start.ending(self.agreement)
        self.agreement.close()
        _start.ended(self.team, last)

    def __del__(
        self,
        ending: Callable[[], bool] = sys.is_finalizing,
        put: Callable[[Any], None] = _dropped.put,
    ) -> None:
        if self.number and not self._destroyed and not ending():
            put(self)

    def instances(self) -> List[Any]:
        """Return the instances of the library that calls have made."""
        found = [entry.instance for entry in self._normal.pool.all() + self._low.all()]
        return found + [instance for one in self.others for instance in one.all()]

    def bytes_taken(self) -> int:
        """Return the bytes of symmetric memory of these."""
        made = self.instances()
        return sum(ep.bytes_of(one.config, self.group_size, self.near).symmetric for one in made)

    def lends(self) -> bool:
        """Whether programs have a tensor over its memory. Of a Buffer that is not called any more:
        its own ones go."""
        for entry in self._normal.pool.all() + self._low.all():
            entry.forget()
        return any(len(one.lent) for one in self.instances())

    def _need(self, call: str) -> None:
        """Refuse calls of a Buffer that has been destroyed."""
        if self._destroyed:
            raise wrong(call, "self", "is a Buffer that was destroyed; make another one")

    # What does not depend on a group.

    @staticmethod
    def is_sm90_compiled() -> bool:
        """Return True: kernels for sm_90 are there."""
        return True

    @staticmethod
    def set_num_sms(new_num_sms: int) -> None:
        """Set how many SMs a call in normal mode takes: an even number. Before the first call."""
        most = checks.SMS_MOST
        if checks.whole("set_num_sms", "new_num_sms", new_num_sms, 0, most) % 2 or not new_num_sms:
            text = "is %r; give an even number, at least 2" % new_num_sms
            raise wrong("set_num_sms", "new_num_sms", text)
        Buffer.num_sms, Buffer._sms_chosen = new_num_sms, True

    @staticmethod
    def capture() -> EventOverlap:
        """Return an event of the current stream."""
        return EventOverlap(EventHandle())

    @staticmethod
    def get_dispatch_config(num_ranks: int) -> Config:
        """Return what dispatch takes where `config` is not given."""
        checks.whole("get_dispatch_config", "num_ranks", num_ranks, 1)
        return Config(Buffer.num_sms)

    @staticmethod
    def get_combine_config(num_ranks: int) -> Config:
        """Return what combine takes where `config` is not given."""
        checks.whole("get_combine_config", "num_ranks", num_ranks, 1)
        return Config(Buffer.num_sms)

    @staticmethod
    def get_low_latency_rdma_size_hint(
        num_max_dispatch_tokens_per_rank: int, hidden: int, num_ranks: int, num_experts: int
    ) -> int:
        """Return the bytes of symmetric memory that low-latency calls of this shape take, with
        top-16."""
        _buffer_checks.hint(num_max_dispatch_tokens_per_rank, hidden, num_ranks, num_experts)
        return bytes_for(
            n_pes=num_ranks,
            mode=ep.LOW_LATENCY,
            hidden=hidden,
            experts=num_experts,
            tokens=num_max_dispatch_tokens_per_rank,
            topk=min(checks.TOPK_MOST, num_experts),
            handles=_low_latency.HANDLES,
        )

    def blocks(self) -> int:
        """Return blocks of a kernel as the library's configuration has them; 0: it chooses."""
        return self.sms or (Buffer.num_sms if Buffer._sms_chosen else 0)

    @staticmethod
    def refuse_capture(what: str) -> None:
        """Refuse what a CUDA graph cannot hold: the host waits, or memory is allocated by all
        PEs."""
        if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
            raise RuntimeError(
                "deep_ep.%s while a CUDA graph is captured: call it once before the capture; in "
                "normal mode with num_worst_tokens, or with a handle" % what
            )

    def get_comm_stream(self) -> Any:
        """Return the stream of calls that are asynchronous, that wait for an event, or that a graph
        captures; None without a GPU."""
        return self.comm_stream

    # Normal mode.

    def get_dispatch_layout(
        self,
        topk_idx: torch.Tensor,
        num_experts: int,
        previous_event: Optional[EventOverlap] = None,
        async_finish: bool = False,
        allocate_on_comm_stream: bool = False,
    ) -> Tuple[torch.Tensor, Optional[torch.Tensor], torch.Tensor, torch.Tensor, EventOverlap]:
        """Count the tokens for each rank and expert. topk_idx: [T, K], -1: none.

        Returns num_tokens_per_rank [ranks], num_tokens_per_rdma_rank [ranks / 8] or None for up to
        8 ranks, num_tokens_per_expert [experts], is_token_in_rank [T, ranks], event.
        """
        _buffer_checks.asked(topk_idx, num_experts, self.group_size, previous_event, async_finish)
        _topk.check("get_dispatch_layout", topk_idx, num_experts)
        launch = Launch(self.comm_stream, previous_event, async_finish, order=Order())
        with launch:
            found = _layout.layout(topk_idx, num_experts, self.group_size, _start.RANKS_A_HOST)
        return tuple(found) + (launch.finish((topk_idx,), found),)  # type: ignore[return-value]

    def dispatch(
        self,
        x: Rows,
        handle: Optional[Tuple] = None,
        num_tokens_per_rank: Optional[torch.Tensor] = None,
        num_tokens_per_rdma_rank: Optional[torch.Tensor] = None,
        is_token_in_rank: Optional[torch.Tensor] = None,
        num_tokens_per_expert: Optional[torch.Tensor] = None,
        topk_idx: Optional[torch.Tensor] = None,
        topk_weights: Optional[torch.Tensor] = None,
        expert_alignment: int = 1,
        num_worst_tokens: int = 0,
        config: Optional[Config] = None,
        previous_event: Optional[EventOverlap] = None,
        async_finish: bool = False,
        allocate_on_comm_stream: bool = False,
    ) -> Tuple[
        Rows, Optional[torch.Tensor], Optional[torch.Tensor], Optional[List[int]], Any, EventOverlap
    ]:
        """Send each token to the ranks that have its experts.

        x: [T, hidden] bfloat16, or (float8_e4m3fn, float32 scales [T, hidden / 128]). handle: an
        earlier dispatch's, whose routing is taken; then no counts and no topk are given. Otherwise
        the counts are get_dispatch_layout's. num_worst_tokens: so many rows are returned, the host
        waits for nothing, a CUDA graph may hold the call. Returns recv_x, recv_topk_idx (experts of
        this rank from 0, -1: another's), recv_topk_weights, num_recv_tokens_per_expert_list (each a
        multiple of expert_alignment), handle, event; with `handle` None in the place of the four in
        the middle. Rows lie by source rank, then by token.
        """
        self._need("dispatch")
        checks.whole("dispatch", "expert_alignment", expert_alignment, 1, checks.PLACES_MOST)
        most = min(checks.TOKENS_MOST * self.group_size, checks.ROWS_MOST)
        checks.whole("dispatch", "num_worst_tokens", num_worst_tokens, 0, most)
        more = async_finish, allocate_on_comm_stream
        _buffer_checks.call("dispatch", config, previous_event, *more)
        if handle is None:
            given = (
                num_tokens_per_rank,
                num_tokens_per_rdma_rank,
                num_tokens_per_expert,
                is_token_in_rank,
            )
            numbers = self._seen.first(x, topk_idx, topk_weights, given, self.group_size)
        else:
            checks.rows("dispatch", x, 0, None)
            self._normal.check(handle, "dispatch")
            _buffer_checks.again(topk_idx, topk_weights)
        rows, scales = x if isinstance(x, (tuple, list)) else (x, None)
        launch = Launch(self._stream(rows), previous_event, async_finish, order=self.order)
        with launch:
            if handle is not None:
                made: Tuple[Any, ...] = (
                    self._normal.again(rows, scales, handle, launch.stream),
                    None,
                    None,
                    None,
                    None,
                )
            else:
                made = self._normal.dispatch(
                    rows,
                    scales,
                    numbers,
                    topk_idx,
                    topk_weights,
                    expert_alignment,
                    num_worst_tokens,
                    launch.stream,
                )
        kept = (made[4].topk, made[4][0]) if made[4] is not None else None
        inputs = (rows, scales, topk_idx, topk_weights, is_token_in_rank)
        return made + (launch.finish(inputs, made[:3] + (kept,)),)  # type: ignore[return-value]

    def _stream(self, x: torch.Tensor) -> Any:
        return self.comm_stream if x.is_cuda else None

    def combine(
        self,
        x: torch.Tensor,
        handle: Tuple,
        topk_weights: Optional[torch.Tensor] = None,
        bias: Any = None,
        config: Optional[Config] = None,
        previous_event: Optional[EventOverlap] = None,
        async_finish: bool = False,
        allocate_on_comm_stream: bool = False,
    ) -> Tuple[torch.Tensor, Optional[torch.Tensor], EventOverlap]:
        """Bring rows back to the tokens of the dispatch with `handle`, and add them up over ranks.

        x: a bfloat16 row for each received one, no weights are applied. topk_weights: [rows, K]
        float32, each column added over ranks too. bias: a tensor or two, [T, hidden],
        added to the sum. Returns the sums [T, hidden], the weights [T, K] or None, event.
        """
        self._need("combine")
        self._normal.check(handle, "combine")
        more = async_finish, allocate_on_comm_stream
        _buffer_checks.call("combine", config, previous_event, *more)
        biases = _buffer_checks.combine(x, handle, topk_weights, bias)
        launch = Launch(self._stream(x), previous_event, async_finish, order=self.order)
        with launch:
            out, weights = self._normal.combine(x, handle, topk_weights, launch.stream)
            for each in biases:
                out.add_(each)
        return out, weights, launch.finish((x, topk_weights, biases), (out, weights))

    def internode_dispatch(
        self,
        x: Rows,
        handle: Optional[Tuple] = None,
        num_tokens_per_rank: Optional[torch.Tensor] = None,
        num_tokens_per_rdma_rank: Optional[torch.Tensor] = None,
        is_token_in_rank: Optional[torch.Tensor] = None,
        num_tokens_per_expert: Optional[torch.Tensor] = None,
        topk_idx: Optional[torch.Tensor] = None,
        topk_weights: Optional[torch.Tensor] = None,
        expert_alignment: int = 1,
        config: Optional[Config] = None,
        previous_event: Optional[EventOverlap] = None,
        async_finish: bool = False,
        allocate_on_comm_stream: bool = False,
        num_worst_tokens: int = 0,
    ) -> Tuple[
        Rows, Optional[torch.Tensor], Optional[torch.Tensor], Optional[List[int]], Any, EventOverlap
    ]:
        """As dispatch, inside a host too."""
        return self.dispatch(
            x,
            handle,
            num_tokens_per_rank,
            num_tokens_per_rdma_rank,
            is_token_in_rank,
            num_tokens_per_expert,
            topk_idx,
            topk_weights,
            expert_alignment,
            num_worst_tokens,
            config,
            previous_event,
            async_finish,
            allocate_on_comm_stream,
        )

    internode_combine = combine

    # Low-latency mode.

    def clean_low_latency_buffer(
        self, num_max_dispatch_tokens_per_rank: int, hidden: int, num_experts: int
    ) -> None:
        """Nothing to clean: calls count, and need no zeros."""

    def low_latency_dispatch(
        self,
        x: torch.Tensor,
        topk_idx: torch.Tensor,
        num_max_dispatch_tokens_per_rank: int,
        num_experts: int,
        cumulative_local_expert_recv_stats: Optional[torch.Tensor] = None,
        dispatch_wait_recv_cost_stats: Optional[torch.Tensor] = None,
        use_fp8: bool = True,
        round_scale: bool = False,
        use_ue8m0: bool = False,
        async_finish: bool = False,
        return_recv_hook: bool = False,
        **others: Any,
    ) -> Tuple[Rows, torch.Tensor, Any, EventOverlap, Any]:
        """Send each token to its experts; rows come packed by local expert.

        x: [T, hidden] bfloat16, T up to num_max_dispatch_tokens_per_rank. topk_idx: [T, K], -1:
        none. With return_recv_hook rows are there when the returned hook has been called; the
        network works meanwhile. round_scale: scales are powers of two; use_ue8m0: as bytes of
        exponents, four in an int32. dispatch_wait_recv_cost_stats: [ranks] int64, or longer, to
        which the ns are added that this rank waited for each other one. others: use_nvfp4
        with x_global_scale, a positive number or a float32 tensor of one, on a GPU on one host: rows
        are codes [.., hidden / 2] uint8 and scales [.., hidden / 16] e4m3. Returns rows
        [local experts, ranks * num_max…, hidden] (with use_fp8: and scales [.., hidden / 128], in
        which rows of a column lie beside each other), counts [local experts], handle, event, hook.
        """
        if not (
            use_fp8.__class__ is round_scale.__class__ is use_ue8m0.__class__ is bool
            and async_finish.__class__ is return_recv_hook.__class__ is bool
            and num_max_dispatch_tokens_per_rank.__class__ is num_experts.__class__ is int
        ):
            _low_checks.odd("low_latency_dispatch", locals())
        dtype = ep.BF16 if not use_fp8 else ep.FP8_UE8M0 if round_scale else ep.FP8
        whole: Tuple[Any, ...] = ()
        if others and _nvfp4.wanted(others.pop("use_nvfp4", None)):
            whole = (_nvfp4.asked(others.pop("x_global_scale", None), use_fp8, x, self),)
            dtype = ep.NVFP4
        key = num_max_dispatch_tokens_per_rank, num_experts, dtype, use_fp8 and use_ue8m0
        plans = self._low.plans.get(key)
        if plans is not None and dispatch_wait_recv_cost_stats is None and not others:
            if not (async_finish and return_recv_hook) and (round_scale or not use_ue8m0):
                found = self._low.quick_dispatch(
                    plans,
                    x,
                    topk_idx,
                    cumulative_local_expert_recv_stats,
                    async_finish,
                    return_recv_hook,
                    whole,
                )
                if found is not None:
                    return found  # type: ignore[return-value]
        self._need("low_latency_dispatch")
        refuse_others("low_latency_dispatch", DISPATCH, others)
        if use_ue8m0 and not round_scale:
            raise wrong("low_latency_dispatch", "use_ue8m0", "is True; set round_scale=True too")
        return self._low.dispatch(
            x,
            topk_idx,
            num_max_dispatch_tokens_per_rank,
            num_experts,
            cumulative_local_expert_recv_stats,
            dtype,
            use_fp8 and use_ue8m0,
            async_finish,
            return_recv_hook,
            dispatch_wait_recv_cost_stats,
            *whole,
        )  # type: ignore[return-value]

    def low_latency_combine(
        self,
        x: torch.Tensor,
        topk_idx: torch.Tensor,
        topk_weights: torch.Tensor,
        handle: Tuple,
        use_logfmt: bool = False,
        zero_copy: bool = False,
        async_finish: bool = False,
        return_recv_hook: bool = False,
        out: Optional[torch.Tensor] = None,
        combine_wait_recv_cost_stats: Optional[torch.Tensor] = None,
        **others: Any,
    ) -> Tuple[torch.Tensor, EventOverlap, Any]:
        """Bring rows back to their tokens, each times its weight, and add them up.

        x: bfloat16, shaped as the rows of the dispatch; with zero_copy what
        get_next_low_latency_combine_buffer returned was written instead. topk_idx: the dispatch's.
        topk_weights: [T, K] float32. combine_wait_recv_cost_stats: as in the dispatch, of other
        hosts for the ranks that weights and sums come from; on a GPU all ranks give it or none
        does. others: of single-batch overlap, on one host (_signals.py): rows are read when their
        signals have come. Returns the sums [T, hidden], event, hook.
        """
        if not (
            use_logfmt.__class__ is zero_copy.__class__ is bool
            and async_finish.__class__ is return_recv_hook.__class__ is bool
        ):
            _low_checks.odd("low_latency_combine", locals())
        if not (
            use_logfmt
            or (async_finish and return_recv_hook)
            or others
            or self._destroyed
            or combine_wait_recv_cost_stats is not None
        ):
            found = self._low.quick_combine(
                x, topk_idx, topk_weights, handle, zero_copy, async_finish, return_recv_hook, out
            )
            if found is not None:
                return found  # type: ignore[return-value]
        self._need("low_latency_combine")
        _signals.known(others)
        if use_logfmt:
            raise not_offered(
                "Buffer.low_latency_combine",
                "use_logfmt",
                True,
                "leave it False: rows come back as BF16",
            )
        return self._low.combine(
            x,
            topk_idx,
            topk_weights,
            handle,  # type: ignore[arg-type]
            zero_copy,
            async_finish,
            return_recv_hook,
            out,
            combine_wait_recv_cost_stats,
            others,
        )

    def get_next_low_latency_combine_buffer(self, handle: Any) -> torch.Tensor:
        """Return what the next low_latency_combine with zero_copy=True takes: [local experts, rows,
        hidden] bfloat16.

        Ask for each combine again.
        """
        self._need("get_next_low_latency_combine_buffer")
        self._low.check(handle)
        return handle.entry.buffer(handle[1])
