# SPDX-License-Identifier: BSD-3-Clause
"""check.py FILE [--pes N] [--flows N] [--late PE] [--clock-us N] [--cut]: judges the file of a trace.

Slices of one thread nest or lie apart; each arrow begins in the call that sent a signal and ends in a wait for it, later
by no less than the clocks allow; the error of the clocks is known, and small; with --late the PE that others wait for is
the one named. Prints what it found, and exits with 1 where something is wrong. With --cut the job has failed."""

import argparse
import collections
import json
import statistics
import sys


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--pes", type=int, default=4)
    parser.add_argument("--flows", type=int, default=0)
    parser.add_argument("--late", type=int)
    parser.add_argument("--clock-us", type=float, default=1000)
    parser.add_argument("--cut", action="store_true")
    return parser.parse_args()


def nested(slices):
    """Return the first two slices of a thread that cross, or None."""
    open_until = []
    for event in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        end = round(event["ts"] * 1000) + round(event["dur"] * 1000)
        while open_until and open_until[-1][0] <= round(event["ts"] * 1000):
            open_until.pop()
        if open_until and end > open_until[-1][0]:
            return open_until[-1][1], event
        open_until.append((end, event))
    return None


def holding(slices, ts):
    """Return the slice that holds a time, its end included."""
    for event in slices:
        if event["ts"] - 0.0005 <= ts <= event["ts"] + event["dur"] + 0.0005:
            yield event


def waited_for(flows, ends):
    """Return, for each PE, for how long others waited in the median until its signal came."""
    waits = collections.defaultdict(list)
    for i, begin in flows.items():
        waits[begin["pid"]].append(ends[i][0]["ts"] - ends[i][1]["ts"])
    return collections.Counter({pe: statistics.median(times) for pe, times in waits.items()})


def judge(trace, args):
    wrong = []
    events = trace["traceEvents"]
    slices = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].append(event)
    names = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    if sorted(names) != list(range(args.pes)):
        wrong.append("PEs: %s" % names)
    if not all(name.startswith("PE %d (" % pe) for pe, name in names.items()):
        wrong.append("names of PEs: %s" % names)
    for thread, of_thread in slices.items():
        crossed = nested(of_thread)
        if crossed:
            wrong.append("slices of %s cross: %s %s" % (thread, *crossed))
    pes = trace["otherData"]["pe"]
    errors = [pe["clock_error_ns"] for pe in pes]
    if any(error < 0 for error in errors) and not args.cut:
        wrong.append("clock errors: %s" % errors)
    if max(errors) > args.clock_us * 1000:
        wrong.append("clocks: %s ns" % errors)
    slack = 2 * max(0, *errors) / 1000 + 1  # us: readings of clocks within one host
    flows, ends = {}, {}
    for event in events:
        if event["ph"] == "s":
            flows[event["id"]] = event
            if not any(
                "signal" in e["name"] and e["cat"] == "put"
                for e in holding(slices[event["pid"], event["tid"]], event["ts"])
            ):
                wrong.append("an arrow begins in no call that sends a signal: %s" % event)
        if event["ph"] == "f":
            waits = [
                e
                for e in holding(slices[event["pid"], event["tid"]], event["ts"])
                if e["cat"] == "wait"
            ]
            ends[event["id"]] = (event, waits[0] if waits else None)
            if not waits:
                wrong.append("an arrow ends in no wait: %s" % event)
    if sorted(flows) != sorted(ends):
        wrong.append("arrows without begin or end")
    if len(flows) < args.flows:
        wrong.append("%d arrows, wanted %d" % (len(flows), args.flows))
    late = [i for i in flows if i in ends and ends[i][0]["ts"] + slack < flows[i]["ts"]]
    if late:
        wrong.append("%d arrows end before they begin, by more than %f us" % (len(late), slack))
    if args.late is not None and not wrong:
        waited = waited_for(flows, ends)
        if waited.most_common(1)[0][0] != args.late:
            wrong.append("others wait for %s, not for PE %d" % (waited.most_common(), args.late))
    if not any(e["ph"] == "C" for e in events) and any(
        e.get("args", {}).get("path") == "network" for e in events
    ):
        wrong.append("no counter of bytes under way")
    print(
        "%d slices, %d arrows, clocks to %s ns, %d dropped"
        % (sum(map(len, slices.values())), len(flows), max(errors), sum(pe["dropped"] for pe in pes))
    )
    return wrong


def main():
    args = parse()
    with open(args.file, encoding="utf-8") as file:
        wrong = judge(json.load(file), args)
    for text in wrong[:10]:
        print("wrong: " + text)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
