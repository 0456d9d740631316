# SPDX-License-Identifier: BSD-3-Clause
"""Plots of tables: a line `<!-- plot lines: X-AXIS; Y-AXIS -->` before a table asks for one.

lines: the columns are places on the x axis, each row is a line; both axes are logarithmic.
bars: each row is a group of bars, one for each column that holds numbers; ratios are left out.
"""

import re
from pathlib import Path
from typing import Any, List, NamedTuple, Optional

MARK = re.compile(r"^<!-- plot (lines|bars): ([^;]*); (.*) -->$")
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class Table(NamedTuple):
    heads: List[str]
    rows: List[List[str]]


def number(text: str) -> Optional[float]:
    """`14,300`, `0.138 (older version)`, `64 KiB`, the first of `131; 141`."""
    found = re.match(r"\s*([\d,]*\.?\d+) ?(KiB|MiB|GiB)?(?:[\s;:(]|$)", text)
    return float(found.group(1).replace(",", "")) * UNITS[found.group(2) or ""] if found else None


def read_table(lines: List[str]) -> Table:
    cells = [
        [cell.strip().replace("`", "") for cell in line.strip().strip("|").split("|")]
        for line in lines
        if line.startswith("|")
    ]
    return Table(cells[0], cells[2:])


def draw_lines(axes: Any, table: Table) -> None:
    places = [number(head) for head in table.heads[1:]]
    for row in table.rows:
        points = [(x, number(cell)) for x, cell in zip(places, row[1:])]
        points = [(x, y) for x, y in points if x is not None and y is not None]
        axes.plot([x for x, _ in points], [y for _, y in points], marker="o", label=row[0])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(
        [x for x in places if x], [head for head, x in zip(table.heads[1:], places) if x]
    )
    axes.minorticks_off()
    axes.grid(True, alpha=0.3)
    axes.legend()


def draw_bars(axes: Any, table: Table) -> None:
    rows = [row for row in table.rows if not row[0].endswith("ratio")]
    columns = [
        at
        for at, head in enumerate(table.heads)
        if at > 0
        and head not in ("ratio", "date")
        and any(number(row[at]) is not None for row in rows)
    ]
    high = 0.8 / len(columns)
    for at, column in enumerate(columns):
        found = [number(row[column]) for row in rows]
        places = [y + at * high for y, value in enumerate(found) if value is not None]
        values = [value for value in found if value is not None]
        axes.barh(places, values, high, label=table.heads[column])
    axes.set_yticks([y + 0.4 - high / 2 for y in range(len(rows))], [row[0] for row in rows])
    axes.invert_yaxis()
    axes.legend()


def draw(kind: str, x_axis: str, y_axis: str, table: Table, out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4 if kind == "lines" else 1 + 0.7 * len(table.rows)))
    (draw_lines if kind == "lines" else draw_bars)(axes, table)
    axes.set_xlabel(x_axis)
    axes.set_ylabel(y_axis)
    figure.tight_layout()
    figure.savefig(out)
    pyplot.close(figure)


def draw_page(page: Path) -> int:
    """Puts a picture behind each table that asks for one. Returns how many."""
    lines, out, count = page.read_text(encoding="utf-8").split("\n"), [], 0
    at = 0
    while at < len(lines):
        found = MARK.match(lines[at])
        if not found:
            out.append(lines[at])
            at += 1
            continue
        end = at + 1
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        count += 1
        name = f"{page.stem}-{count}.svg"
        kind, x_axis, y_axis = found.groups()
        draw(kind, x_axis, y_axis, read_table(lines[at + 1 : end]), page.with_name(name))
        out += lines[at + 1 : end] + ["", f"![plot of the table above]({name})"]
        at = end
    if count:
        page.write_text("\n".join(out), encoding="utf-8")
    return count


def draw_all(folder: Path) -> Optional[int]:
    """How many plots the pages below a folder got; None where matplotlib is missing for them."""
    try:
        return sum(draw_page(page) for page in sorted(folder.rglob("*.md")))
    except ImportError:
        return None
