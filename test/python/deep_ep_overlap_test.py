# SPDX-License-Identifier: BSD-3-Clause
"""Single-batch overlap: combines that begin while another thread still writes the experts' rows,
with the arguments that SGLang gives, and what is refused."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, Tuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from deep_ep_common import buffer_of, case_of, expert_scaled, mine, near, refused  # noqa: E402
from deep_ep_common import run_experts, same  # noqa: E402
from deep_ep_job import Job  # noqa: E402
import deep_ep_reference as reference  # noqa: E402
from deep_ep_reference import Case  # noqa: E402

BLOCK, DONE = 16, 5


class Experts(threading.Thread):
    """Writes rows of one word after another, in a random order, and raises the word behind."""

    def __init__(self, y: torch.Tensor, words: torch.Tensor, rows: int, done: int) -> None:
        super().__init__()
        self.good, self.y, self.words, self.rows, self.done = y.clone(), y, words, rows, done
        y.fill_(float("nan"))

    def run(self) -> None:
        each = self.words.shape[0] // self.y.shape[0]
        for word in torch.randperm(self.words.shape[0]).tolist():
            expert, block = divmod(word, each)
            part = slice(block * self.rows, (block + 1) * self.rows)
            self.y[expert, part] = self.good[expert, part]
            for _ in range(self.done):
                self.words[word] += 1


def received(job: Job, case: Case) -> Tuple[Any, ...]:
    given = mine(job, case)
    rows, counts, handle, _, _ = buffer_of(job).low_latency_dispatch(
        given.x, given.topk, case.tokens, case.n * case.local, use_fp8=False
    )
    return given, run_experts(job, case, rows), counts, handle


def check(job: Job, case: Case, hook: bool, rows: int, names: Any) -> None:
    buffer = buffer_of(job)
    given, y, counts, handle = received(job, case)
    arguments = given.topk, given.weights, handle
    plain, _, receive = buffer.low_latency_combine(y, *arguments, return_recv_hook=hook)
    receive() if hook else None
    each = -(-y.shape[1] // rows)
    words = torch.zeros(case.local * each, dtype=torch.int32)
    experts = Experts(y, words, rows, DONE)
    experts.start()
    out, _, receive = buffer.low_latency_combine(
        y, *arguments, return_recv_hook=hook, **names(words, counts)
    )
    receive() if hook else None
    experts.join()
    same(out, plain)
    near(out, reference.low_sum(case, job.rank, expert_scaled))


def test_overlap(job: Job) -> None:
    """Sums are those of a combine that begins when all rows are there, bit for bit."""
    case = case_of(job, seed=720)

    def by_expert(words: Any, counts: Any) -> Any:
        return dict(overlap=True, src_signals=words, src_signal_expect_value=DONE)

    def by_block(words: Any, counts: Any) -> Any:
        return dict(
            overlap=True,
            packed_recv_count=counts,
            comp_signal=words,
            block_m=BLOCK,
            threshold=DONE,
            num_sms=3,
        )

    for rows, names in ((case.n * case.tokens, by_expert), (BLOCK, by_block)):
        if job.cuda or job.hosts > 1:
            refused(lambda: check(job, case, False, rows, names), "_signal", "not offered")
            continue
        for hook in (False, True, False):
            check(job, case, hook, rows, names)


def test_overlap_wrong(job: Job) -> None:
    """What asks for nothing is taken; what is wrong is named, and the next call is right."""
    case = case_of(job, seed=721)
    given, y, _, handle = received(job, case)

    def back(**more: Any) -> Any:
        return buffer_of(job).low_latency_combine(y, given.topk, given.weights, handle, **more)[0]

    plain = back(overlap=False, block_m=64, threshold=0, num_sms=3, packed_recv_count=None)
    refused(lambda: back(overlap=True), "overlap", "src_signals")
    if job.cuda or job.hosts > 1:
        return
    words = torch.ones(case.local, dtype=torch.int32)
    refused(lambda: back(src_signals=words.long()), "src_signals", "int64")
    refused(lambda: back(src_signals=words[1:]), "src_signals", "shape")
    refused(lambda: back(src_signals=words, src_signal_expect_value=-1), "src_signal_expect_value")
    refused(lambda: back(overlap=True, comp_signal=words, threshold=0), "threshold")
    refused(lambda: back(overlap=True, comp_signal=words, threshold=1, block_m=0), "block_m")
    refused(lambda: back(overlap=True, comp_signal=words, threshold=1, block_m=8), "comp_signal")
    same(back(src_signals=words, src_signal_expect_value=1), plain.cpu())
