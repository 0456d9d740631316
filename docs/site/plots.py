# SPDX-License-Identifier: BSD-3-Clause
"""Plots of tables: a line `<!-- plot KIND: X-AXIS; Y-AXIS -->` before a table asks for one.

lines: the columns are places on the x axis, each row is a line; both axes are logarithmic.
bars: each row is a group of bars, one for each column that holds numbers; ratios are left out.

Others make plots of tables that no page has (headlines.py):
pairs: as bars, but the longest bar of each row has the whole width: rows of different sizes.
shares: each row is one bar, divided as the numbers of its columns are.
"""

import math
import re
from pathlib import Path
from typing import List, NamedTuple, Optional, Sequence, Tuple

from svg import SERIES, WIDTH, Drawing, width

MARK = re.compile(r"^<!-- plot (lines|bars): ([^;]*); (.*) -->$")
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
LEFT, RIGHT = 64, WIDTH - 20


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


def legend(names: List[str]) -> Tuple[List[Tuple[float, float]], float]:
    """Places of the names in lines of the width that there is, and the height of all."""
    places, x, y = [], 16.0, 22.0
    for name in names:
        if x > 16 and x + 24 + width(name) > RIGHT:
            x, y = 16.0, y + 20
        places.append((x, y))
        x += 40 + width(name)
    return places, y + 14


SHARES = (0, 6, 1)  # colours that say better, alike, worse


def draw_legend(pic: Drawing, names: List[str], places: List[Tuple[float, float]],
                colours: Sequence[int] = range(len(SERIES))) -> None:  # fmt: skip
    for at, (x, y) in enumerate(places):
        pic.bar(x, y - 10, 12, 12, f"bar{colours[at % len(colours)]}")
        pic.text(x + 18, y, names[at])


def short(value: float) -> str:
    """As one writes it below an axis."""
    if value >= 1e6:
        return f"{value / 1e6:g} M"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:g}"


def draw_lines(table: Table, x_axis: str, y_axis: str) -> Drawing:
    names = [row[0] for row in table.rows]
    places, top = legend(names)
    xs = [number(head) for head in table.heads[1:]]
    values = [[number(cell) for cell in row[1:]] for row in table.rows]
    known = [value for row in values for value in row if value]
    low, high = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    first, last = (math.log(edge) for edge in (min(x for x in xs if x), max(x for x in xs if x)))
    top, bottom = top + 20, top + 280
    pic = Drawing(
        int(bottom + 48), f"{', '.join(names)} by {x_axis}", f"{y_axis}, both axes logarithmic"
    )
    draw_legend(pic, names, places)

    def across(x: float) -> float:
        return LEFT + 10 + (math.log(x) - first) / (last - first) * (RIGHT - LEFT - 30)

    def down(y: float) -> float:
        return bottom - (math.log10(y) - low) / (high - low) * (bottom - top)

    for decade in range(low, high + 1):
        pic.line([(LEFT, down(10**decade)), (RIGHT, down(10**decade))])
        pic.text(LEFT - 6, down(10**decade) + 5, short(10**decade), "more", "end")
    free = 0.0
    for head, x in zip(table.heads[1:], xs):
        if x and across(x) - width(head, "more") / 2 >= free:
            pic.text(across(x), bottom + 20, head, "more", "middle")
            free = across(x) + width(head, "more") / 2 + 6
    pic.text(RIGHT, bottom + 40, f"{x_axis}; {y_axis}", "more", "end")
    for at, row in enumerate(values):
        points = [(across(x), down(y)) for x, y in zip(xs, row) if x and y]
        pic.line(points, f"line{at % len(SERIES)}")
        for x, y in points:
            pic.dot(x, y, f"bar{at % len(SERIES)}")
    return pic


def numbers(table: Table) -> Tuple[List[str], List[List[str]]]:
    """Heads of the columns that hold numbers, and rows of their cells; the first is the label."""
    rows = [row for row in table.rows if not row[0].endswith("ratio")]
    columns = [
        at
        for at, head in enumerate(table.heads)
        if at > 0
        and head not in ("ratio", "date")
        and any(number(row[at]) is not None for row in rows)
    ]
    return [table.heads[at] for at in columns], [
        [row[0]] + [row[at] for at in columns] for row in rows
    ]


def draw_bars(table: Table, y_axis: str, kind: str = "bars") -> Drawing:
    """A label above each group, so that long ones have room."""
    names, rows = numbers(table)
    places, y = legend(names)
    most = max(number(cell) or 0 for row in rows for cell in row[1:])
    group = 30 + 18 * len(names)
    pic = Drawing(int(y + group * len(rows) + 26), ", ".join(names), y_axis)
    draw_legend(pic, names, places)
    for row in rows:
        pic.text(16, y + 16, row[0])
        most = max(number(cell) or 0 for cell in row[1:]) if kind == "pairs" else most
        for at, cell in enumerate(row[1:]):
            value, top = number(cell), y + 22 + 18 * at
            if value is None:
                continue
            long = value / most * (RIGHT - 16 - 70)
            pic.bar(16, top, long, 14, f"bar{at % len(SERIES)}")
            pic.text(16 + long + 6, top + 12, short(value), "more")
        y += group
    pic.text(RIGHT, y + 14, y_axis, "more", "end")
    return pic


def draw_shares(table: Table, y_axis: str) -> Drawing:
    names, rows = numbers(table)
    places, y = legend(names)
    pic = Drawing(int(y + 56 * len(rows) + 26), ", ".join(names), y_axis)
    draw_legend(pic, names, places, SHARES)
    for row in rows:
        pic.text(16, y + 16, row[0])
        values, x = [number(cell) or 0 for cell in row[1:]], 16.0
        for at, value in enumerate(values):
            if value:
                long = value / sum(values) * (RIGHT - 16)
                pic.bar(x, y + 24, long - 1, 18, f"bar{SHARES[at]}")
                if long > 36:
                    pic.parts.append(
                        f'<text class="hop" x="{x + long / 2:.1f}" y="{y + 37:g}">{value:g}</text>'
                    )
                x += long
        y += 56
    pic.text(RIGHT, y + 14, y_axis, "more", "end")
    return pic


def draw(kind: str, x_axis: str, y_axis: str, table: Table) -> Drawing:
    if kind == "lines":
        return draw_lines(table, x_axis, y_axis)
    if kind == "shares":
        return draw_shares(table, y_axis)
    return draw_bars(table, f"{x_axis}; {y_axis}" if x_axis else y_axis, kind)


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
        picture = draw(kind, x_axis, y_axis, read_table(lines[at + 1 : end]))
        page.with_name(name).write_text(picture.svg(), encoding="utf-8")
        out += lines[at + 1 : end] + ["", f"![plot of the table above]({name})"]
        at = end
    if count:
        page.write_text("\n".join(out), encoding="utf-8")
    return count


def draw_all(folder: Path) -> int:
    """How many plots the pages below a folder got."""
    return sum(draw_page(page) for page in sorted(folder.rglob("*.md")))
