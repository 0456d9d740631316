# SPDX-License-Identifier: BSD-3-Clause
"""picture.py FILE [--rounds N] [--skip N] [--from ROUTINE] >picture.svg: draws some rounds of a trace.

Rounds begin on PE 0 where a barrier ends, or where ROUTINE is called. A call within a call is a lower box. Phases of kernels
are in a row below the calls."""

import argparse
import json
import sys

WIDTH, LANE, LEFT, TOP = 960, 64, 64, 24
COLOURS = {"put": "#3b7dd8", "get": "#7b52c7", "wait": "#d9822b", "quiet": "#8a9aa8", "experts": "#2e8b57", "other": "#c3ccd4"}
PHASES = ["#1b7837", "#7fbf7b", "#762a83", "#d9822b", "#af8dc3", "#2e8b57", "#3b7dd8", "#9ecae1", "#b3261e", "#8a9aa8"]
WORDS = {"put": "put with signal", "wait": "wait", "quiet": "barrier, flush", "experts": "dispatch and combine", "other": "other calls"}


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--skip", type=int, default=4)
    parser.add_argument("--from", dest="routine")
    return parser.parse_args()


def between(events, args):
    """Return when the first of these rounds begins and when the one after the last does."""
    name = args.routine or "shmem_barrier_all"
    begins = [
        e["ts"] + (0 if args.routine else e["dur"])
        for e in events
        if e["ph"] == "X" and e["pid"] == 0 and e["name"] == name
    ]
    return begins[args.skip], begins[args.skip + args.rounds]


def by_depth(events):
    """Return the slices, outer ones first, each with the number of slices of its thread that hold it."""
    slices = []
    open_until = {}
    for event in sorted((e for e in events if e["ph"] == "X"), key=lambda e: (e["ts"], -e["dur"])):
        ends = open_until.setdefault((event["pid"], event["tid"]), [])
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        slices.append((event, len(ends)))
        ends.append(event["ts"] + event["dur"])
    return slices


def phases_of(events, begin, end):
    """Return the names of kernels' phases that are in sight, in the order of their first ones."""
    gpu = {
        (e["pid"], e["tid"])
        for e in events
        if e["ph"] == "M" and e["name"] == "thread_name" and e["args"]["name"].startswith("GPU")
    }
    seen = [
        (e["ts"], e["name"])
        for e in events
        if e["ph"] == "X"
        and (e["pid"], e["tid"]) in gpu
        and begin <= e["ts"] <= end
        and e["name"] not in ("dispatch", "combine")
    ]
    return list(dict.fromkeys(name for _, name in sorted(seen)))


def draw(trace, args):
    events = trace["traceEvents"]
    begin, end = between(events, args)
    pes = sorted(pe["pe"] for pe in trace["otherData"]["pe"])
    hosts = {pe["pe"]: pe["first of host"] for pe in trace["otherData"]["pe"]}
    phases = phases_of(events, begin, end)
    lane = LANE + (28 if phases else 0)
    height = TOP + lane * len(pes) + 56 + (20 if phases else 0)

    def x(ts):
        return LEFT + (ts - begin) / (end - begin) * (WIDTH - LEFT - 12)

    def y(pe):
        return TOP + lane * pes.index(pe)

    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">'
        % (WIDTH, height),
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#b3261e"/></marker></defs>',
        '<rect width="%d" height="%d" fill="#ffffff"/>' % (WIDTH, height),
    ]
    for pe in pes:
        out.append('<text x="8" y="%d" fill="#222">PE %d</text>' % (y(pe) + 20, pe))
        out.append('<text x="8" y="%d" fill="#777" font-size="10">host %d</text>' % (y(pe) + 34, hosts[pe]))
        out.append(
            '<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="#ddd"/>' % (LEFT, WIDTH - 12, y(pe) + 16, y(pe) + 16)
        )
    for event, depth in by_depth(events):
        if event["ts"] + event["dur"] < begin or event["ts"] > end:
            continue
        left, right = max(x(event["ts"]), LEFT), min(x(event["ts"] + event["dur"]), WIDTH - 12)
        if event["cat"] == "library":
            if event["name"] in phases:
                out.append(
                    '<rect x="%.1f" y="%d" width="%.1f" height="16" fill="%s"><title>%s, %.1f us</title></rect>'
                    % (
                        left,
                        y(event["pid"]) + 38,
                        max(right - left, 0.8),
                        PHASES[phases.index(event["name"]) % len(PHASES)],
                        event["name"],
                        event["dur"],
                    )
                )
            continue
        out.append(
            '<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"><title>%s, %.1f us</title></rect>'
            % (
                left,
                y(event["pid"]) + 4 + 8 * min(depth, 2),
                max(right - left, 0.8),
                24 - 8 * min(depth, 2),
                COLOURS[event["cat"]],
                event["name"],
                event["dur"],
            )
        )
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    for event in events:
        if event["ph"] != "f" or not begin <= event["ts"] <= end:
            continue
        sent = begins[event["id"]]
        down = pes.index(sent["pid"]) < pes.index(event["pid"])
        out.append(
            '<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#b3261e" stroke-width="0.9" marker-end="url(#tip)"/>'
            % (
                max(x(sent["ts"]), LEFT),
                y(sent["pid"]) + (28 if down else 4),
                x(event["ts"]),
                y(event["pid"]) + (4 if down else 28),
            )
        )
    at = LEFT
    shown = {e["cat"] for e in events if e["ph"] == "X" and begin <= e["ts"] <= end}
    down = 20 if phases else 0
    for kind, word in WORDS.items():
        if kind not in shown:
            continue
        out.append('<rect x="%d" y="%d" width="14" height="12" fill="%s"/>' % (at, height - 34 - down, COLOURS[kind]))
        out.append('<text x="%d" y="%d" fill="#222">%s</text>' % (at + 20, height - 24 - down, word))
        at += 40 + 7 * len(word)
    at = LEFT
    for i, word in enumerate(phases):
        out.append('<rect x="%d" y="%d" width="12" height="12" fill="%s"/>' % (at, height - 14, PHASES[i % len(PHASES)]))
        out.append('<text x="%d" y="%d" fill="#222" font-size="10">%s</text>' % (at + 15, height - 4, word))
        at += 24 + int(5.2 * len(word))
    errors = [pe["clock_error_ns"] for pe in trace["otherData"]["pe"]]
    out.append(
        '<text x="%d" y="%d" fill="#777" text-anchor="end">%.2f ms; clocks to %.1f us</text></svg>'
        % (WIDTH - 12, height - 24 - down, (end - begin) / 1000, max(errors) / 1000)
    )
    return "\n".join(out)


def main():
    args = parse()
    with open(args.file, encoding="utf-8") as file:
        print(draw(json.load(file), args))


if __name__ == "__main__":
    sys.exit(main())
