# SPDX-License-Identifier: BSD-3-Clause
"""Draws what SHMEM_STATS_FILE writes: who has sent bytes to whom, and who has waited for whom."""

import json
from html import escape
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional

KEY = "warpshmem_statistics"
FIGURES = (
    ("bytes_to", "bytes", "to PE"),
    ("waited_ns_for", "ms of waiting", "for PE"),
)
SIDE, EDGE, HEAD = 360, 60, 70  # of a matrix, its left and lower rim, and what stands above


class Matrix(NamedTuple):
    name: str
    to: str
    rows: List[List[float]]  # [of PE][to or for PE]

    def sums(self) -> List[float]:
        return [sum(column) for column in zip(*self.rows)]


def read(path: str) -> Optional[Dict[str, Any]]:
    """None: the file is of another kind. Raises OSError, and ValueError where it is not whole."""
    text = Path(path).read_bytes()
    if KEY.encode() not in text[:64]:
        return None
    data = json.loads(text)
    n = data["n_pes"]
    numbers = [pe["pe"] for pe in data["pes"]]
    if data[KEY] != 1 or numbers != sorted(set(numbers) & set(range(n))):
        raise ValueError("its PEs are not complete, or it is of a later version")
    return data


def matrices(data: Dict[str, Any]) -> List[Matrix]:
    found = []
    for field, name, to in FIGURES:
        scale = 1e-6 if field.endswith("_ns_for") else 1
        rows = [[0.0] * data["n_pes"] for _ in range(data["n_pes"])]  # of PEs that have failed: zeros
        for pe in data["pes"]:
            rows[pe["pe"]] = [value * scale for value in pe[field]]
        found.append(Matrix(name, to, rows))
    return found


def most_awaited(data: Dict[str, Any]) -> str:
    waits = matrices(data)[1].sums()
    late = max(range(len(waits)), key=waits.__getitem__)
    if not waits[late]:
        return "nobody was waited for by number"
    return f"waited for longest: PE {late}, {waits[late]:.3f} ms of all PEs"


def print_text(data: Dict[str, Any]) -> None:
    print(f"# job {data['job']}, {data['n_pes']} PEs; {most_awaited(data)}")
    for matrix in matrices(data):
        print(f"# {matrix.name}: rows are PEs, columns {matrix.to}")
        print("#     " + "".join(f"{pe:>12}" for pe in range(data["n_pes"])))
        for pe, row in enumerate(matrix.rows):
            print(f"{pe:>6}" + "".join(f"{value:>12.3f}" for value in row))
        print("#  sum" + "".join(f"{value:>12.3f}" for value in matrix.sums()))


def color(value: float, most: float) -> str:
    """From white to dark red."""
    part = (value / most) ** 0.5 if most else 0
    return f"rgb({255 - round(95 * part)},{255 - round(235 * part)},{255 - round(225 * part)})"


def text_at(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>'


def draw_matrix(matrix: Matrix, left: float) -> List[str]:
    n = len(matrix.rows)
    cell, most = SIDE / n, max((max(row) for row in matrix.rows), default=0)
    step = max(1, -(-n // 16))
    parts = [text_at(left + SIDE / 2, HEAD - 28, f"{matrix.name} (darkest: {most:.6g})")]
    for pe, row in enumerate(matrix.rows):
        y = HEAD + pe * cell
        if pe % step == 0:
            parts.append(text_at(left - 14, y + cell / 2 + 4, str(pe)))
            parts.append(text_at(left + (pe + 0.5) * cell, HEAD - 6, str(pe)))
        for other, value in enumerate(row):
            parts.append(
                f'<rect x="{left + other * cell:.2f}" y="{y:.2f}" width="{cell:.2f}" height="{cell:.2f}" '
                f'fill="{color(value, most)}"><title>PE {pe} {matrix.to} {other}: {value:.6g} {matrix.name}'
                "</title></rect>"
            )
    parts.append(
        f'<rect x="{left}" y="{HEAD}" width="{SIDE}" height="{SIDE}" fill="none" stroke="gray"/>'
    )
    parts.append(text_at(left + SIDE / 2, HEAD + SIDE + 18, f"rows: of PE; columns: {matrix.to}"))
    return parts


def draw(data: Dict[str, Any], out: str) -> None:
    """An SVG, with the figure of each cell as its title. Raises OSError."""
    width, height = 2 * (SIDE + EDGE) + 20, HEAD + SIDE + EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12" text-anchor="middle">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        text_at(
            width / 2, 20, f"job {data['job']}, {data['n_pes']} PEs; {most_awaited(data)}", 'font-size="14"'
        ),
    ]
    for index, matrix in enumerate(matrices(data)):
        parts += draw_matrix(matrix, EDGE - 10 + index * (SIDE + EDGE))
    Path(out).write_text("\n".join(parts + ["</svg>\n"]), encoding="utf-8")
