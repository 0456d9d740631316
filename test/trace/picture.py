# SPDX-License-Identifier: BSD-3-Clause
"""picture.py FILE [--rounds N] [--skip N] [--from ROUTINE] >picture.svg: draws some rounds of a trace.

Rounds begin on PE 0 where a barrier ends, or where the first PE begins ROUTINE, which may be a kernel's "dispatch". A call
within a call is a lower box. Phases of kernels are in a row below the calls."""

import argparse
import collections
import json
import sys

WIDTH, LANE, LEFT, TOP = 960, 64, 64, 24
COLOURS = {"put": "#3b7dd8", "get": "#7b52c7", "wait": "#d9822b", "quiet": "#8a9aa8", "experts": "#2e8b57", "other": "#c3ccd4"}
PHASES = ["#1b7837", "#7fbf7b", "#762a83", "#d9822b", "#af8dc3", "#2e8b57", "#3b7dd8", "#9ecae1", "#b3261e", "#8a9aa8"]
WORDS = {"put": "put with signal", "wait": "wait", "quiet": "barrier, flush", "experts": "dispatch and combine", "other": "other calls"}
KERNELS = ("dispatch", "combine")


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--skip", type=int, default=4)
    parser.add_argument("--from", dest="routine")
    return parser.parse_args()


def between(events, args):
    """Return when the first of these rounds begins and when the one after the last does."""
    begins = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "X" and args.routine and e["name"] == args.routine:
            begins[e["pid"]].append(e["ts"])
        if e["ph"] == "X" and not args.routine and e["pid"] == 0 and e["name"] == "shmem_barrier_all":
            begins[0].append(e["ts"] + e["dur"])
    return tuple(min(sorted(of_pe)[i] for of_pe in begins.values()) for i in (args.skip, args.skip + args.rounds))


def by_depth(slices):
    """Return the slices, outer ones first, each with the number of slices of its thread that hold it."""
    placed = []
    open_until = {}
    for event in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        ends = open_until.setdefault((event["pid"], event["tid"]), [])
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        placed.append((event, len(ends)))
        ends.append(event["ts"] + event["dur"])
    return placed


class Picture:
    """Rows of PEs: calls of the host, where there are some, and under them phases of kernels, where there are some."""

    def __init__(self, trace, args):
        events = trace["traceEvents"]
        self.begin, self.end = between(events, args)
        self.pes = trace["otherData"]["pe"]
        self.hosts = {pe["pe"]: pe["first of host"] for pe in self.pes}
        self.rows = sorted(self.hosts)
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        self.gpu = {thread: name for thread, name in names.items() if name.startswith("GPU")}
        seen = [e for e in events if e["ph"] == "X" and e["ts"] + e["dur"] >= self.begin and e["ts"] <= self.end]
        kernels = [e for e in seen if (e["pid"], e["tid"]) in self.gpu and e["name"] not in KERNELS]
        self.kernels = sorted(kernels, key=lambda e: e["ts"])
        self.calls = by_depth(e for e in seen if e["cat"] != "library")
        self.arrows = events
        self.phases = list(dict.fromkeys(e["name"] for e in self.kernels))
        self.high = LANE if self.calls else 20
        self.lane = self.high + (28 if self.phases else 0)
        self.out = []

    def x(self, ts):
        share = (ts - self.begin) / (self.end - self.begin)
        return LEFT + min(max(share, 0), 1) * (WIDTH - LEFT - 12)

    def y(self, pe):
        return TOP + self.lane * self.rows.index(pe)

    def text(self, x, y, text, rest='fill="#222"'):
        self.out.append('<text x="%d" y="%d" %s>%s</text>' % (x, y, rest, text))

    def box(self, event, y, height, colour):
        left, right = self.x(event["ts"]), self.x(event["ts"] + event["dur"])
        self.out.append(
            '<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"><title>%s, %.1f us</title></rect>'
            % (left, y, max(right - left, 0.8), height, colour, event["name"], event["dur"])
        )
        return left, right

    def draw_rows(self):
        for pe in self.rows:
            at = self.y(pe)
            self.text(8, at + (20 if self.calls else 24), "PE %d" % pe)
            self.text(8, at + (34 if self.calls else 38), "host %d" % self.hosts[pe], 'fill="#777" font-size="10"')
            line = at + (16 if self.calls else 26)
            self.out.append('<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="#ddd"/>' % (LEFT, WIDTH - 12, line, line))
        for event, depth in self.calls:
            down = 8 * min(depth, 2)
            self.box(event, self.y(event["pid"]) + 4 + down, 24 - down, COLOURS[event["cat"]])
        for event in self.kernels:
            colour = PHASES[self.phases.index(event["name"]) % len(PHASES)]
            y = self.y(event["pid"]) + (38 if self.calls else 16)
            self.box(event, y, 20, colour)

    def draw_arrows(self):
        begins = {e["id"]: e for e in self.arrows if e["ph"] == "s"}
        for event in self.arrows:
            if event["ph"] != "f" or not self.begin <= event["ts"] <= self.end:
                continue
            sent = begins[event["id"]]
            down = self.rows.index(sent["pid"]) < self.rows.index(event["pid"])
            ends = (self.y(sent["pid"]) + (28 if down else 4), self.x(event["ts"]), self.y(event["pid"]) + (4 if down else 28))
            self.out.append(
                '<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#b3261e" stroke-width="0.9" marker-end="url(#tip)"/>'
                % (self.x(sent["ts"]), *ends)
            )

    def draw_words(self, words, y):
        """Draw what the colours mean, in as many lines as that takes, and return the y of the next line."""
        at = LEFT
        for word, colour in words:
            if at + 20 + 7 * len(word) > WIDTH - 12:
                at, y = LEFT, y + 20
            self.out.append('<rect x="%d" y="%d" width="14" height="12" fill="%s"/>' % (at, y - 10, colour))
            self.text(at + 20, y, word)
            at += 40 + 7 * len(word)
        return y + 20 if words else y

    def clocks(self):
        errors = [pe["clock_error_ns"] / 1000 for pe in self.pes]
        if self.kernels:
            errors += [float(name.split()[3]) for name in self.gpu.values()]
        return "%.2f ms; clocks to %.1f us" % ((self.end - self.begin) / 1000, max(errors))

    def draw(self):
        self.draw_rows()
        self.draw_arrows()
        y = TOP + self.lane * len(self.rows) + 22
        self.text(WIDTH - 12, y, self.clocks(), 'fill="#777" text-anchor="end"')
        y += 0 if self.calls else 20
        kinds = {event["cat"] for event, _ in self.calls}
        y = self.draw_words([(word, COLOURS[kind]) for kind, word in WORDS.items() if kind in kinds], y)
        y = self.draw_words([(word, PHASES[i % len(PHASES)]) for i, word in enumerate(self.phases)], y)
        head = [
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (WIDTH, y),
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0 8 4 0 8z" fill="#b3261e"/></marker></defs>',
            '<rect width="%d" height="%d" fill="#ffffff"/>' % (WIDTH, y),
        ]
        return "\n".join(head + self.out + ["</svg>"])


def main():
    args = parse()
    with open(args.file, encoding="utf-8") as file:
        print(Picture(json.load(file), args).draw())


if __name__ == "__main__":
    sys.exit(main())
