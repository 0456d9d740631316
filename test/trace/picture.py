# SPDX-License-Identifier: BSD-3-Clause
"""picture.py FILE [--rounds N] [--skip N] [--from ROUTINE] >picture.svg: draws some rounds of a trace.

Rounds begin on PE 0 where a barrier ends, or where ROUTINE is called. A call within a call is a lower box."""

import argparse
import json
import sys

WIDTH, LANE, LEFT, TOP = 960, 64, 64, 24
COLOURS = {"put": "#3b7dd8", "get": "#7b52c7", "wait": "#d9822b", "quiet": "#8a9aa8", "experts": "#2e8b57", "other": "#c3ccd4"}
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


def draw(trace, args):
    events = trace["traceEvents"]
    begin, end = between(events, args)
    pes = sorted(pe["pe"] for pe in trace["otherData"]["pe"])
    hosts = {pe["pe"]: pe["first of host"] for pe in trace["otherData"]["pe"]}
    height = TOP + LANE * len(pes) + 56

    def x(ts):
        return LEFT + (ts - begin) / (end - begin) * (WIDTH - LEFT - 12)

    def y(pe):
        return TOP + LANE * pes.index(pe)

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
    for kind, word in WORDS.items():
        if kind not in shown:
            continue
        out.append('<rect x="%d" y="%d" width="14" height="12" fill="%s"/>' % (at, height - 34, COLOURS[kind]))
        out.append('<text x="%d" y="%d" fill="#222">%s</text>' % (at + 20, height - 24, word))
        at += 40 + 7 * len(word)
    errors = [pe["clock_error_ns"] for pe in trace["otherData"]["pe"]]
    out.append(
        '<text x="%d" y="%d" fill="#777" text-anchor="end">%.2f ms; clocks to %.1f us</text></svg>'
        % (WIDTH - 12, height - 24, (end - begin) / 1000, max(errors) / 1000)
    )
    return "\n".join(out)


def main():
    args = parse()
    with open(args.file, encoding="utf-8") as file:
        print(draw(json.load(file), args))


if __name__ == "__main__":
    sys.exit(main())
