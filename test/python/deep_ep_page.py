# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of docs/guide/deep-ep.md, one after another in N processes, and prints a line
of TAP for each: deep_ep_page.py PAGE N."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
from typing import List

SECONDS, LINES = 60 * float(os.environ.get("WSH_TEST_SLOW", "1")), 15


def programs(page: str) -> List[str]:
    """Return the programs of a page."""
    with open(page) as text:
        return re.findall(r"^```python\n(.*?)^```$", text.read(), re.S | re.M)


def one_rank(page: str, ports: List[str]) -> None:
    """Run them as one rank, which the environment names."""
    import torch.distributed as dist

    for number, (program, port) in enumerate(zip(programs(page), ports), 1):
        os.environ["MASTER_PORT"] = port
        exec(compile(program, "program %d of %s" % (number, page), "exec"), {})
        dist.destroy_process_group()
        os.write(1, b"done %d\n" % number)  # at once: other ranks write here too


def free_ports(count: int) -> List[str]:
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    found = [str(one.getsockname()[1]) for one in held]
    for one in held:
        one.close()
    return found


def run(page: str, n: int, count: int) -> str:
    """Return what n processes wrote, and end those that do not."""
    command = [sys.executable, __file__, page, "rank"] + free_ports(count)
    with tempfile.TemporaryFile("w+") as out:
        env = dict(os.environ, WORLD_SIZE=str(n), OMP_NUM_THREADS="1", MASTER_ADDR="127.0.0.1")
        ranks = [
            subprocess.Popen(command, env=dict(env, RANK=str(rank)), stdout=out, stderr=out)
            for rank in range(n)
        ]
        try:
            for one in ranks:
                one.wait(SECONDS)
        except subprocess.TimeoutExpired:
            pass
        for one in ranks:
            one.kill()
            one.wait()
        out.seek(0)
        return out.read()


def main() -> int:
    page, n = sys.argv[1], int(sys.argv[2])
    found, failed = programs(page), 0
    wrote = run(page, n, len(found))
    for number, program in enumerate(found, 1):
        name = re.findall(r"deep_ep\.(\w*Buffer)\(", program)[0]
        lines = sum(bool(line.strip()) for line in program.splitlines())
        good = wrote.count("done %d\n" % number) == n and lines <= LINES
        print("%sok %d - program %d of the page, of %s" % ("" if good else "not ", number, number, name))
        failed += not good
    if failed:
        print("".join("# %s\n" % line for line in wrote.splitlines()), end="")
    print("1..%d" % len(found), flush=True)
    return 1 if failed or len(found) != 6 else 0


if __name__ == "__main__":
    sys.exit(one_rank(sys.argv[1], sys.argv[3:]) if sys.argv[2] == "rank" else main())
