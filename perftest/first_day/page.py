# SPDX-License-Identifier: BSD-3-Clause
"""Writes what efa-first-day measured: REPORT.json, and REPORT.html, one page with its plots, which needs no other file."""

import html
import json
import math

from first_day.job import ALONE
from plot_read import point

COLORS = "#1b6ca8 #c8553d #2f8f5b #8a5bb5 #b8860b #0f8b8d #a83279 #5a5a5a".split()
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 620, 330, 64, 30, 40
STYLE = """body { font: 15px sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 } td, th { border: 1px solid #ccc; padding: 3px 8px; text-align: left }
td.n { text-align: right } .emulated { background: #ffe2b8; border: 2px solid #d07000; padding: 8px 12px; font-weight: bold }
svg { background: #fff; border: 1px solid #ddd; margin: 6px 0; max-width: 100% }"""


def about(job):
    """What the JSON says besides steps and runs."""
    args, runs = job.args, job.report.runs
    first = runs[0] if runs else {}
    emulated = args.emulate or None
    return {
        "report": "efa-first-day",
        "state": job.state,
        "emulated": emulated,
        "note": f"EMULATED device, profile {emulated}: no figure is one of a NIC, PCIe or EFA" if emulated else "",
        "machine": job.machine,
        "hosts": args.hosts or ALONE,
        "pes_a_host": args.pes,
        "libfabric": first.get("libfabric", ""),
        "warpshmem_version": first.get("warpshmem_version", ""),
        "date": first.get("date", job.date),
        "not_run": [name for name in job.names if name not in {step["step"] for step in job.report.steps}],
    }


def series_of(runs):
    """{(step, unit): {label: [(bytes, median, high)]}}; rows of bandwidth tests in GB/s. Wrong data have no time."""
    steps = {}
    for run in runs:
        for row in run["rows"]:
            if row.get("p50") is None or row.get("bytes") is None or not row.get("right", True):
                continue
            rate = row.get("gb_per_s")
            unit = "GB/s" if rate else "us"
            label = f"{point(run, row, '').what}, {run['by']}"
            value = (row["bytes"], rate, rate) if rate else (row["bytes"], row["p50"], row["p99"])
            steps.setdefault((run["step"], unit), {}).setdefault(label, []).append(value)
    return steps


def text(x, y, words, more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="11" {more}>{html.escape(words)}</text>'


def size(number):
    for unit, factor in (("M", 1 << 20), ("K", 1 << 10)):
        if number >= factor and number % factor == 0:
            return f"{number // factor}{unit}"
    return str(number)


def figure(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


class Scale:
    """A logarithmic axis from the pixel of the least value to that of the greatest."""

    def __init__(self, values, first, last):
        low, high = min(values), max(values)
        if low == high:
            low, high = low / 2, high * 2
        self.low, self.first, self.step = math.log(low), first, (last - first) / (math.log(high) - math.log(low))

    def at(self, value):
        return self.first + (math.log(value) - self.low) * self.step


def decades(values):
    return [10.0 ** k for k in range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)]


def legend(labels, y):
    return [
        f'<rect x="{WIDTH + 14}" y="{y + 18 * i - 9}" width="10" height="10" fill="{COLORS[i % len(COLORS)]}"/>'
        + text(WIDTH + 30, y + 18 * i, label)
        for i, label in enumerate(labels)
    ]


def lines_of(series, unit):
    """The parts of a plot of lines: medians, and dotted the p99."""
    xs = sorted({max(x, 1) for line in series.values() for x, _, _ in line})
    ys = [y for line in series.values() for _, median, high in line for y in (median, high) if y > 0]
    marks = decades(ys)
    across, up = Scale(xs, LEFT + 10, WIDTH - 10), Scale(marks, HEIGHT - BOTTOM, TOP)
    parts = [text(4, TOP - 14, f"{unit} (dots: median, dotted: p99)" if unit == "us" else unit)]
    for mark in marks:
        y = up.at(mark)
        parts += [f'<line x1="{LEFT}" x2="{WIDTH}" y1="{y:.0f}" y2="{y:.0f}" stroke="#ddd"/>', text(6, y + 4, f"{mark:g}")]
    parts += [text(across.at(x), HEIGHT - BOTTOM + 16, size(x), 'text-anchor="middle"') for x in xs]
    parts.append(text(WIDTH - 40, HEIGHT - 8, "bytes"))
    for i, line in enumerate(series.values()):
        color = COLORS[i % len(COLORS)]
        for place, dash in ((1, ""), (2, ' stroke-dasharray="2 4"')):
            points = [(across.at(max(value[0], 1)), up.at(value[place])) for value in sorted(line) if value[place] > 0]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{color}"{dash}/>')
            if place == 1:
                parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points]
    return parts


def bars_of(series, unit):
    """The parts of a plot of rows of one size each."""
    values = [line[0][1] for line in series.values()]
    parts = [text(4, TOP - 14, f"{unit}, medians" if unit == "us" else unit)]
    step = (HEIGHT - TOP - 10) / len(values)
    for i, value in enumerate(values):
        width = (WIDTH - LEFT - 70) * value / max(values)
        y, color = TOP + i * step, COLORS[i % len(COLORS)]
        parts.append(f'<rect x="{LEFT}" y="{y:.0f}" width="{width:.0f}" height="{step * 0.7:.0f}" fill="{color}"/>')
        parts.append(text(LEFT + width + 6, y + step / 2, figure(value)))
    return parts


def plot(title, series, unit, emulated):
    single = all(len(line) == 1 for line in series.values())
    parts = (bars_of if single else lines_of)(series, unit) + legend(series, TOP + 8)
    if emulated:
        parts.append(text(WIDTH - 180, TOP - 14, "EMULATED: no figure of a NIC", 'fill="#d07000" font-weight="bold"'))
    height = max(HEIGHT, TOP + 20 + 18 * len(series))
    return (f'<svg role="img" aria-label="{html.escape(title)}" viewBox="0 0 {WIDTH + 380} {height}" '
            f'width="{WIDTH + 380}" height="{height}">{"".join(parts)}</svg>')


def table(heads, rows):
    head = "".join(f"<th>{html.escape(word)}</th>" for word in heads)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(word))}</td>" for word in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def steps_table(data):
    """With what to look at where a step saw something else; steps that have not run are named."""
    rows = []
    for s in data["steps"]:
        look = f"; look at {s['look_at']}" if "look_at" in s else ""
        rows.append((s["step"], s["expected"], s["verdict"], s["seen"] + look, s.get("seconds", "")))
    rows += [(name, "", "not run", "", "") for name in data["not_run"]]
    return table(["step", "expected", "verdict", "seen", "seconds"], rows)


def wrong_rows(runs):
    return [(run["step"], run["by"], f"{row['op']} {row.get('bytes', '')} B") for run in runs for row in run["rows"]
            if not row.get("right", True)]


def page(data):
    emulated = data["emulated"]
    parts = [f"<!DOCTYPE html><meta charset='utf-8'><title>SHMEM over EFA: first figures</title><style>{STYLE}</style>",
             "<h1>SHMEM over EFA: first figures</h1>"]
    if emulated:
        parts.append(f"<p class='emulated'>{html.escape(data['note'])}</p>")
    parts.append(f"<p><b>{html.escape(data['state'])}</b></p>")
    known = {"machine": "machine", "hosts": "hosts", "pes_a_host": "PEs a host", "libfabric": "libfabric",
             "warpshmem_version": "warpshmem", "date": "date"}
    parts.append(table(["what", "value"], [(title, data[name]) for name, title in known.items()]))
    parts.append("<h2>Steps</h2>")
    parts.append(steps_table(data))
    wrong = wrong_rows(data["runs"])
    if wrong:
        parts.append("<h2>Wrong data</h2>" + table(["step", "by", "row"], wrong))
    for (step, unit), series in series_of(data["runs"]).items():
        pes = sorted({str(run["npes"]) for run in data["runs"] if run["step"] == step and run.get("npes")})
        title = f"{step}, {unit}, {' and '.join(pes) or '?'} PEs" + (" (emulated)" if emulated else "")
        parts.append(f"<h2>{html.escape(title)}</h2>" + plot(title, series, unit, emulated))
        rows = [(label, size(x), figure(median), figure(high) if unit == "us" else "")
                for label, line in series.items() for x, median, high in line]
        heads = ["what", "bytes", "us, median" if unit == "us" else unit, "p99" if unit == "us" else ""]
        parts.append("<details><summary>Figures</summary>" + table(heads, rows) + "</details>")
    parts.append("<h2>Commands</h2>" + table(["step", "by", "command"],
                                             [(r["step"], r["by"], r.get("command", "")) for r in data["runs"]]))
    return "\n".join(parts) + "\n"


def write(job):
    """Both files, beside the report; their paths."""
    data = {**about(job), "steps": job.report.steps, "runs": job.report.runs}
    paths = [f"{job.report.path}.json", f"{job.report.path}.html"]
    for path, content in zip(paths, (json.dumps(data, indent=1) + "\n", page(data))):
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    return paths
