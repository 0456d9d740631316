# SPDX-License-Identifier: BSD-3-Clause
"""A layer of a mixture of experts, whose experts are shared among the PEs, trained for a few steps
with torch: router, dispatch, experts, combine, and the way back, where combine is dispatch's
gradient and dispatch is combine's. Every PE trains the whole layer alone too and compares.

    oshrun -n 4 python3 moe.py          in memory of the host
    python3 moe.py --pes 4              the same, started by itself
    oshrun -n 2 python3 moe.py --gpu    in memory of the GPU
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import Any, List, Optional, Tuple

import torch
import warpshmem
from warpshmem import ep

TOKENS, HIDDEN, INNER, EXPERTS, TOPK, RATE = 48, 128, 64, 8, 2, 4.0
# BF16 rows have 8 bits of mantissa, and partial sums are rounded to them on their way: losses are
# equal within 1 %, and matrices within 1 % of the largest change that training has made.
NEAR = 0.01


class Dispatch(torch.autograd.Function):
    """Rows for this PE's experts; back, the sum of the gradients of a token's rows."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weights: torch.Tensor, topk: torch.Tensor, moe: ep.ExpertParallel
    ) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        got = moe.dispatch(x.to(torch.bfloat16), topk, weights.contiguous())
        rows = moe.counts()[1]
        ctx.moe, ctx.rows = moe, rows
        topk = got.row_topk[:rows]
        ctx.mark_non_differentiable(topk)
        return got.rows[:rows].float(), got.row_weights[:rows], topk

    @staticmethod
    def backward(ctx: Any, rows: torch.Tensor, weights: torch.Tensor, _: Any) -> Tuple[Any, ...]:
        tokens = TOKENS
        back = torch.empty((tokens, TOPK), dtype=torch.float32, device=rows.device)
        out = ctx.moe.combine(
            rows.to(torch.bfloat16).contiguous(), y_weights=weights.contiguous(), out_weights=back
        )
        return out.float(), back, None, None


class Combine(torch.autograd.Function):
    """The sum of a token's rows over PEs; back, its gradient for each of them."""

    @staticmethod
    def forward(ctx: Any, y: torch.Tensor, moe: ep.ExpertParallel) -> torch.Tensor:
        ctx.moe, ctx.rows = moe, len(y)
        return moe.combine(y.to(torch.bfloat16).contiguous()).float()

    @staticmethod
    def backward(ctx: Any, out: torch.Tensor) -> Tuple[Any, ...]:
        got = ctx.moe.dispatch(out.to(torch.bfloat16).contiguous())  # the routing is kept
        return got.rows[: ctx.rows].float(), None


class Layer:
    """Parameters: the router's, the same on all PEs, and those of experts first to last - 1."""

    def __init__(self, first: int, last: int, device: torch.device) -> None:
        self.first, self.device = first, device
        self.router = self._drawn(1, HIDDEN, EXPERTS)
        self.up = [self._drawn(10 + e, HIDDEN, INNER) for e in range(first, last)]
        self.down = [self._drawn(100 + e, INNER, HIDDEN) for e in range(first, last)]

    def _drawn(self, seed: int, rows: int, columns: int) -> torch.Tensor:
        numbers = torch.randn((rows, columns), generator=torch.Generator().manual_seed(seed))
        return (numbers / rows**0.5).to(self.device).requires_grad_()

    def parameters(self) -> List[torch.Tensor]:
        return [self.router] + self.up + self.down

    def route(self, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        """Return the experts of each token, and their weights."""
        chances = torch.softmax(torch.matmul(x, self.router), 1)
        weights, topk = chances.topk(TOPK, 1)
        return topk.int(), weights

    def experts(
        self, rows: torch.Tensor, topk: torch.Tensor, weights: torch.Tensor
    ) -> torch.Tensor:
        """Add up the local experts of each row; topk counts them from 0, -1 is none of them."""
        y = torch.zeros_like(rows)
        for e in range(len(self.up)):
            at, k = (topk == e).nonzero(as_tuple=True)
            inner = torch.relu(torch.matmul(rows[at], self.up[e]))
            y = y.index_add(0, at, weights[at, k, None] * torch.matmul(inner, self.down[e]))
        return y

    def loss(
        self, x: torch.Tensor, wanted: torch.Tensor, moe: Optional[ep.ExpertParallel], total: int
    ) -> torch.Tensor:
        """Return this PE's part of the mean square error over `total` tokens."""
        topk, weights = self.route(x)
        if moe is None:
            out = self.experts(x, topk, weights)
        else:
            rows, row_weights, row_topk = Dispatch.apply(x, weights, topk, moe)
            out = Combine.apply(self.experts(rows, row_topk, row_weights), moe)
        return (out - wanted).square().sum() / (total * HIDDEN)

    def step(self) -> None:
        """Plain SGD."""
        with torch.no_grad():
            for parameter in self.parameters():
                if parameter.grad is not None:
                    parameter -= RATE * parameter.grad
                    parameter.grad = None


def tokens_of(pe: int, device: torch.device) -> Tuple[torch.Tensor, torch.Tensor]:
    """Return the tokens of a PE, exact in BF16, and what the layer is to make of them."""
    made = torch.Generator().manual_seed(1000 + pe)
    x = torch.randn((TOKENS, HIDDEN), generator=made).to(torch.bfloat16).float()
    turn = torch.randn((HIDDEN, HIDDEN), generator=torch.Generator().manual_seed(7)) / HIDDEN**0.5
    return x.to(device), torch.tanh(x @ turn).to(device)


def sum_over_pes(tensor: torch.Tensor, room: torch.Tensor) -> None:
    """Replace a small tensor by its sum over all PEs, through symmetric memory of the host."""
    view = room[: tensor.numel()]
    view.copy_(tensor.detach().flatten())
    warpshmem.reduce(view, view, "sum")
    tensor.copy_(view.view(tensor.shape))


def train_together(layer: Layer, steps: int, me: int, n: int) -> List[float]:
    x, wanted = tokens_of(me, layer.device)
    room = warpshmem.zeros((HIDDEN * EXPERTS,), "float32", like="torch")
    losses = []
    with ep.ExpertParallel(
        mode=ep.HIGH_THROUGHPUT,
        device=int(layer.device.type == "cuda"),
        hidden=HIDDEN,
        experts=EXPERTS,
        topk=TOPK,
        tokens=TOKENS,
        pe_capacity=n * TOKENS,
    ) as moe:
        for _ in range(steps):
            loss = layer.loss(x, wanted, moe, n * TOKENS)
            loss.backward()
            value = loss.detach().cpu().reshape(1)
            sum_over_pes(value, room)
            sum_over_pes(layer.router.grad, room)
            losses.append(float(value))
            layer.step()
    return losses


def train_alone(layer: Layer, steps: int, n: int) -> List[float]:
    given = [tokens_of(pe, layer.device) for pe in range(n)]
    x, wanted = torch.cat([one[0] for one in given]), torch.cat([one[1] for one in given])
    losses = []
    for _ in range(steps):
        loss = layer.loss(x, wanted, None, n * TOKENS)
        loss.backward()
        losses.append(float(loss))
        layer.step()
    return losses


def worst(layer: Layer, alone: Layer) -> float:
    """Return the largest difference of a parameter, as a share of the largest change."""
    start = Layer(layer.first, layer.first + len(layer.up), layer.device)
    mine = alone.up[layer.first :][: len(layer.up)], alone.down[layer.first :][: len(layer.up)]
    different = changed = 0.0
    for is_now, was, wanted in zip(
        layer.parameters(), start.parameters(), [alone.router] + mine[0] + mine[1]
    ):
        different = max(different, float((is_now - wanted).abs().max()))
        changed = max(changed, float((wanted - was).abs().max()))
    return different / changed


def run(steps: int, gpu: bool) -> int:
    torch.set_num_threads(1)
    device = torch.device("cpu")
    if gpu:
        ranks = [os.environ.get(name) for name in ("LOCAL_RANK", "RANK", "PMIX_RANK")]
        rank = next((int(found) for found in ranks if found), 0)
        torch.cuda.set_device(rank % torch.cuda.device_count())
        device = torch.device("cuda", torch.cuda.current_device())
    warpshmem.init(device=device.index)
    me, n = warpshmem.my_pe(), warpshmem.n_pes()
    layer = Layer(me * EXPERTS // n, (me + 1) * EXPERTS // n, device)
    losses = train_together(layer, steps, me, n)
    alone = Layer(0, EXPERTS, device)
    wanted = train_alone(alone, steps, n)
    off = max(abs(a - b) / b for a, b in zip(losses, wanted))
    matrices = worst(layer, alone)
    right = off <= NEAR and matrices <= NEAR and losses[-1] < losses[0]
    print(
        "PE %d of %d: loss %.4f to %.4f in %d steps on %s; losses are %s to those of one process "
        "(within %.2g), matrices within %.2g of the largest change\n"
        % (
            me,
            n,
            losses[0],
            losses[-1],
            steps,
            device.type,
            "equal" if right else "NOT EQUAL",
            off,
            matrices,
        ),
        end="",  # one write, so that lines of PEs do not mix
        flush=True,
    )
    warpshmem.finalize()
    return int(not right)


def start(pes: int, arguments: List[str]) -> int:
    """Start the PEs without a launcher, as torchrun would."""
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    common = dict(os.environ, WORLD_SIZE=str(pes), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    command = [sys.executable, os.path.abspath(__file__)] + arguments
    ranks = [subprocess.Popen(command, env=dict(common, RANK=str(pe))) for pe in range(pes)]
    return max(abs(rank.wait()) for rank in ranks)


def main() -> int:
    words = argparse.ArgumentParser(description="train a layer of a mixture of experts")
    words.add_argument("--pes", type=int, default=0, help="start so many PEs; default: be one")
    words.add_argument("--steps", type=int, default=5, help="of SGD")
    words.add_argument("--gpu", action="store_true", help="rows in memory of the GPU")
    given = words.parse_args()
    if given.pes:
        return start(given.pes, ["--steps", str(given.steps)] + ["--gpu"] * given.gpu)
    return run(given.steps, given.gpu)


if __name__ == "__main__":
    sys.exit(main())
