# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges of tensors: a ring of puts with signals, and an all-to-all.

oshrun -n 4 python3 torch_exchange.py
With a GPU the tensors lie in its memory and everything is on a stream; else in memory of the host.
"""
import os

os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")

import torch

import warpshmem

N = 1000
ROUNDS = 3


def ring(where: str, stream) -> int:
    """Pass a tensor around: after as many steps as there are PEs it is back."""
    me, n_pes = warpshmem.my_pe(), warpshmem.n_pes()
    inbox = warpshmem.zeros(N, torch.float32, like=torch, device=where)
    arrived = warpshmem.zeros(1, torch.int64, like=torch, device=where)
    held = torch.arange(N, dtype=torch.float32, device=inbox.device) + me
    first, step = held.clone(), 0
    for _ in range(ROUNDS * n_pes):
        step += 1
        warpshmem.put_signal(inbox, held, arrived, step, (me + 1) % n_pes, stream=stream)
        warpshmem.signal_wait_until(arrived, "ge", step, stream=stream)
        held = inbox.clone()
        warpshmem.barrier_all(stream=stream)  # all have read before the next put
    return int((held != first).sum())


def alltoall(where: str, stream) -> int:
    """Send block j to PE j."""
    me, n_pes = warpshmem.my_pe(), warpshmem.n_pes()
    source = warpshmem.empty((n_pes, N), torch.int32, like=torch, device=where)
    dest = warpshmem.zeros((n_pes, N), torch.int32, like=torch, device=where)
    column = torch.arange(n_pes, dtype=torch.int32, device=source.device)[:, None]
    source.copy_((1000 * me + column).expand(n_pes, N))
    warpshmem.alltoall(dest, source, stream=stream)
    return int((dest != (1000 * column + me).expand(n_pes, N)).sum())


def main() -> int:
    warpshmem.init()
    me, n_pes = warpshmem.my_pe(), warpshmem.n_pes()
    where, stream = "host", None
    if torch.cuda.is_available():
        torch.cuda.set_device(warpshmem.TEAM_SHARED.my_pe % torch.cuda.device_count())
        where, stream = "gpu", torch.cuda.Stream()
        torch.cuda.set_stream(stream)
    wrong = [ring(where, stream), alltoall(where, stream)]
    print(
        "PE %d of %d, tensors of the %s: %d of %d values of the ring wrong, %d of %d of alltoall"
        % (me, n_pes, where, wrong[0], N, wrong[1], n_pes * N)
    )
    warpshmem.finalize()
    return any(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
