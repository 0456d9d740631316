#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The plots of the first page: a row of docs/guide/results.md, or a place in its lists, for each bar.

    headlines.py RESULTS FOLDER      draws headline-NAME.svg for each; a row that is missing is an error

results.md has the figures, and this file only says which. A page shows a plot by `<!-- headline NAME -->`.
"""

import re
import sys
from pathlib import Path
from typing import Dict, List, NamedTuple, Tuple

from plots import Table, draw, read_table

MARK = re.compile(r"^<!-- headline (\w+) -->$", re.M)


class Row(NamedTuple):
    """What a row of the plot says of a row of results.md."""

    label: str
    section: str
    figure: str  # the first cell
    places: Tuple[Tuple[str, int], ...]  # (column, which of its numbers) of each bar
    date: str = ""  # of several rows with that figure, the one of this machine


class Headline(NamedTuple):
    kind: str
    axis: str
    names: Tuple[str, ...]
    rows: List[Row]
    about: str


def both(place: int) -> Tuple[Tuple[str, int], ...]:
    """That place of the lists of ours and the peer's."""
    return (("warpshmem", place), ("peer", place))


def of_host(label: str, figure: str, place: int = 3) -> Row:
    return Row(label, "Host", figure, both(place))


def of_gpus(label: str, figure: str, machine: str) -> Row:
    return Row(label, "GPU", figure, tuple(("warpshmem", place) for place in range(3)), machine)


def of_experts(label: str, figure: str, first: int) -> List[Row]:
    """Lists of 1; 8; 32; 128 tokens begin at that place."""
    return [
        Row(f"{label}, {tokens} tokens", "Expert parallelism", figure,
            (("warpshmem", first + at), ("peer: copy", first + at)))
        for at, tokens in ((1, 8), (3, 128))
    ]  # fmt: skip


CALLED = "the same through `deep_ep`: in a graph; called"
HOOKS = "the same: with hooks; with `async_finish`"
HEADLINES: Dict[str, Headline] = {
    "host": Headline(
        "pairs",
        "us, less is better",
        ("warpshmem", "Open MPI 4.1 OSHMEM"),
        [
            of_host("barrier_all, 16 PEs", "barrier_all, PEs"),
            of_host("alltoall of 8 bytes, 16 PEs", "alltoall 8, PEs"),
            of_host("sum of 8 bytes, 16 PEs", "sum 8, PEs"),
            of_host("sum of 64 KiB, 16 PEs", "sum 64 Ki, PEs"),
            of_host("fcollect of 64 KiB, 16 PEs", "fcollect 64 Ki, PEs"),
            of_host("put of 8 bytes", "put; get; p; g; fetch_add; put and quiet, 8", 0),
            of_host("put of 64 KiB: Open MPI is ahead", "put 64 Ki", 0),
        ],
        "Host routines beside Open MPI",
    ),
    "kernels": Headline(
        "shares",
        "rows of the comparison",
        ("ahead", "level", "behind"),
        [
            of_gpus("point to point, NVSHMEM 3.4.5, 2 H200", "point to point, 138 rows, two rounds", "2 H200"),
            of_gpus("collectives, NVSHMEM 3.4.5, 2 H200", "collectives, 586 rows, one round", "2 H200"),
            of_gpus("collectives, NCCL 2.28, 2 H200", "the same", "2 H200"),
            of_gpus("collectives, NVSHMEM 3.4.5, 4 H200 (older version)", "the same, an older version|NVSHMEM", "4 H200"),
            of_gpus("collectives, NCCL 2.28, 4 H200 (older version)", "the same, an older version|NCCL", "4 H200"),
        ],
        "Kernels beside NVSHMEM and NCCL",
    ),
    "experts": Headline(
        "pairs",
        "us, less is better; dispatch and combine of decode, FP8",
        ("warpshmem's deep_ep", "DeepEP 1.2.1"),
        of_experts("in a graph", CALLED, 0)
        + of_experts("called", CALLED, 4)
        + of_experts("with hooks", HOOKS, 0)
        + of_experts("with async_finish", HOOKS, 4),
        "Experts beside DeepEP",
    ),
}  # fmt: skip


def values(cell: str) -> List[str]:
    """The numbers of a cell: `0.242; **0.384**`, `DeepEP 1.2.1: 25.3; 27.5`, `413 ahead, 4 level, 0 behind`."""
    text = re.sub(r"\([^)]*\)", "", cell.replace("*", ""))
    text = re.sub(r"^[A-Z][^:]*: ", "", text)
    return re.findall(r"(?<![\w.])\d[\d,]*\.?\d*(?= |;|,|$)", text.replace(", ", "; "))


def tables(text: str) -> Dict[str, Table]:
    """{section: its table}."""
    result = {}
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        lines = [line for line in part.split("\n") if line.startswith("|")]
        if lines:
            result[part.split("\n")[0]] = read_table(lines)
    return result


def find(found: Dict[str, Table], row: Row) -> Dict[str, str]:
    figure, _, peer = row.figure.replace("`", "").partition("|")
    table = found[row.section]
    for cells in table.rows:
        record = dict(zip(table.heads, cells))
        if (
            cells[0] == figure
            and row.date in record["machine"]
            and record["peer" if "peer" in record else "peer: copy"].startswith(peer)
        ):
            return record
    sys.exit(
        f"headlines: results.md has no row '{row.figure}' in {row.section}: name another in docs/site/headlines.py"
    )


def picture(name: str, found: Dict[str, Table]) -> Tuple[str, str]:
    """The picture, and a sentence on where and when."""
    headline, rows, where = HEADLINES[name], [], set()
    for row in headline.rows:
        record = find(found, row)
        cells = [values(record[column]) for column, _ in row.places]
        try:
            rows.append([row.label] + [cell[place] for cell, (_, place) in zip(cells, row.places)])
        except IndexError:
            sys.exit(
                f"headlines: '{row.figure}' of {row.section} has too few numbers in results.md"
            )
        where.add((record["machine"], record["date"]))
    table = Table([""] + list(headline.names), rows)
    about = "; ".join(
        f"machine {machine}, {date}" if len(machine) < 3 else f"{machine}, {date}"
        for machine, date in sorted(where)
    )
    return draw(headline.kind, "", headline.axis, table).svg(), f"{headline.about} ({about})"


def draw_all(results: Path, folder: Path) -> Dict[str, str]:
    """Writes all; {name: sentence}."""
    found, said = tables(results.read_text(encoding="utf-8")), {}
    for name in HEADLINES:
        text, said[name] = picture(name, found)
        (folder / f"headline-{name}.svg").write_text(text, encoding="utf-8")
    return said


def show(text: str, said: Dict[str, str], before: str) -> str:
    """A page with its plots; `before` leads from it to their folder."""
    return MARK.sub(
        lambda mark: f"![plot]({before}headline-{mark.group(1)}.svg)\n\n*{said[mark.group(1)]}*",
        text,
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print("\n".join(draw_all(Path(sys.argv[1]), Path(sys.argv[2])).values()))
