#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of the guide: what lies where, and which way data take.

pictures.py --write TREE     draws them all
pictures.py --check TREE     names those that differ from what this script draws
"""

import sys
from pathlib import Path
from typing import Callable, Dict

from svg import Drawing


def overview() -> Drawing:
    pic = Drawing(
        364,
        "PEs, symmetric memory, and three ways to it",
        "Two hosts with two PEs each; every PE has symmetric memory, and a GPU with symmetric memory. PEs of a host load"
        " and store each other's memory, NICs write that of other hosts, and kernels do both for device memory.",
    )
    for host, left in (("host A", 12), ("host B", 340)):
        pic.box(left, 12, 288, 244)
        pic.text(left + 10, 32, host)
    for pe, left in enumerate((22, 158, 382, 518)):
        pic.box(left, 44, 100, 200, "part")
        pic.text(left + 50, 63, f"PE {pe}", "", "middle")
        pic.box(left + 6, 76, 88, 56, "symmetric", ["symmetric", "memory"])
        pic.box(left + 6, 148, 88, 90, "kernel")
        pic.text(left + 50, 164, "GPU, kernel", "more", "middle")
        pic.box(left + 11, 172, 78, 56, "symmetric", ["symmetric", "memory"])
    for left in (268, 340):
        pic.box(left, 70, 32, 176, "part", ["NIC"])
    pic.arrow([(116, 104), (162, 104)])
    pic.arrow([(252, 104), (386, 104)])
    pic.arrow([(111, 200), (167, 200)], "gpu")
    pic.arrow([(247, 200), (391, 200)], "gpu")
    for x, y, number, kind in (
        (139, 104, "1", "hosts"),
        (320, 104, "2", "hosts"),
        (139, 200, "3", "gpus"),
        (320, 200, "3", "gpus"),
    ):
        pic.hop(x, y, number, kind)
    pic.steps(26, 284, [
        ("1", "hosts", "On one host PEs load and store each other's memory."),
        ("2", "hosts", "Between hosts a NIC writes it: libfabric, made for AWS EFA."),
        ("3", "gpus", "Kernels do the same: over NVLink, by a proxy thread, or by the NIC itself."),
    ])  # fmt: skip
    return pic


def symmetric_memory() -> Drawing:
    pic = Drawing(
        330,
        "Symmetric memory",
        "Three PEs with a symmetric heap each. An object of the heap lies at the same offset on every PE, so its own"
        " address and the number of a PE name the copy there. Stacks and malloc are private.",
    )
    for pe, left in enumerate((16, 226, 436)):
        pic.box(left, 16, 188, 230)
        pic.text(left + 94, 36, f"PE {pe}", "", "middle")
        pic.box(left + 14, 48, 160, 42, "part", ["stack, malloc"], ["private"])
        pic.box(left + 14, 102, 160, 132, "symmetric")
        pic.text(left + 94, 120, "symmetric heap", "", "middle")
        pic.box(left + 26, 160, 136, 30, "part")
        pic.text(left + 94, 180, "long *box", "file", "middle")
        pic.line([(left + 20, 128), (left + 20, 160)], "plain")
        pic.text(left + 28, 150, "same offset", "more")
        pic.text(left + 94, 222, "base " + ("0x7f10…", "0x7e2c…", "0x7fb4…")[pe], "file", "middle")
    pic.box(44, 60, 10, 18, "kernel")
    pic.arrow([(49, 78), (49, 98), (420, 98), (420, 175), (460, 175)])
    pic.text(16, 272, "shmem_long_put(box, &letter, 1, 2) on PE 0", "file")
    pic.text(
        16, 296, "PE 0 gives its own address of box and the number 2. The library adds the offset"
    )
    pic.text(16, 316, "to PE 2's base. All PEs call shmem_malloc alike; globals are symmetric too.")
    return pic


def put_signal() -> Drawing:
    pic = Drawing(
        300,
        "A put with signal",
        "PE 0 calls shmem_put_signal. The data arrive at PE 1, then the signal. PE 1 waits for the signal, and the data"
        " are there when the wait returns.",
    )
    for left, name in ((16, "PE 0"), (424, "PE 1")):
        pic.box(left, 16, 200, 216)
        pic.text(left + 100, 36, name, "", "middle")
    pic.box(28, 48, 176, 34, "part", ["letter"], [])
    pic.text(28, 112, "shmem_put_signal(", "file")
    pic.text(28, 130, "\u00a0 box, letter, n,", "file")
    pic.text(28, 148, "\u00a0 &bell, 1,", "file")
    pic.text(28, 166, "\u00a0 SHMEM_SIGNAL_SET, 1)", "file")
    pic.text(28, 198, "returns: letter may", "more")
    pic.text(28, 214, "be used again", "more")
    pic.box(436, 48, 176, 34, "symmetric", ["box"])
    pic.box(436, 98, 176, 34, "symmetric", ["bell"])
    pic.text(436, 166, "shmem_signal_", "file")
    pic.text(436, 184, "\u00a0 wait_until(&bell,", "file")
    pic.text(436, 202, "\u00a0 SHMEM_CMP_EQ, 1)", "file")
    pic.arrow([(204, 65), (432, 65)])
    pic.arrow([(216, 115), (432, 115)])
    pic.arrow([(524, 132), (524, 150)], "plain")
    pic.hop(318, 65, "1")
    pic.hop(318, 115, "2")
    pic.text(318, 50, "n elements", "more", "middle")
    pic.text(318, 142, "then the signal", "more", "middle")
    pic.hop(524, 222, "3", "plains")
    pic.steps(30, 256, [
        ("2", "hosts", "is never visible before 1, on any path, and without a fence."),
        ("3", "plains", "When the wait returns, the data of this put are in box."),
    ])  # fmt: skip
    return pic


def put_efa() -> Drawing:
    pic = Drawing(
        512,
        "A put to another host, over EFA",
        "From the program through the core and the efa transport to libfabric and the NIC; packets take several paths and"
        " arrive in any order; the NIC of the target writes the bytes, and its completion ends the wait of quiet.",
    )
    pic.box(12, 12, 330, 388)
    pic.text(24, 32, "host of the source")
    pic.box(466, 12, 162, 388)
    pic.text(478, 32, "host of the target")
    rows = (
        (44, "the program", "shmem_putmem_nbi"),
        (106, "the core: segment, offset, route", "runtime/op/rma.c"),
        (168, "order: may the write start now?", "transports/efa: ops/rma.c, srd/"),
        (230, "one NIC, or pieces over several", "batch.c, rails.c"),
        (292, "libfabric's provider efa", "fi_writemsg"),
    )
    for y, what, where in rows:
        pic.box(28, y, 268, 44, "part")
        pic.text(40, y + 19, what)
        pic.text(40, y + 37, where, "file")
    for at in range(4):
        pic.arrow([(60, rows[at][0] + 44), (60, rows[at + 1][0])])
    pic.box(28, 354, 268, 34, "part", ["NIC"])
    pic.arrow([(60, 336), (60, 354)])
    pic.box(482, 354, 130, 34, "part", ["NIC"])
    pic.box(
        482,
        168,
        130,
        106,
        "symmetric",
        ["symmetric", "memory"],
        ["its CPU does", "nothing for", "a plain write"],
    )
    for shift in (-8, 0, 8):
        pic.arrow(
            [(296, 371 + shift), (340, 371 + 2 * shift), (440, 371 + 2 * shift), (478, 371 + shift)]
        )
    pic.arrow([(547, 354), (547, 278)])
    pic.arrow([(466, 400), (466, 416), (320, 416), (320, 66), (300, 66)], "plain")
    for x, y, number, kind in (
        (44, 97, "1", "hosts"),
        (44, 345, "2", "hosts"),
        (404, 371, "3", "hosts"),
        (547, 316, "4", "hosts"),
        (320, 200, "5", "plains"),
    ):
        pic.hop(x, y, number, kind)
    pic.text(404, 335, "any order,", "more", "middle")
    pic.text(404, 350, "many paths", "more", "middle")
    pic.text(26, 438, "1, 2  Nothing is held back, unless a fence asks for it: then the put waits,")
    pic.text(26, 456, "or goes as a message that the target holds until its turn.")
    pic.text(
        26, 478, "3, 4  SRD delivers each packet once.   5  The completion says that the bytes"
    )
    pic.text(26, 496, "are in memory: shmem_quiet waits for all completions.")
    return pic


def put_kernel() -> Drawing:
    pic = Drawing(
        436,
        "Four ways of a put from a kernel",
        "Mapped: the kernel stores to the peer's memory. Proxy: the kernel writes a record, a thread of the host puts."
        " GDA: the kernel writes a request to the NIC's queue. Staged: the data go through host memory of the target.",
    )
    pic.text(62, 30, "kernel", "", "middle")
    pic.text(300, 30, "on the way", "", "middle")
    pic.text(552, 30, "device memory there", "", "middle")
    ways = (
        (
            "mapped",
            (("stores over NVLink or PCIe", 200, 210),),
            "the same host: nobody else is involved",
        ),
        (
            "GDA",
            (("NIC", 300, 80),),
            "the kernel writes requests and the doorbell of the NIC (SHMEM_GDA)",
        ),
        (
            "proxy",
            (("ring", 128, 60), ("proxy thread", 206, 110), ("NIC", 336, 60)),
            "a record in pinned memory; a thread of the host puts; the NIC reads the GPU",
        ),
        (
            "staged",
            (("ring", 128, 60), ("proxy thread", 206, 110), ("NIC", 336, 60)),
            "no NIC reaches the GPU: into host memory there, and a kernel or a copy fetches it",
        ),
    )
    for at, (name, parts, about) in enumerate(ways):
        y = 44 + 98 * at
        pic.box(12, y, 616, 90)
        pic.box(20, y + 10, 84, 44, "kernel", [name])
        left = 104
        for what, x, w in parts:
            pic.arrow([(left, y + 32), (x, y + 32)], "gpu" if left == 104 else "host")
            pic.box(x, y + 12, w, 40, "part", [what])
            left = x + w
        colour = "gpu" if name in ("mapped", "GDA") else "host"
        if name == "staged":
            pic.arrow([(left, y + 32), (414, y + 32)], "host")
            pic.box(414, y + 10, 84, 44, "part", ["host", "memory"])
            left, colour = 498, "gpu"
        pic.arrow([(left, y + 32), (518, y + 32)], colour)
        pic.box(518, y + 10, 102, 44, "symmetric", ["symmetric"])
        pic.text(20, y + 78, about, "more")
    return pic


def start_id() -> Drawing:
    pic = Drawing(
        372,
        "Start by a unique id",
        "One process makes the id, which names its address and a secret. The program passes it on in any way. All"
        " processes connect to the root with it, exchange their addresses through it, and then reach each other directly.",
    )
    pic.box(210, 12, 220, 84)
    pic.text(222, 32, "rank 0")
    pic.box(222, 42, 196, 44, "kernel", ["shmemx_get_uniqueid", "root: a thread"])
    pic.box(16, 122, 120, 48, "out", ["your store"], ["file, TCP, ssh …"])
    pic.arrow([(210, 64), (76, 64), (76, 118)], "plain")
    pic.hop(130, 64, "1", "plains")
    for rank in range(4):
        left = 16 + 156 * rank
        pic.box(left, 208, 140, 48, "room", [f"rank {rank}"], ["shmemx_init_attr"])
    pic.arrow([(76, 170), (76, 204)], "plain")
    pic.line([(96, 170), (96, 186), (534, 186)], "plain")
    for x in (222, 378, 534):
        pic.arrow([(x, 186), (x, 204)], "plain")
    pic.hop(190, 186, "2", "plains")
    for x, top in ((150, 280), (280, 300), (350, 340), (600, 400)):
        pic.arrow(
            [(x, 206), (x, 152), (top, 152), (top, 100)] if x != 350 else [(350, 206), (350, 100)],
            "host",
        )
    pic.hop(350, 130, "3")
    for left in (156, 312, 468):
        pic.arrow([(left, 236), (left + 12, 236)], "gpu")
    pic.steps(30, 284, [
        ("1", "plains", "Rank 0 makes the id: 128 bytes with its address and a secret."),
        ("2", "plains", "Your program passes it to the other processes, with rank and number of ranks."),
        ("3", "hosts", "Each connects to the root with the id's secret and gets everybody's addresses."),
        ("4", "gpus", "From then on PEs reach each other directly."),
    ])  # fmt: skip
    return pic


def dispatch_combine() -> Drawing:
    pic = Drawing(
        394,
        "Dispatch and combine",
        "Two PEs with tokens and two experts each. Dispatch sends a copy of a token's row to every expert that the router"
        " chose; combine returns the experts' results to the token's PE and adds them up with the router's weights.",
    )
    for pe, top in enumerate((44, 174)):
        pic.box(12, top, 616, 118)
        pic.text(22, top + 20, f"PE {pe}")
        for at in range(2):
            token, expert = 2 * pe + at, 2 * pe + at
            y = top + 30 + 42 * at
            pic.box(70, y, 96, 34, "symmetric", [f"token {token}"])
            pic.box(272, y, 96, 34, "kernel", [f"expert {expert}"])
            pic.box(484, y, 128, 34, "symmetric", [f"sum of token {token}"])
    pic.text(219, 32, "dispatch", "", "middle")
    pic.text(426, 32, "combine", "", "middle")
    rows = (91, 133, 221, 263)
    chosen = ((0, 2), (1, 2), (0, 3), (1, 3))
    for token, experts in enumerate(chosen):
        for nth, expert in enumerate(experts):
            shift = -6 + 12 * (token in (1, 3))
            pic.arrow([(166, rows[token] + 4 * nth - 2), (270, rows[expert] + shift)], "host")
            pic.arrow([(368, rows[expert] + shift), (482, rows[token] + 8 * nth - 4)], "gpu")
    pic.text(16, 320, "Dispatch: each token's row goes to the PEs of the experts that the router")
    pic.text(16, 338, "chose, here two of four. The experts compute on the rows that have come.")
    pic.text(16, 360, "Combine: the experts' results come back to the PE of the token and are")
    pic.text(16, 378, "added up with the router's weights. Rows of one PE stay there.")
    return pic


PICTURES: Dict[str, Callable[[], Drawing]] = {
    "docs/overview.svg": overview,
    "docs/guide/symmetric-memory.svg": symmetric_memory,
    "docs/guide/put-signal.svg": put_signal,
    "docs/guide/put-efa.svg": put_efa,
    "docs/guide/put-kernel.svg": put_kernel,
    "docs/guide/start-id.svg": start_id,
    "docs/guide/dispatch-combine.svg": dispatch_combine,
}


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    tree, other = Path(sys.argv[2]), 0
    for name, draw in PICTURES.items():
        path, text = tree / name, draw().svg()
        if sys.argv[1] == "--write":
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(
                f"{name} is not what docs/site/pictures.py draws: run docs/site/pictures.py --write ."
            )
            other += 1
    print(f"{len(PICTURES)} pictures, {other} differ")
    return int(other > 0)


if __name__ == "__main__":
    sys.exit(main())
