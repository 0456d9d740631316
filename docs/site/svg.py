# SPDX-License-Identifier: BSD-3-Clause
"""A small SVG drawing, in colours of light and of dark pages: boxes, text, arrows, numbered steps.

Drawings are 640 units wide, with text of 14, so that a phone shows them legibly. Text that would not
fit into its box is an error.
"""

import re
from typing import List, Sequence, Tuple
from xml.sax.saxutils import escape

WIDTH = 640
SIZE = 14
FONT = "system-ui, 'DejaVu Sans', Arial, sans-serif"
# class: (light, dark)
COLOURS = {
    ".page": ("fill: #ffffff", "fill: #171b22"),
    ".room": ("fill: #eef1f6; stroke: #5b6778", "fill: #242b36; stroke: #8c98a9"),
    ".part": ("fill: #ffffff; stroke: #8a95a5", "fill: #171b22; stroke: #6d7989"),
    ".symmetric": ("fill: #cfe3fa; stroke: #1862b8", "fill: #1d3f66; stroke: #6db0ff"),
    ".kernel": ("fill: #fbe3d1; stroke: #b4500e", "fill: #5a3214; stroke: #ff9f5a"),
    ".out": ("fill: none; stroke: #5b6778", "stroke: #8c98a9"),
    "text": ("fill: #1b222c", "fill: #e6eaf0"),
    ".more": ("fill: #4a5563", "fill: #b3bdca"),
    ".host": ("stroke: #1862b8", "stroke: #6db0ff"),
    ".gpu": ("stroke: #b4500e", "stroke: #ff9f5a"),
    ".plain": ("stroke: #5b6778", "stroke: #8c98a9"),
    ".hosts": ("fill: #1862b8", "fill: #6db0ff"),
    ".gpus": ("fill: #b4500e", "fill: #ff9f5a"),
    ".plains": ("fill: #5b6778", "fill: #8c98a9"),
    ".grid": ("stroke: #d5dae2", "stroke: #3a4350"),
    ".hop": ("fill: #ffffff", "fill: #10141a"),
}
# Of plots: the colour of each line or bar, for light and dark pages.
SERIES = (
    ("#1862b8", "#6db0ff"),
    ("#b4500e", "#ff9f5a"),
    ("#2f8f5b", "#63c994"),
    ("#8a3fa8", "#cf94ee"),
    ("#8f6a00", "#e6c04d"),
    ("#c2185b", "#ff7aa8"),
    ("#546e7a", "#a7bac6"),
)
for number, (light, dark) in enumerate(SERIES):
    COLOURS[f".bar{number}"] = (f"fill: {light}", f"fill: {dark}")
    COLOURS[f".line{number}"] = (f"stroke: {light}", f"stroke: {dark}")
ALWAYS = (".page", ".hosts", ".gpus", ".plains")  # of arrows' heads too
FIXED = (
    "[class^=line] { fill: none; stroke-width: 2.2; }",
    ".host, .gpu, .plain { fill: none; stroke-width: 2.2; }",
    ".out { stroke-dasharray: 5 4; }",
    ".file { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 13px; }",
    ".more { font-size: 13px; }",
    ".hop { font-size: 12px; font-weight: bold; text-anchor: middle; }",
)


def width(text: str, kind: str = "") -> float:
    """About how wide a text is; fonts differ, so rather more than less."""
    if kind == "file":
        return 7.9 * len(text)
    return (7.0 if kind == "more" else 7.5) * len(text)


def fits(text: str, room: float, kind: str = "") -> None:
    if width(text, kind) > room:
        raise ValueError(f"{text!r} is {width(text, kind):.0f} wide and has {room:.0f}")


class Drawing:
    """What is drawn later lies above."""

    def __init__(self, height: int, title: str, about: str) -> None:
        self.height, self.title, self.about = height, title, about
        self.parts: List[str] = []

    def box(self, x: float, y: float, w: float, h: float, kind: str = "room",
            lines: Sequence[str] = (), more: Sequence[str] = ()) -> None:  # fmt: skip
        """Its lines stand in the middle, those of `more` smaller."""
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="4"/>'
        )
        rows = [(line, "") for line in lines] + [(line, "more") for line in more]
        top = y + h / 2 - (len(rows) - 1) * 9 + 5
        for at, (line, style) in enumerate(rows):
            fits(line, w - 6, style)
            self.text(x + w / 2, top + at * 18, line, style, "middle")

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        left = {"start": x, "middle": x - width(text, kind) / 2, "end": x - width(text, kind)}[
            anchor
        ]
        fits(text, WIDTH - 4 - max(left, 4), kind)
        style = f' class="{kind}"' if kind else ""
        place = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.parts.append(f'<text{style} x="{x:g}" y="{y:g}"{place}>{escape(text)}</text>')

    def arrow(self, points: Sequence[Tuple[float, float]], kind: str = "host") -> None:
        way = " ".join(f"{'ML'[at > 0]}{x:g} {y:g}" for at, (x, y) in enumerate(points))
        self.parts.append(f'<path class="{kind}" d="{way}" marker-end="url(#{kind}-end)"/>')

    def line(self, points: Sequence[Tuple[float, float]], kind: str = "grid") -> None:
        way = " ".join(f"{'ML'[at > 0]}{x:g} {y:g}" for at, (x, y) in enumerate(points))
        self.parts.append(f'<path class="{kind}" d="{way}"/>')

    def bar(self, x: float, y: float, w: float, h: float, kind: str) -> None:
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{max(w, 1):.1f}" height="{h:g}"/>'
        )

    def dot(self, x: float, y: float, kind: str) -> None:
        self.parts.append(f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="4"/>')

    def hop(self, x: float, y: float, text: str, kind: str = "hosts") -> None:
        """A numbered step."""
        self.parts.append(f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="9"/>')
        self.parts.append(f'<text class="hop" x="{x:g}" y="{y + 4:g}">{text}</text>')

    def steps(self, x: float, y: float, texts: Sequence[Tuple[str, str, str]]) -> None:
        """A line for each (number, kind, text)."""
        for at, (number, kind, text) in enumerate(texts):
            self.hop(x, y + 24 * at, number, kind)
            self.text(x + 16, y + 24 * at + 5, text)

    def svg(self) -> str:
        body = "\n".join(self.parts)
        used = {
            name: value
            for name, value in COLOURS.items()
            if name[0] != "." or re.search(rf'class="{name[1:]}"', body) or name in ALWAYS
        }
        light = [f"{name} {{ {value[0]}; }}" for name, value in used.items()]
        dark = [f"{name} {{ {value[1]}; }}" for name, value in used.items()]
        markers = [
            f'<marker id="{kind}-end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9"'
            f' markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 z" class="{kind}s"/></marker>'
            for kind in ("host", "gpu", "plain")
            if f"#{kind}-end" in body
        ]
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" role="img"',
                f'     aria-labelledby="title about" font-family="{FONT}" font-size="{SIZE}">',
                f'<title id="title">{escape(self.title)}</title>',
                f'<desc id="about">{escape(self.about)}</desc>',
                "<style>",
                *light,
                *FIXED,
                "@media (prefers-color-scheme: dark) {",
                *dark,
                "}",
                "</style>",
                *(["<defs>", *markers, "</defs>"] if markers else []),
                f'<rect class="page" width="{WIDTH}" height="{self.height}" rx="8"/>',
                body,
                "</svg>",
                "",
            ]
        )
